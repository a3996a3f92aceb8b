// Package code shows monospaced text: source code, the output of programs, commands.
//
// A [View] draws its lines into one picture, and only the visible ones, because a Fyne label lays
// out the whole text: 50,000 lines would take seconds. A [Panel] scrolls a view.
package code

import (
	"sort"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Span is a section of code in one style, without line breaks.
type Span struct {
	Text  string
	Color fyne.ThemeColorName // empty is the colour of text
	// Background tints what is behind the text; empty means none.
	Background fyne.ThemeColorName

	Bold, Italic, Underline, Strike bool
}

// Line is one line of code. Background is that of the whole line; empty means none. Gutter is shown
// before the line, such as its number; it is not part of the text.
type Line struct {
	Spans      []Span
	Background fyne.ThemeColorName
	Gutter     string
}

// PlainText is text without control sequences and tabs. Unlike [CleanOutput] it moves no cursor, so
// that no text can hide another.
func PlainText(s string) string {
	if !needsTerminal(s) {
		return s
	}
	return JoinLines(runTerminal(strings.ReplaceAll(s, "\r\n", "\n"), false))
}

// PlainLines splits text into lines of one colour, see [PlainText].
func PlainLines(text string) []Line {
	text = strings.TrimSuffix(PlainText(text), "\n")
	if text == "" {
		return nil
	}
	split := strings.Split(text, "\n")
	lines := make([]Line, len(split))
	for i, l := range split {
		lines[i] = Line{Spans: []Span{{Text: l}}}
	}
	return lines
}

// Text returns the line without its colours.
func (l Line) Text() string {
	if len(l.Spans) == 1 {
		return l.Spans[0].Text
	}
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// View draws monospaced lines into one picture. It wraps them only if its panel does. It draws only
// the visible part, or everything before the first call of [View.SetView]; inside a
// [widgets.Scroller] that call is automatic.
type View struct {
	widget.BaseWidget
	selection.Text
	source         []Line // unwrapped lines
	lines          []Line // displayed lines: a wrapped line becomes several
	offsets        []int  // text index of the first rune of each displayed line, and the index after the last
	wraps          bool
	wrapColumns    int           // columns per row; 0 does not wrap
	columns        int           // of the longest line
	gutter         int           // columns before the text
	hasBackgrounds bool          // some lines have a background
	view           fyne.Position // the visible part
	shown          fyne.Size
	viewed         bool

	reveal func(at fyne.Position)   // scrolls a position into view; may be nil
	drag   func(by fyne.Delta) bool // scrolls, and reports whether it could; may be nil
}

// NewView creates one with lines, which must not change afterwards.
func NewView(lines []Line) *View {
	c := &View{}
	c.Text = selection.NewText(c, c.texts)
	c.ExtendBaseWidget(c)
	c.SetLines(lines)
	return c
}

// SetLines shows other lines. It retains them; the caller must not change them afterwards.
func (c *View) SetLines(lines []Line) {
	c.source = lines
	c.layOut()
	c.Changed()
}

// SetView sets the visible part.
func (c *View) SetView(at fyne.Position, size fyne.Size) {
	if !c.viewed || c.view != at || c.shown != size {
		c.view, c.shown, c.viewed = at, size, true
		c.Refresh()
	}
}

// VisibleArea returns the visible part.
func (c *View) VisibleArea() (fyne.Position, fyne.Size) {
	if c.viewed {
		return c.view, c.shown
	}
	return fyne.Position{}, c.Size()
}

// Reveal scrolls a text position into view.
func (c *View) Reveal(at fyne.Position) { widgets.CallWith(c.reveal, at) }

// DragBy scrolls the panel while text is selected, and reports whether it could.
func (c *View) DragBy(by fyne.Delta) bool { return c.drag != nil && c.drag(by) }

// texts yields the texts of the lines.
func (c *View) texts(yield func(string) bool) {
	for _, l := range c.source {
		if !yield(l.Text()) {
			return
		}
	}
}

// Index implements [selection.Passage].
func (c *View) Index(at fyne.Position) int {
	cell := Cell()
	at.X -= c.gutterWidth()
	line := int(at.Y / cell.Height)
	switch {
	case at.Y < 0:
		return 0
	case line >= len(c.lines):
		return c.Runes()
	}
	n, x := 0, float32(0)
	for _, r := range c.lines[line].Text() {
		w := cell.Width * float32(columns(string(r)))
		if x+w/2 > at.X {
			break
		}
		x += w
		n++
	}
	return c.offsets[line] + n
}

// PositionOf implements [selection.Passage].
func (c *View) PositionOf(at int) fyne.Position {
	line, cell := sort.SearchInts(c.offsets, at+1)-1, Cell()
	before := []rune(c.lines[line].Text())[:at-c.offsets[line]]
	return fyne.NewPos(c.gutterWidth()+cell.Width*float32(columns(string(before))), cell.Height*float32(line))
}

func (c *View) gutterWidth() float32 { return float32(c.gutter) * Cell().Width }

// columns returns the width of text in columns; wide East Asian characters and emoji count twice.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
			r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000) {
			n++
		}
	}
	return n
}

