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
	t.follow = true
	t.place()
}

// ScrollToTop scrolls to the beginning.
func (t *View) ScrollToTop() { t.moveTo(0, 0) }

// Top returns the item at the top of the view, and its height above the view; or an empty key.
func (t *View) Top() (key string, into float32) {
	if t.anchor >= len(t.items) {
		return "", 0
	}
	return t.items[t.anchor].Key, t.topOffset
}

// ScrollToKey scrolls an item to the top of the view. It reports whether it exists.
func (t *View) ScrollToKey(key string) bool { return t.ScrollToOffset(key, 0) }

// ScrollToOffset does the same with a part of the item above the view.
func (t *View) ScrollToOffset(key string, into float32) bool {
	i := indexOf(t.items, key)
	if i >= 0 {
		t.moveTo(i, into)
	}
	return i >= 0
}

// RevealRow scrolls down until the whole row of an item is in view, or its top is at the top of the
// view.
func (t *View) RevealRow(key string) {
	a := t.visible[key]
	if a == nil {
		return
	}
	if hidden := a.y + a.h - t.Size().Height; hidden > 0 && a.y > 0 {
		t.scrollBy(min(hidden, a.y))
	}
}

// VisibleRows returns the visible rows, from top to bottom.
func (t *View) VisibleRows() []Row {
	var rows []Row
	for _, a := range t.order {
		rows = append(rows, a.row)
	}
	return rows
}

// Highlight highlights the item with that key, until another one or none is highlighted.
func (t *View) Highlight(key string) {
	if t.highlightKey != key {
		t.highlightKey = key
		t.place()
	}
}

// moveTo scrolls to a row, with a part of it above the view.
func (t *View) moveTo(row int, into float32) {
	t.follow, t.anchor, t.topOffset = false, row, into
	t.place()
	if endInView(t) { // the reader has scrolled to the end
		t.follow = true
	}
	t.updateNewButton()
	if t.OnTop != nil && len(t.items) > 0 && t.anchor < 5 && t.topReported != t.items[0].Key {
		t.topReported = t.items[0].Key
		t.OnTop()
	}
}

// Scrolled implements fyne.Scrollable.
func (t *View) Scrolled(e *fyne.ScrollEvent) { t.scrollBy(-e.Scrolled.DY) }

func (t *View) scrollBy(dy float32) {
	if dy != 0 && len(t.items) > 0 {
		t.moveTo(t.anchor, t.topOffset+dy)
	}
}

func endInView(t *View) bool {
	if len(t.items) == 0 || len(t.order) == 0 {
		return true
	}
	last := t.order[len(t.order)-1]
	return last.index == len(t.items)-1 && last.y+last.h <= t.Size().Height+1
}

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
		r = p.pool.bind(p.View, it)
	case r.item.Data != it.Data:
		r.row.Bind(it)
	}
	p.rows[it.Key] = r
	r.item, r.index = it, i
	r.h = widgets.Fit(r.row, p.width)
	p.knownHeights[it.Key] = r.h
	p.heights[i] = r.h
	return r
}

// updateAnchor makes the anchor the first visible row; changed heights above it move nothing.
func (p *placement) updateAnchor(height float32) {
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

// placeRows shows the rows in view and recycles the others.
func (p *placement) placeRows(height, x float32) {
	before := p.order
	p.order = make([]*visibleRow, 0, len(before)+2)
	onScreen := make(map[string]*visibleRow, len(before)+2)
	if len(p.items) > 0 {
		p.updateAnchor(height)
		y := -p.topOffset
		for i := p.anchor; i < len(p.items) && y < height; i++ {
			r := p.row(i)
			r.y = y
			if at := fyne.NewPos(x, y); r.row.Position() != at {
				r.row.Move(at)
			}
			p.order = append(p.order, r)
			onScreen[r.item.Key] = r
			y += r.h
		}
	}
	for _, r := range before {
		if p.rows[r.item.Key] != r {
			dropFocus(p.View, r)
			p.pool.recycle(r)
		}
	}
	for key, r := range p.rows { // measured but not visible
		if onScreen[key] != r {
			dropFocus(p.View, r)
			p.pool.recycle(r)
		}
	}
	p.visible = onScreen
}

func (t *View) place() {
	size := t.Size()
	if size.Width <= 0 || size.Height <= 0 || t.placing {
		return
	}
	t.placing = true
	defer func() { t.placing = false }()
	width := min(size.Width, cmp.Or(t.Width, size.Width))
	p := placement{View: t, width: width, rows: map[string]*visibleRow{}}
	p.placeRows(size.Height, float32(int((size.Width-width)/2)))
	a := t.visible[t.highlightKey]
	widgets.SetVisible(t.highlight, a != nil)
	if a != nil {
		t.highlight.Move(a.row.Position().SubtractXY(style.Inside, 0))
		t.highlight.Resize(fyne.NewSize(a.row.Size().Width+2*style.Inside, a.h+style.Gap))
	}
	if paints := t.active || t.query != ""; paints || t.painted {
		t.painted = paints
		t.paint()
	}
	above, total := float32(sum(t.heights[:t.anchor])+float64(t.topOffset)), float32(sum(t.heights))
	t.below = total - above
	t.bar.Set(above, size.Height, total)
	t.bar.Move(fyne.NewPos(size.Width-widgets.ScrollBarWidth, 0))
	t.bar.Resize(fyne.NewSize(widgets.ScrollBarWidth, size.Height))
	t.ring.Resize(size)
	t.updateNewButton()
	canvas.Refresh(t.bar) // requests a frame without redrawing anything (like Fyne's scroller)
}

// sum adds heights as float64: a float32 cannot represent two million units in steps of a quarter.
func sum(heights []float32) (total float64) {
	for _, h := range heights {
		total += float64(h)
	}
	return total
}

// rowPool has unused rows, by kind.
type rowPool map[int][]Row

// bind returns a row that shows an item.
func (p rowPool) bind(t *View, it Item) *visibleRow {
	var row Row
	if free := p[it.Kind]; len(free) > 0 {
		row = free[len(free)-1]
		p[it.Kind] = free[:len(free)-1]
	} else {
		row = t.Create(it.Kind)
	}
	row.Bind(it)
	return &visibleRow{row: row, item: it}
}

// maxPool is the maximum number of unused rows of a kind.
const maxPool = 16

func (p rowPool) recycle(a *visibleRow) {
	if free := p[a.item.Kind]; len(free) < maxPool {
		p[a.item.Kind] = append(free, a.row)
	}
}

// dropFocus removes the focus from a row that leaves the screen: Enter must not press its buttons.
func dropFocus(t *View, a *visibleRow) {
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
