// Package code shows monospaced text: source code, the output of programs, commands.
//
// A [View] draws its lines into one picture, and only the visible ones, because a Fyne label lays
// out the whole text: 50,000 lines would take seconds. A [Panel] scrolls a view.
package code

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/selection"
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
	selection.Mouse
	text    *selection.Text
	rows    *rows
	picture *picture
	wraps   bool

	reveal func(at fyne.Position)   // scrolls a position into view; may be nil
	drag   func(by fyne.Delta) bool // scrolls, and reports whether it could; may be nil
}

// NewView creates one with lines, which must not change afterwards.
func NewView(lines []Line) *View {
	c := &View{rows: &rows{}}
	c.text, c.Mouse = selection.NewText(c, c.rows.texts), selection.NewMouse(c)
	c.picture = newPicture(c.text, c.rows)
	c.ExtendBaseWidget(c)
	c.SetLines(lines)
	return c
}

// SetLines shows other lines. It retains them; the caller must not change them afterwards.
func (c *View) SetLines(lines []Line) {
	c.rows.set(lines)
	c.text.Changed()
}

// SetView sets the visible part.
func (c *View) SetView(at fyne.Position, size fyne.Size) {
	if c.picture.setView(at, size) {
		c.Refresh()
	}
}

// VisibleArea returns the visible part.
func (c *View) VisibleArea() (fyne.Position, fyne.Size) {
	if c.picture.viewed {
		return c.picture.view, c.picture.shown
	}
	return fyne.Position{}, c.Size()
}

// Reveal scrolls a text position into view.
func (c *View) Reveal(at fyne.Position) { widgets.CallWith(c.reveal, at) }

// DragBy scrolls the panel while text is selected, and reports whether it could.
func (c *View) DragBy(by fyne.Delta) bool { return c.drag != nil && c.drag(by) }

// Selectable implements [selection.Passage].
func (c *View) Selectable() *selection.Text { return c.text }

// AccessibilityLabel implements fyne.Accessible.
func (c *View) AccessibilityLabel() string { return c.text.AccessibleText() }

// AccessibilityRole implements fyne.Accessible.
func (c *View) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// Index implements [selection.Passage].
func (c *View) Index(at fyne.Position) int { return c.rows.index(at) }

// PositionOf implements [selection.Passage].
func (c *View) PositionOf(at int) fyne.Position { return c.rows.positionOf(at) }

// Slice implements [selection.Passage].
func (c *View) Slice(from, to int) string { return c.text.Slice(from, to) }

// WrapTo wraps the lines at a width if the panel wraps.
func (c *View) WrapTo(width float32) {
	if c.wraps && c.rows.wrap(max(int((width+0.5)/Cell().Width), 1)) {
		c.Refresh()
	}
}

// setWrap wraps long lines, or not. It reports whether that changed.
func (c *View) setWrap(on bool) bool {
	if c.wraps == on {
		return false
	}
	c.wraps = on
	if !on && c.rows.wrap(0) {
		c.Refresh()
	}
	return true
}

// CreateRenderer implements fyne.Widget.
func (c *View) CreateRenderer() fyne.WidgetRenderer { return c.picture.renderer(c.Size) }
