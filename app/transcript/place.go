package transcript

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// place positions the visible rows. The row at the top is fixed: changed heights above it move
// nothing.
func (t *View) place() {
	size := t.Size()
	if size.Width <= 0 || size.Height <= 0 || t.placing {
		return
	}
	t.placing = true
	defer func() { t.placing = false }()
	width := size.Width
	if t.Width > 0 {
		width = min(width, t.Width)
	}
	x := float32(int((size.Width - width) / 2))

	before := t.order
	t.order = make([]*visibleRow, 0, len(before)+2)
	used := make(map[string]*visibleRow, len(before)+2)
	show := func(i int) *visibleRow {
		it := t.items[i]
		a := used[it.Key]
		if a == nil {
			if a = t.visible[it.Key]; a != nil && a.item.Kind != it.Kind {
				a = nil
			}
			if a == nil {
				a = t.bindRow(it)
			} else if a.item.Stamp != it.Stamp {
				a.item = it
				a.row.Bind(it)
			}
			used[it.Key] = a
			a.item, a.index = it, i
			a.h = widgets.Fit(a.row, width)
			t.knownHeights[it.Key] = a.h
			t.sizes.set(i, a.h)
		}
		return a
	}

	n := len(t.items)
	if n > 0 {
		t.anchor = min(max(t.anchor, 0), n-1)
		if t.follow {
			t.fromEnd(show, size.Height)
		} else {
			for t.topOffset < 0 && t.anchor > 0 {
				t.anchor--
				t.topOffset += show(t.anchor).h
			}
			t.topOffset = max(t.topOffset, 0)
			for t.anchor < n-1 && t.topOffset >= show(t.anchor).h {
				t.topOffset -= show(t.anchor).h
				t.anchor++
			}
			y := -t.topOffset
			i := t.anchor
			for ; i < n && y < size.Height; i++ {
				y += show(i).h
			}
			if i == n && y < size.Height { // beyond the end
				t.fromEnd(show, size.Height)
			}
		}
		y := -t.topOffset
		for i := t.anchor; i < n && y < size.Height; i++ {
			a := show(i)
			a.y = y
			if p := fyne.NewPos(x, y); a.row.Position() != p {
				a.row.Move(p)
			}
			t.order = append(t.order, a)
			y += a.h
		}
	}
	onScreen := make(map[string]*visibleRow, len(t.order))
	for _, a := range t.order {
		onScreen[a.item.Key] = a
	}
	for _, a := range before {
		if used[a.item.Key] != a {
			t.recycleRow(a)
		}
	}
	for key, a := range used { // measured but not visible
		if onScreen[key] != a {
			t.recycleRow(a)
		}
	}
	t.visible = onScreen
	t.placeHighlight()
	if t.selection.active || t.query != "" || t.hasHighlights {
		t.hasHighlights = t.selection.active || t.query != ""
		t.paintSelection()
	}

	t.bar.Set(float32(t.sizes.before(t.anchor)+float64(t.topOffset)), size.Height, float32(t.sizes.total()))
	t.bar.Move(fyne.NewPos(size.Width-widgets.ScrollBarWidth, 0))
	t.bar.Resize(fyne.NewSize(widgets.ScrollBarWidth, size.Height))
	t.placeNewButton()
	t.ring.Resize(size)
	t.updateNewButton()
	canvas.Refresh(t.bar) // requests a frame without redrawing anything (like Fyne's scroller)
}

// fromEnd sets the anchor so that the last row is at the bottom of the view.
func (t *View) fromEnd(show func(int) *visibleRow, height float32) {
	y := height
	i := len(t.items)
	for i > 0 && y > 0 {
		i--
		y -= show(i).h
	}
	t.anchor, t.topOffset = i, max(-y, 0)
}

// updateNewButton shows the button that scrolls to the end: "New" if something was added below, or an
// arrow if the end is more than a view away.
func (t *View) updateNewButton() {
	if t.follow {
		t.hasNew = false
	}
	below := float32(t.sizes.total()-t.sizes.before(t.anchor)) - t.topOffset - t.Size().Height
	far := !t.follow && len(t.items) > 0 && below > t.Size().Height
	if text := t.newButton.Text; t.hasNew != (text != "") {
		t.newButton.Primary = t.hasNew
		if text = ""; t.hasNew {
			text = "New"
		}
		t.newButton.SetText(text)
		t.placeNewButton()
	}
	widgets.SetVisible(t.newButton, t.hasNew || far)
}

func (t *View) placeNewButton() {
	size, m := t.Size(), t.newButton.MinSize()
	t.newButton.Resize(m)
	t.newButton.Move(fyne.NewPos(float32(int((size.Width-m.Width)/2)), size.Height-m.Height-style.Inside))
}

func (t *View) bindRow(it Item) *visibleRow {
	var row Row
	if free := t.pool[it.Kind]; len(free) > 0 {
		row = free[len(free)-1]
		t.pool[it.Kind] = free[:len(free)-1]
	} else {
		row = t.Create(it.Kind)
	}
	row.Bind(it)
	return &visibleRow{row: row, item: it}
}

// maxPool is the maximum number of unused rows of a kind.
const maxPool = 16

func (t *View) recycleRow(a *visibleRow) {
	t.dropFocus(a)
	if free := t.pool[a.item.Kind]; len(free) < maxPool {
		t.pool[a.item.Kind] = append(free, a.row)
	}
}

// dropFocus removes the focus from a row that leaves the screen: its widgets will show another
// item, whose buttons Enter must not press.
func (t *View) dropFocus(a *visibleRow) {
	c := fyne.CurrentApp().Driver().CanvasForObject(t)
	if c == nil {
		return
	}
	f, ok := c.Focused().(fyne.CanvasObject)
	if !ok || f == fyne.CanvasObject(t) {
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
