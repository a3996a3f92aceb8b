package transcript

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// placement is one layout of the visible rows.
type placement struct {
	*View
	width float32
	rows  map[string]*visibleRow // measured rows, by key
}

// row returns the row of an item, with the item's content and height.
func (p *placement) row(i int) *visibleRow {
	it := p.items[i]
	if r := p.rows[it.Key]; r != nil {
		return r
	}
	r := p.visible[it.Key]
	switch {
	case r == nil || r.item.Kind != it.Kind:
		r = p.bindRow(it)
	case r.item.Stamp != it.Stamp:
		r.row.Bind(it)
	}
	p.rows[it.Key] = r
	r.item, r.index = it, i
	r.h = widgets.Fit(r.row, p.width)
	p.knownHeights[it.Key] = r.h
	p.sizes.set(i, r.h)
	return r
}

// settleAnchor makes the anchor the first visible row. The row at the top is fixed: changed heights
// above it move nothing.
func (p *placement) settleAnchor(height float32) {
	n := len(p.items)
	p.anchor = min(max(p.anchor, 0), n-1)
	if p.follow {
		p.anchorAtEnd(height)
		return
	}
	for p.topOffset < 0 && p.anchor > 0 {
		p.anchor--
		p.topOffset += p.row(p.anchor).h
	}
	p.topOffset = max(p.topOffset, 0)
	for p.anchor < n-1 && p.topOffset >= p.row(p.anchor).h {
		p.topOffset -= p.row(p.anchor).h
		p.anchor++
	}
	y := -p.topOffset
	for i := p.anchor; y < height; i++ {
		if i == n { // beyond the end
			p.anchorAtEnd(height)
			return
		}
		y += p.row(i).h
	}
}

// anchorAtEnd sets the anchor so that the last row is at the bottom of the view.
func (p *placement) anchorAtEnd(height float32) {
	y := height
	i := len(p.items)
	for i > 0 && y > 0 {
		i--
		y -= p.row(i).h
	}
	p.anchor, p.topOffset = i, max(-y, 0)
}

// place positions the visible rows.
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
	t.placeRows(fyne.NewSize(width, size.Height), float32(int((size.Width-width)/2)))
	t.placeHighlight()
	if paints := t.selection.active || t.query != ""; paints || t.hasHighlights {
		t.hasHighlights = paints
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

// placeRows shows the rows in view, which have this size together, and recycles the others.
func (t *View) placeRows(size fyne.Size, x float32) {
	before := t.order
	t.order = make([]*visibleRow, 0, len(before)+2)
	p := placement{View: t, width: size.Width, rows: make(map[string]*visibleRow, len(before)+2)}
	if len(t.items) > 0 {
		p.settleAnchor(size.Height)
		y := -t.topOffset
		for i := t.anchor; i < len(t.items) && y < size.Height; i++ {
			r := p.row(i)
			r.y = y
			if at := fyne.NewPos(x, y); r.row.Position() != at {
				r.row.Move(at)
			}
			t.order = append(t.order, r)
			y += r.h
		}
	}
	onScreen := make(map[string]*visibleRow, len(t.order))
	for _, r := range t.order {
		onScreen[r.item.Key] = r
	}
	for _, r := range before {
		if p.rows[r.item.Key] != r {
			t.recycleRow(r)
		}
	}
	for key, r := range p.rows { // measured but not visible
		if onScreen[key] != r {
			t.recycleRow(r)
		}
	}
	t.visible = onScreen
}

// updateNewButton shows the button that scrolls to the end: "New" if something was added below, or
// an arrow if the end is more than a view away.
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
