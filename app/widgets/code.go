package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Span is a run of code in one colour. It holds no line break.
type Span struct {
	Text  string
	Color fyne.ThemeColorName // empty is the colour of text
}

// CodeLine is one line of code. Ground colours the whole line; empty is none.
type CodeLine struct {
	Spans  []Span
	Ground fyne.ThemeColorName
}

// PlainLines makes lines of one colour out of text: tabs become spaces, what a terminal would obey is taken out.
func PlainLines(text string) []CodeLine {
	text = strings.TrimSuffix(cleanOutput(text), "\n")
	if text == "" {
		return nil
	}
	split := strings.Split(text, "\n")
	lines := make([]CodeLine, len(split))
	for i, l := range split {
		lines[i] = CodeLine{Spans: []Span{{Text: l}}}
	}
	return lines
}

// Code draws monospaced lines in one picture, without wrapping them unless its panel does. It draws only what is in its view, all of them unless [Code.SetView] was
// called; inside a [Pan] that happens by itself.
type Code struct {
	widget.BaseWidget
	source  []CodeLine // as given
	lines   []CodeLine // as drawn: a line that wraps is several
	offs    []int      // place of each drawn line's first rune, and of what would follow the last
	wraps   bool
	room    int // columns of a row; 0 does not wrap
	columns int
	grounds bool          // lines have grounds
	view    fyne.Position // what of it is on the screen
	shown   fyne.Size
	viewed  bool

	// OnPress and OnMenu are as those of [Prose].
	OnPress func(at, times int)
	OnMenu  func(at fyne.Position)

	marks
	presses presses
	reveal  func(at fyne.Position)   // brings a place into the view; nil without one
	drag    func(by fyne.Delta) bool // moves the view, and reports whether it could; nil without one
}

var (
	_ Passage                = (*Code)(nil)
	_ desktop.Mouseable      = (*Code)(nil)
	_ desktop.Cursorable     = (*Code)(nil)
	_ fyne.SecondaryTappable = (*Code)(nil)
)

// NewCode makes an empty one.
func NewCode(lines []CodeLine) *Code {
	c := &Code{marks: marks{current: -1}}
	c.ExtendBaseWidget(c)
	c.SetLines(lines)
	return c
}

// SetLines shows other lines. It keeps them; the caller must not change them any more.
func (c *Code) SetLines(lines []CodeLine) {
	c.source = lines
	c.from, c.to = 0, 0
	c.lay()
	c.look(c.texts)
	c.Refresh()
}

// Lines is how many lines there are, however many rows they take.
func (c *Code) Lines() int { return len(c.source) }

// SetView says which part is on the screen.
func (c *Code) SetView(at fyne.Position, size fyne.Size) {
	if c.viewed && c.view == at && c.shown == size {
		return
	}
	c.view, c.shown, c.viewed = at, size, true
	c.Refresh()
}

// columns is the width of text in letters of a monospaced font, those of East Asia and pictures counted twice.
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

func codeCell() fyne.Size {
	s := measure("MMMMMMMMMM", style.Size(style.SizeCode), fyne.TextStyle{Monospace: true})
	return fyne.NewSize(s.Width/10, float32(int(style.Size(style.SizeCode)*1.45+0.5)))
}