// Cell returns the size of one monospaced letter, with the line height.
func Cell() fyne.Size {
	s := widgets.MeasureText("MMMMMMMMMM", style.Size(style.SizeCode), fyne.TextStyle{Monospace: true})
	return fyne.NewSize(s.Width/10, float32(int(style.Size(style.SizeCode)*1.45+0.5)))
}

// layOut wraps the lines into rows, and records the text index of each row.
func (c *View) layOut() {
	c.columns, c.gutter, c.hasBackgrounds = 0, 0, false
	for _, l := range c.source {
		if l.Gutter != "" {
			c.gutter = max(c.gutter, columns(l.Gutter)+1)
		}
	}
	c.lines, c.offsets = c.source, make([]int, 0, len(c.source)+1)
	if c.wrapColumns > 0 {
		c.lines = make([]Line, 0, len(c.source))
	}
	off, rows := 0, make([]Line, 1)
	for _, l := range c.source {
		c.hasBackgrounds = c.hasBackgrounds || l.Background != ""
		rows = append(rows[:0], l)
		if c.wrapColumns > 0 {
			rows = l.wrap(max(c.wrapColumns-c.gutter, 1))
			c.lines = append(c.lines, rows...)
		}
		for _, row := range rows {
			c.offsets = append(c.offsets, off)
			n := 0
			for _, s := range row.Spans {
				n += columns(s.Text)
				off += utf8.RuneCountInString(s.Text)
			}
			c.columns = max(c.columns, n)
		}
		off++ // the end of the line
	}
	c.offsets = append(c.offsets, off)
}

// WrapTo wraps the lines at a width if the panel wraps.
func (c *View) WrapTo(width float32) {
	if !c.wraps {
		return
	}
	if room := max(int((width+0.5)/Cell().Width), 1); room != c.wrapColumns {
		c.wrapColumns = room
		c.layOut()
		c.Refresh()
	}
}

func (c *View) unwrap() {
	c.wrapColumns = 0
	c.layOut()
	c.Refresh()
}

// wrap splits a line into rows of at most room columns. Joined, the rows are the line.
func (l Line) wrap(room int) []Line {
	ends := rowEnds([]rune(l.Text()), room)
	if len(ends) == 1 {
		return []Line{l}
	}
	rows := make([]Line, 0, len(ends))
	row, at := Line{Background: l.Background, Gutter: l.Gutter}, 0
	for _, s := range l.Spans {
		for text := []rune(s.Text); len(text) > 0; {
			n := min(len(text), ends[len(rows)]-at)
			part := s
			part.Text = string(text[:n])
			row.Spans = append(row.Spans, part)
			text, at = text[n:], at+n
			if at == ends[len(rows)] {
				rows = append(rows, row)
				row = Line{Background: l.Background}
			}
		}
	}
	return rows
}

// rowEnds returns the ends of the rows of a line, including the line's end: after a blank, or
// within a word that would otherwise leave half of the row empty.
func rowEnds(text []rune, room int) (ends []int) {
	from, blank, wide := 0, 0, 0
	for i, r := range text {
		w := columns(string(r))
		if wide+w > room && i > from {
			end := i
			if blank-from > room/2 {
				end = blank
			}
			ends = append(ends, end)
			from, blank, wide = end, end, columns(string(text[end:i]))
		}
		wide += w
		if r == ' ' {
			blank = i + 1
		}
	}
	return append(ends, len(text))
}
