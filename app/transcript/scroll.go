package transcript

import (
	"cmp"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// ScrollToEnd scrolls to the end and follows it.
func (t *View) ScrollToEnd() {
	t.rows.follow = true
	t.place()
}

// Top returns the item at the top of the view, and its height above the view; or an empty key.
func (t *View) Top() (key string, into float32) {
	if t.rows.anchor >= len(t.rows.items) {
		return "", 0
	}
	return t.rows.items[t.rows.anchor].Key, t.rows.topOffset
}

// ScrollTo scrolls an item to the top of the view, with a part of it above. It reports whether the
// item exists.
func (t *View) ScrollTo(key string, into float32) bool {
	i := t.rows.index(key)
	if i >= 0 {
		t.moveTo(i, into)
	}
	return i >= 0
}

// RevealRow scrolls down until the whole row of an item is in view, or its top is at the top of the
// view.
func (t *View) RevealRow(key string) {
	a := t.rows.visible[key]
	if a == nil {
		return
	}
	if hidden := a.y + a.h - t.Size().Height; hidden > 0 && a.y > 0 {
		t.scrollBy(min(hidden, a.y))
	}
}

// Highlight highlights the item with that key, until another one or none is highlighted.
func (t *View) Highlight(key string) {
	if t.highlight.key != key {
		t.highlight.key, t.rows.changed = key, true
		t.place()
	}
}

// highlight is a frame around a row.
type highlight struct {
	rect *widgets.Rect
	key  string // of the row's item
}

func (h *highlight) place(rows *viewport) {
	a := rows.visible[h.key]
	widgets.SetVisible(h.rect, a != nil)
	if a != nil {
		h.rect.Move(a.row.Position().SubtractXY(style.Inside, 0))
		h.rect.Resize(fyne.NewSize(a.row.Size().Width+2*style.Inside, a.h+style.Gap))
	}
}

// moveTo scrolls to a row, with a part of it above the view.
func (t *View) moveTo(row int, into float32) {
	t.rows.follow, t.rows.anchor, t.rows.topOffset = false, row, into
	t.place()
	if t.rows.endInView() { // the reader has scrolled to the end
		t.rows.follow = true
	}
	t.toEnd.show(t.rows, t.Size())
	if t.OnTop != nil && len(t.rows.items) > 0 && t.rows.anchor < 5 && t.topReported != t.rows.items[0].Key {
		t.topReported = t.rows.items[0].Key
		t.OnTop()
	}
}

// Scrolled implements fyne.Scrollable.
func (t *View) Scrolled(e *fyne.ScrollEvent) { t.scrollBy(-e.Scrolled.DY) }

func (t *View) scrollBy(dy float32) {
	if dy != 0 && len(t.rows.items) > 0 {
		t.moveTo(t.rows.anchor, t.rows.topOffset+dy)
	}
}

// Overflow reports whether rows extend above and below the view, which does not clip them.
func (t *View) Overflow() (above, below bool) {
	if len(t.rows.order) == 0 {
		return false, false
	}
	last := t.rows.order[len(t.rows.order)-1]
	return t.rows.topOffset > 0, last.y+last.h > t.rows.height || t.highlight.rect.Visible()
}

// place places the rows. It requests a frame only if that changes what is in view: the toolkit would
// draw the whole window again.
func (t *View) place() {
	size := t.Size()
	if size.Width <= 0 || size.Height <= 0 || t.placing {
		return
	}
	t.placing = true
	defer func() { t.placing = false }()
	width := min(size.Width, cmp.Or(t.Width, size.Width))
	t.rows.place(float32(int((size.Width-width)/2)), width, size.Height)
	t.highlight.place(t.rows)
	t.Search.repaint()
	t.Selection.repaint()
	t.bar.Set(t.rows.above, size.Height, t.rows.total)
	t.bar.Move(fyne.NewPos(size.Width-widgets.ScrollBarWidth, 0))
	t.bar.Resize(fyne.NewSize(widgets.ScrollBarWidth, size.Height))
	t.ring.Resize(size)
	t.toEnd.show(t.rows, size)
	widgets.Call(t.OnPlaced)
	if t.rows.changed {
		t.rows.changed = false
		canvas.Refresh(t.bar) // requests a frame without redrawing anything (like Fyne's scroller)
	}
}

// focusArea is the widget in which rows are, and which can have the focus instead of them.
type focusArea interface {
	fyne.CanvasObject
	fyne.Focusable
}

// dropFocus removes the focus from a row that leaves the screen: Enter must not press its buttons.
func dropFocus(t focusArea, a *visibleRow) {
	c := fyne.CurrentApp().Driver().CanvasForObject(t)
	if c == nil {
		return
	}
	f, ok := c.Focused().(fyne.CanvasObject)
	if !ok || c.Focused() == fyne.Focusable(t) {
		return
	}
	d := fyne.CurrentApp().Driver()
	at := d.AbsolutePositionForObject(f).Subtract(d.AbsolutePositionForObject(t))
	row, size := a.row.Position(), t.Size()
	// below the transcript, in the invisible part of a tall row
	if at.X < 0 || at.Y < 0 || at.X >= size.Width || at.Y >= size.Height {
		return
	}
	if at.X >= row.X && at.X < row.X+a.row.Size().Width && at.Y >= row.Y && at.Y < row.Y+a.row.Size().Height {
		c.Focus(t)
	}
}
