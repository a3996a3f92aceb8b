package code

import (
	"sort"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/selection"
)

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

// texts yields the texts of the lines.
func (c *View) texts(yield func(string) bool) {
	for _, l := range c.source {
		if !yield(l.Text()) {
			return
		}
	}
}

// offset returns the text index of a displayed line's first rune.
func (c *View) offset(line int) int { return c.offsets[min(line, len(c.offsets)-1)] }

// Runes implements [selection.Passage].
func (c *View) Runes() int { return max(c.offset(len(c.lines))-1, 0) }

// Index implements [selection.Passage].
func (c *View) Index(at fyne.Position) int {
	cell := Cell()
	line := int(at.Y / cell.Height)
	switch {
	case at.Y < 0:
		return 0
	case line >= len(c.lines):
		return c.Runes()
	}
	text := []rune(c.lines[line].Text())
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

// Select implements [selection.Passage].
func (c *View) Select(from, to int) {
	if c.Highlights.Select(from, to) {
		c.Refresh()
	}
}

// Slice implements [selection.Passage].
func (c *View) Slice(from, to int) string {
	var b strings.Builder
	for i, l := range c.source {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.Text())
	}
	text := []rune(b.String())
	return string(text[min(from, len(text)):min(to, len(text))])
}

// Word implements [selection.Passage]: it returns the word, or the line.
func (c *View) Word(at int, whole bool) (from, to int) { return selection.WordAt(c.texts, at, whole) }

// Find implements [selection.Passage].
func (c *View) Find(query string) int {
	if c.Highlights.Find(query, c.texts) {
		c.Refresh()
	}
	return len(c.Highlights.Hits)
}

// ShowHit implements [selection.Passage].
func (c *View) ShowHit(hit int) fyne.Position {
	changed, at, ok := c.Highlights.ShowHit(hit)
	if changed {
		c.Refresh()
	}
	if !ok {
		return fyne.Position{}
	}
	line, cell := sort.SearchInts(c.offsets, at+1)-1, Cell()
	before := []rune(c.lines[line].Text())[:at-c.offsets[line]]
	return fyne.NewPos(cell.Width*float32(columns(string(before))), cell.Height*float32(line))
}

// Reveal scrolls a text position into view.
func (c *View) Reveal(at fyne.Position) {
	if c.reveal != nil {
		c.reveal(at)
	}
}

// DragBy scrolls the panel while text is selected, and reports whether it could.
func (c *View) DragBy(by fyne.Delta) bool { return c.drag != nil && c.drag(by) }

// VisibleArea returns the visible part.
func (c *View) VisibleArea() (fyne.Position, fyne.Size) {
	if c.viewed {
		return c.view, c.shown
	}
	return fyne.Position{}, c.Size()
}

// PlainText returns the whole text.
func (c *View) PlainText() string { return c.Slice(0, c.Runes()) }

// Separator implements [selection.Passage].
func (c *View) Separator() string { return "\n\n" }

// MouseDown implements desktop.Mouseable.
func (c *View) MouseDown(e *desktop.MouseEvent) {
	if selection.IsPrimary(e) && c.OnPress != nil {
		at := c.Index(e.Position)
		c.OnPress(at, c.clicks.Count(at, time.Now()))
	}
}

// MouseUp implements desktop.Mouseable.
func (c *View) MouseUp(*desktop.MouseEvent) {}

// TappedSecondary implements fyne.SecondaryTappable.
func (c *View) TappedSecondary(e *fyne.PointEvent) {
	if c.OnMenu != nil {
		c.OnMenu(e.AbsolutePosition)
	}
}

// Cursor implements desktop.Cursorable.
func (c *View) Cursor() desktop.Cursor {
	if c.OnPress != nil {
		return desktop.TextCursor
	}
	return desktop.DefaultCursor
}
