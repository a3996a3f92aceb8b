package widgets

import (
	"cmp"
	"sort"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// rowContent is the content of the scroller: it draws the visible rows.
type rowContent struct {
	widget.BaseWidget
	list *RowList
	at   fyne.Position
	view fyne.Size
	box  *fyne.Container
}

// WrapTo implements partialView.
func (c *rowContent) WrapTo(float32) {}

// SetView implements partialView.
func (c *rowContent) SetView(at fyne.Position, size fyne.Size) {
	if c.at != at || c.view != size {
		c.at, c.view = at, size
		c.draw()
	}
}

// MinSize implements fyne.Widget.
func (c *rowContent) MinSize() fyne.Size {
	if n := len(c.list.tops); n > 0 {
		return fyne.NewSize(40, c.list.tops[n-1])
	}
	return fyne.NewSize(40, 0)
}

// CreateRenderer implements fyne.Widget.
func (c *rowContent) CreateRenderer() fyne.WidgetRenderer {
	c.box = container.NewWithoutLayout()
	return &contentRenderer{WidgetRenderer: widget.NewSimpleRenderer(c.box), content: c}
}

type contentRenderer struct {
	fyne.WidgetRenderer
	content *rowContent
}

// Layout implements fyne.WidgetRenderer.
func (r *contentRenderer) Layout(size fyne.Size) {
	r.content.box.Resize(size)
	r.content.draw()
}

// draw shows the rows in view, and reuses the lines of the others.
func (c *rowContent) draw() {
	l := c.list
	if c.box == nil || len(l.tops) != len(l.rows)+1 {
		return
	}
	first := max(sort.Search(len(l.rows), func(i int) bool { return l.tops[i+1] > c.at.Y }), 0)
	last := first
	for last < len(l.rows) && l.tops[last] < c.at.Y+c.view.Height {
		last++
	}
	for i, line := range l.lines {
		if i < first || i >= last || l.rows[i].Heading != nil {
			l.free = append(l.free, line)
			delete(l.lines, i)
		}
	}
	objects := make([]fyne.CanvasObject, 0, last-first)
	for i := first; i < last; i++ {
		o := l.rows[i].Heading
		if o == nil {
			o = l.bind(i)
		}
		o.Move(fyne.NewPos(0, l.tops[i]))
		// the width does not change when the scroll bar appears
		o.Resize(fyne.NewSize(l.Size().Width-ScrollBarWidth, l.tops[i+1]-l.tops[i]-theme.Padding()))
		objects = append(objects, o)
	}
	c.box.Objects = objects
	c.box.Refresh()
}

// bind returns the line of a row with its present item.
func (l *RowList) bind(i int) *rowLine {
	line := l.lines[i]
	if line == nil {
		if n := len(l.free); n > 0 {
			line, l.free = l.free[n-1], l.free[:n-1]
		} else {
			line = newRowLine(l)
		}
		l.lines[i] = line
	}
	line.index = i
	line.set(l.Item(i), l.focused && i == l.cursor)
	return line
}

// rowLine is a visible row.
type rowLine struct {
	Composite
	list       *RowList
	index      int
	hasCursor  bool
	hovered    bool
	keys       fyne.KeyModifier // of the last press of a mouse button
	line       *itemLine
	background *Rect
}

func newRowLine(l *RowList) *rowLine {
	r := &rowLine{list: l, line: newItemLine(style.Inside), background: NewRect("", "", style.Corner)}
	r.Compose(r, container.NewStack(r.background, r.line.box))
	return r
}

func (r *rowLine) set(item SidebarItem, cursor bool) {
	r.hasCursor = cursor
	if r.line.item != item {
		r.line.set(item)
		r.LayOut()
	}
	r.paint()
}

func (r *rowLine) paint() {
	fill := Choose(r.line.item.Selected || r.line.item.Checked, style.ColorSelected, "")
	if r.hovered {
		fill = cmp.Or(fill, style.ColorHover)
	}
	r.background.Set(fill, Choose(r.hasCursor, style.ColorAccent, ""))
}

// MouseDown implements desktop.Mouseable. Only its event has the modifier keys of the click: the
// driver still reports a key whose release went to a window that it closed (fyne 2.8.0).
func (r *rowLine) MouseDown(e *desktop.MouseEvent) { r.keys = e.Modifier }

// MouseUp implements desktop.Mouseable.
func (r *rowLine) MouseUp(*desktop.MouseEvent) {}

// Tapped implements fyne.Tappable.
func (r *rowLine) Tapped(*fyne.PointEvent) {
	if r.index < len(r.list.rows) {
		r.list.place(r.index)
		r.list.OnTap(r.index, r.keys)
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (r *rowLine) TappedSecondary(e *fyne.PointEvent) {
	if r.index < len(r.list.rows) && r.list.OnMenu != nil {
		r.list.OnMenu(r.index, e.AbsolutePosition)
	}
}

// MouseIn implements desktop.Hoverable.
func (r *rowLine) MouseIn(*desktop.MouseEvent) { r.hovered = true; r.paint() }

// MouseMoved implements desktop.Hoverable.
func (r *rowLine) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (r *rowLine) MouseOut() { r.hovered = false; r.paint() }
