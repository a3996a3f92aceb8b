package transcript

import (
	"cmp"
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/widgets"
)

// viewport has the items of a list, the scroll position, and the rows in view.
type viewport struct {
	items        []Item
	heights      []float32          // measured or estimated
	knownHeights map[string]float32 // last measured heights, a good estimate at any width
	visible      map[string]*visibleRow
	pool         rowPool
	order        []*visibleRow     // the visible rows from top to bottom
	anchor       int               // the row at the top of the view
	topOffset    float32           // its height above the view
	height       float32           // of the view
	above, total float32           // the height of what is above the view, and of all rows
	follow       bool              // the end stays in view
	changed      bool              // rows in view changed, moved or left since the latest frame
	leave        func(*visibleRow) // called for a row that leaves the view
}

func newViewport(create func(kind int) Row) *viewport {
	return &viewport{
		knownHeights: map[string]float32{}, visible: map[string]*visibleRow{},
		pool: rowPool{create, map[int][]Row{}}, follow: true,
	}
}

type visibleRow struct {
	row   Row
	item  Item
	index int
	y     float32
	h     float32
}

// setItems shows other items at the next layout. It reports whether the end changed.
func (v *viewport) setItems(items []Item) (endChanged bool) {
	old, anchorKey := v.items, ""
	if v.anchor < len(old) {
		anchorKey = old[v.anchor].Key
	}
	n, m := len(items), len(old)
	v.items, v.heights = items, make([]float32, n)
	for i, it := range items {
		v.heights[i] = cmp.Or(v.knownHeights[it.Key], it.Estimate, 80)
	}
	if v.anchor >= n || items[v.anchor].Key != anchorKey {
		if i := v.index(anchorKey); i >= 0 {
			v.anchor = i
		} else {
			v.anchor, v.topOffset = min(v.anchor, max(n-1, 0)), 0
		}
	}
	return n > 0 && (m == 0 || items[n-1].Key != old[m-1].Key || items[n-1].Data != old[m-1].Data)
}

// index returns the index of an item; -1 if none exists with that key.
func (v *viewport) index(key string) int {
	return slices.IndexFunc(v.items, func(it Item) bool { return it.Key == key })
}

func (v *viewport) endInView() bool {
	if len(v.items) == 0 || len(v.order) == 0 {
		return true
	}
	last := v.order[len(v.order)-1]
	return last.index == len(v.items)-1 && last.y+last.h <= v.height+1
}

// rowAt returns the row at a distance from the top of all rows, and its part above.
func (v *viewport) rowAt(distance float32) (row int, into float32) {
	for ; row < len(v.heights)-1 && distance >= v.heights[row]; row++ {
		distance -= v.heights[row]
	}
	return row, distance
}

// place lays out the rows in view, in a column.
func (v *viewport) place(x, width, height float32) {
	v.height = height
	p := placement{in: v, width: width, rows: map[string]*visibleRow{}}
	p.placeRows(height, x)
	v.above, v.total = float32(sum(v.heights[:v.anchor])+float64(v.topOffset)), float32(sum(v.heights))
}

// placement is one layout of the visible rows.
type placement struct {
	in    *viewport
	width float32
	rows  map[string]*visibleRow // measured rows, by key
}

// row returns the row of an item, with the item's content and height.
func (p *placement) row(i int) *visibleRow {
	it := p.in.items[i]
	if r := p.rows[it.Key]; r != nil {
		return r
	}
	r := p.in.visible[it.Key]
	switch {
	case r == nil || r.item.Kind != it.Kind:
		r = p.in.pool.bind(it)
		p.in.changed = true
	case r.item.Data != it.Data:
		r.row.Bind(it)
		p.in.changed = true
	}
	p.rows[it.Key] = r
	r.item, r.index = it, i
	h := widgets.Fit(r.row, p.width)
	p.in.changed = p.in.changed || h != r.h
	r.h = h
	p.in.knownHeights[it.Key] = r.h
	p.in.heights[i] = r.h
	return r
}

// updateAnchor makes the anchor the first visible row; changed heights above it move nothing.
func (p *placement) updateAnchor(height float32) {
	n := len(p.in.items)
	p.in.anchor = min(max(p.in.anchor, 0), n-1)
	if p.in.follow {
		p.anchorAtEnd(height)
		return
	}
	for p.in.topOffset < 0 && p.in.anchor > 0 {
		p.in.anchor--
		p.in.topOffset += p.row(p.in.anchor).h
	}
	p.in.topOffset = max(p.in.topOffset, 0)
	for p.in.anchor < n-1 && p.in.topOffset >= p.row(p.in.anchor).h {
		p.in.topOffset -= p.row(p.in.anchor).h
		p.in.anchor++
	}
	y := -p.in.topOffset
	for i := p.in.anchor; y < height; i++ {
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
	i := len(p.in.items)
	for i > 0 && y > 0 {
		i--
		y -= p.row(i).h
	}
	p.in.anchor, p.in.topOffset = i, max(-y, 0)
}

// placeRows shows the rows in view and recycles the others.
func (p *placement) placeRows(height, x float32) {
	before := p.in.order
	p.in.order = make([]*visibleRow, 0, len(before)+2)
	onScreen := make(map[string]*visibleRow, len(before)+2)
	if len(p.in.items) > 0 {
		p.updateAnchor(height)
		y := -p.in.topOffset
		for i := p.in.anchor; i < len(p.in.items) && y < height; i++ {
			r := p.row(i)
			r.y = y
			if at := fyne.NewPos(x, y); r.row.Position() != at {
				r.row.Move(at)
				p.in.changed = true
			}
			p.in.order = append(p.in.order, r)
			onScreen[r.item.Key] = r
			y += r.h
		}
	}
	p.in.changed = p.in.changed || len(p.in.order) != len(before)
	for _, r := range before {
		if p.rows[r.item.Key] != r {
			p.in.leave(r)
			p.in.pool.recycle(r)
		}
	}
	for key, r := range p.rows { // measured but not visible
		if onScreen[key] != r {
			p.in.leave(r)
			p.in.pool.recycle(r)
		}
	}
	p.in.visible = onScreen
}

// sum adds heights as float64: a float32 cannot represent two million units in steps of a quarter.
func sum(heights []float32) (total float64) {
	for _, h := range heights {
		total += float64(h)
	}
	return total
}

// rowPool has unused rows, by kind.
type rowPool struct {
	create func(kind int) Row
	unused map[int][]Row
}

// bind returns a row that shows an item.
func (p rowPool) bind(it Item) *visibleRow {
	var row Row
	if free := p.unused[it.Kind]; len(free) > 0 {
		row = free[len(free)-1]
		p.unused[it.Kind] = free[:len(free)-1]
	} else {
		row = p.create(it.Kind)
	}
	row.Bind(it)
	return &visibleRow{row: row, item: it}
}

// maxPool is the maximum number of unused rows of a kind.
const maxPool = 16

func (p rowPool) recycle(a *visibleRow) {
	if free := p.unused[a.item.Kind]; len(free) < maxPool {
		p.unused[a.item.Kind] = append(free, a.row)
	}
}
