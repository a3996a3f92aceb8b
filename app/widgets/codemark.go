package widgets

import (
	"sort"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

func (l CodeLine) text() string {
	if len(l.Spans) == 1 {
		return l.Spans[0].Text
	}
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// texts yields the texts of the lines.
func (c *Code) texts(yield func(string) bool) {
	for _, l := range c.source {
		if !yield(l.text()) {
			return
		}
	}
}

// offset returns the text index of a displayed line's first rune.
func (c *Code) offset(line int) int { return c.offs[min(line, len(c.offs)-1)] }

// Runes implements [Passage].
func (c *Code) Runes() int { return max(c.offset(len(c.lines))-1, 0) }

// Index implements [Passage].
func (c *Code) Index(at fyne.Position) int {
	cell := codeCell()
	line := int(at.Y / cell.Height)
	switch {
	case at.Y < 0:
		return 0
	case line >= len(c.lines):
		return c.Runes()
	}
	text := []rune(c.lines[line].text())
	n, x := 0, float32(0)
	for n < len(text) {
		w := cell.Width * float32(columns(string(text[n])))
		if x+w/2 > at.X {
			break
		}
		x += w
		n++
	}
	return c.offset(line) + n
}

// Select implements [Passage].
func (c *Code) Select(from, to int) {
	if c.marks.mark(from, to) {
		c.Refresh()
	}
}

// Slice implements [Passage].
func (c *Code) Slice(from, to int) string {
	var b strings.Builder
	for i, l := range c.source {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.text())
	}
	text := []rune(b.String())
	return string(text[min(from, len(text)):min(to, len(text))])
}

// Word implements [Passage]: it returns the word, or the line.
func (c *Code) Word(at int, whole bool) (from, to int) { return wordIn(c.texts, at, whole) }

// Find implements [Passage].
func (c *Code) Find(query string) int {
	if c.marks.ask(query, c.texts) {
		c.Refresh()
	}
	return len(c.marks.hits)
}

// Current implements [Passage].
func (c *Code) Current(hit int) fyne.Position {
	changed, at, ok := c.marks.show(hit)
	if changed {
		c.Refresh()
	}
	if !ok {
		return fyne.Position{}
	}
	line, cell := sort.SearchInts(c.offs, at+1)-1, codeCell()
	before := []rune(c.lines[line].text())[:at-c.offs[line]]
	return fyne.NewPos(cell.Width*float32(columns(string(before))), cell.Height*float32(line))
}

// Reveal scrolls a text position into view.
func (c *Code) Reveal(at fyne.Position) {
	if c.reveal != nil {
		c.reveal(at)
	}
}

// DragBy scrolls the panel while text is selected, and reports whether it could.
func (c *Code) DragBy(by fyne.Delta) bool { return c.drag != nil && c.drag(by) }

// VisibleArea returns the visible part.
func (c *Code) VisibleArea() (fyne.Position, fyne.Size) {
	if c.viewed {
		return c.view, c.shown
	}
	return fyne.Position{}, c.Size()
}

// Words returns the whole text.
func (c *Code) Words() string { return c.Slice(0, c.Runes()) }

// Lead implements [Passage].
func (c *Code) Lead() string { return "\n\n" }

// MouseDown implements desktop.Mouseable.
func (c *Code) MouseDown(e *desktop.MouseEvent) {
	if primary(e) && c.OnPress != nil {
		at := c.Index(e.Position)
		c.OnPress(at, c.presses.count(at, time.Now()))
	}
}

// MouseUp implements desktop.Mouseable.
func (c *Code) MouseUp(*desktop.MouseEvent) {}

// TappedSecondary implements fyne.SecondaryTappable.
func (c *Code) TappedSecondary(e *fyne.PointEvent) {
	if c.OnMenu != nil {
		c.OnMenu(e.AbsolutePosition)
	}
}

// Cursor implements desktop.Cursorable.
func (c *Code) Cursor() desktop.Cursor {
	if c.OnPress != nil {
		return desktop.TextCursor
	}
	return desktop.DefaultCursor
}
