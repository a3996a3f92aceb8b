package code

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Span is a section of code in one colour, without line breaks.
type Span struct {
	Text  string
	Color fyne.ThemeColorName // empty is the colour of text
}

// Line is one line of code. Background is that of the whole line; empty means none.
type Line struct {
	Spans      []Span
	Background fyne.ThemeColorName
}

// PlainLines splits text into lines of one colour; it expands tabs and removes terminal control
// sequences.
func PlainLines(text string) []Line {
	text = strings.TrimSuffix(CleanOutput(text), "\n")
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

// View draws monospaced lines into one picture. It wraps them only if its panel does. It draws only
// the visible part, or everything before the first call of [View.SetView]; inside a
// [widgets.Scroller] that call is automatic.
type View struct {
	widget.BaseWidget
	source []Line // unwrapped lines
	lines  []Line // displayed lines: a wrapped line becomes several
	// text index of the first rune of each displayed line, and the index after the last
	offsets        []int
	wraps          bool
	wrapColumns    int // columns per row; 0 does not wrap
	columns        int
	hasBackgrounds bool          // some lines have a background
	view           fyne.Position // the visible part
	shown          fyne.Size
	viewed         bool

	// OnPress and OnMenu are like those of [markdown.RichText].
	OnPress func(at, times int)
	OnMenu  func(at fyne.Position)

	Highlights selection.Highlights
	clicks     selection.ClickCounter
	reveal     func(at fyne.Position)   // scrolls a position into view; may be nil
	drag       func(by fyne.Delta) bool // scrolls, and reports whether it could; may be nil
}

var (
	_ selection.Passage      = (*View)(nil)
	_ desktop.Mouseable      = (*View)(nil)
	_ desktop.Cursorable     = (*View)(nil)
	_ fyne.SecondaryTappable = (*View)(nil)
)

// NewView creates an empty one.
func NewView(lines []Line) *View {
	c := &View{Highlights: selection.Highlights{Current: -1}}
	c.ExtendBaseWidget(c)
	c.SetLines(lines)
	return c
}

// SetLines shows other lines. It retains them; the caller must not change them afterwards.
func (c *View) SetLines(lines []Line) {
	c.source = lines
	c.Highlights.From, c.Highlights.To = 0, 0
	c.layOut()
	c.Highlights.Update(c.texts)
	c.Refresh()
}

// Lines returns the number of lines before wrapping.
func (c *View) Lines() int { return len(c.source) }

// SetView sets the visible part.
func (c *View) SetView(at fyne.Position, size fyne.Size) {
	if c.viewed && c.view == at && c.shown == size {
		return
	}
	c.view, c.shown, c.viewed = at, size, true
	c.Refresh()
}

// columns returns the width of text in monospaced columns; wide East Asian characters and emoji
// count twice.
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
