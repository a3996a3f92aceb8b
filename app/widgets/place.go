package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"fairlead/app/style"
)

// place positions the visible rows. The row at the top is fixed: changed heights above it move
// nothing.
func (t *Transcript) place() {
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
	t.order = make([]*activeRow, 0, len(before)+2)
	used := make(map[string]*activeRow, len(before)+2)
	show := func(i int) *activeRow {
		it := t.items[i]
		a := used[it.Key]
		if a == nil {
			if a = t.active[it.Key]; a != nil && a.item.Kind != it.Kind {
				a = nil
			}
			if a == nil {
				a = t.take(it)
			} else if a.item.Stamp != it.Stamp {
				a.item = it
				a.row.Bind(it)
			}
			used[it.Key] = a
			a.item, a.index = it, i
			a.h = Fit(a.row, width)
			t.known[it.Key] = a.h
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
			for t.into < 0 && t.anchor > 0 {
				t.anchor--
				t.into += show(t.anchor).h
			}
			t.into = max(t.into, 0)
			for t.anchor < n-1 && t.into >= show(t.anchor).h {
				t.into -= show(t.anchor).h
				t.anchor++
			}
			y := -t.into
			i := t.anchor
			for ; i < n && y < size.Height; i++ {
				y += show(i).h
			}
			if i == n && y < size.Height { // beyond the end
				t.fromEnd(show, size.Height)
			}
		}
		y := -t.into
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
	onScreen := make(map[string]*activeRow, len(t.order))
	for _, a := range t.order {
		onScreen[a.item.Key] = a
	}
	for _, a := range before {
		if used[a.item.Key] != a {
			t.release(a)
		}
	}
	for key, a := range used { // measured but not visible
		if onScreen[key] != a {
			t.release(a)
		}
	}
	t.active = onScreen
	t.placeMark()
	if t.marks.on || t.query != "" || t.painted {
		t.painted = t.marks.on || t.query != ""
		t.paintMarks()
	}

	t.bar.set(float32(t.sizes.before(t.anchor)+float64(t.into)), size.Height, float32(t.sizes.total()))
	t.bar.Move(fyne.NewPos(size.Width-barSize, 0))
	t.bar.Resize(fyne.NewSize(barSize, size.Height))
	t.placeMore()
	t.ring.Resize(size)
	t.showMore()
	canvas.Refresh(t.bar) // requests a frame without redrawing anything (like Fyne's scroller)
}

// fromEnd sets the anchor so that the last row is at the bottom of the view.
func (t *Transcript) fromEnd(show func(int) *activeRow, height float32) {
	y := height
	i := len(t.items)
	for i > 0 && y > 0 {
		i--
		y -= show(i).h
	}
	t.anchor, t.into = i, max(-y, 0)
}

// showMore shows the button that scrolls to the end: "New" if something was added below, or an
// arrow if the end is more than a view away.
func (t *Transcript) showMore() {
	if t.follow {
		t.fresh = false
	}
	below := float32(t.sizes.total()-t.sizes.before(t.anchor)) - t.into - t.Size().Height
	far := !t.follow && len(t.items) > 0 && below > t.Size().Height
	if text := t.more.Text; t.fresh != (text != "") {
		t.more.Primary = t.fresh
		if text = ""; t.fresh {
			text = "New"
		}
		t.more.SetText(text)
		t.placeMore()
	}
	show(t.more, t.fresh || far)
}

func (t *Transcript) placeMore() {
	size, m := t.Size(), t.more.MinSize()
	t.more.Resize(m)
	t.more.Move(fyne.NewPos(float32(int((size.Width-m.Width)/2)), size.Height-m.Height-style.Inside))
}

func (t *Transcript) take(it Item) *activeRow {
	var row ItemRow
	if free := t.pool[it.Kind]; len(free) > 0 {
		row = free[len(free)-1]
		t.pool[it.Kind] = free[:len(free)-1]
	} else {
		row = t.Create(it.Kind)
	}
	row.Bind(it)
	return &activeRow{row: row, item: it}
}

// maxPool is the maximum number of unused rows of a kind.
const maxPool = 16

func (t *Transcript) release(a *activeRow) {
	t.dropFocus(a)
	if free := t.pool[a.item.Kind]; len(free) < maxPool {
		t.pool[a.item.Kind] = append(free, a.row)
	}
}

// dropFocus removes the focus from a row that leaves the screen: its widgets will show another
// item, whose buttons Enter must not press.
func (t *Transcript) dropFocus(a *activeRow) {
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
