package files

import (
	"cmp"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// heads are the headings of the columns: a click sorts by a column.
type heads struct {
	box   *fyne.Container
	heads map[string]*widgets.Press
	texts map[string]*widgets.Text
}

var columnNames = map[string]string{state.ByName: "Name", state.BySize: "Size", state.ByTime: "Modified"}

func newHeads(choose func(string)) *heads {
	h := &heads{heads: map[string]*widgets.Press{}, texts: map[string]*widgets.Text{}}
	var list []fyne.CanvasObject
	for _, by := range []string{state.ByName, state.BySize, state.ByTime} {
		t := widgets.NewText(columnNames[by], style.ColorMuted, style.SizeSmall)
		if by != state.ByName {
			t.Align = fyne.TextAlignTrailing
		}
		h.texts[by] = t
		h.heads[by] = widgets.NewPress(t, func() { choose(by) })
		list = append(list, h.heads[by])
	}
	line := widgets.NewRect(style.ColorLine, "", 0)
	line.SetMinSize(fyne.NewSize(1, 1))
	h.box = widgets.Border(nil, line, nil, nil, container.New(headLayout{}, list...))
	return h
}

// set shows the sort order; details reports whether there are sizes and times.
func (h *heads) set(s state.FileSort, details bool) {
	for by, t := range h.texts {
		name, color := columnNames[by], style.ColorMuted
		if by == cmp.Or(s.By, state.ByName) {
			color = style.ColorText
			arrow := " ↑"
			if s.Down {
				arrow = " ↓"
			}
			name += arrow
		}
		t.Set(name, color)
	}
	if details {
		h.heads[state.BySize].Show()
		h.texts[state.ByTime].Show()
	} else {
		h.heads[state.BySize].Hide()
		h.texts[state.ByTime].Hide()
	}
	h.box.Refresh()
}

// headLayout puts the headings above the columns of [lineLayout].
type headLayout struct{}

func (headLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(120, o[0].MinSize().Height+style.Gap)
}

func (headLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	right, h := size.Width-style.Inside, size.Height
	place := func(c fyne.CanvasObject, x, width float32) {
		c.Move(fyne.NewPos(x, 0))
		c.Resize(fyne.NewSize(width, h))
	}
	place(o[2], right-timeWidth, timeWidth)
	if size.Width >= wideFrom {
		right -= timeWidth + style.Inside
		o[2].Show()
	} else {
		o[2].Hide()
	}
	place(o[1], right-sizeWidth, sizeWidth)
	right -= sizeWidth + style.Inside
	place(o[0], style.Inside, max(0, right-style.Inside))
}

// way is the path of the folder, with a button for each element; Ctrl+L turns it into a field.
type way struct {
	box    *fyne.Container
	field  *wayField
	crumbs []state.Crumb
	enter  func(string)
}

func newWay(enter func(string), left func()) *way {
	w := &way{enter: enter, box: container.New(crumbLayout{})}
	w.field = &wayField{left: func() { w.draw(); left() }}
	w.field.ExtendBaseWidget(w.field)
	w.field.lost = w.draw
	w.field.SetPlaceHolder("Folder, such as src/parser")
	w.field.OnSubmitted = func(text string) { w.draw(); enter(strings.TrimSpace(text)) }
	return w
}

func (w *way) set(crumbs []state.Crumb) {
	w.crumbs = crumbs
	if len(w.box.Objects) == 1 && w.box.Objects[0] == w.field {
		return // the person is typing
	}
	w.draw()
}

func (w *way) draw() {
	top := ""
	if len(w.crumbs) == 0 {
		top = "Top folder" // an icon alone would have no meaning
	}
	list := []fyne.CanvasObject{widgets.NewQuiet(top, "machine", func() { w.enter("") })}
	for _, c := range w.crumbs {
		list = append(list, widgets.NewQuiet(state.Shown(c.Name), "right", func() { w.enter(c.Dir) }))
	}
	w.box.Objects = list
	w.box.Refresh()
}

// write starts editing the path.
func (w *way) write() {
	w.field.SetText("")
	if n := len(w.crumbs); n > 0 {
		w.field.SetText(w.crumbs[n-1].Dir)
	}
	w.box.Objects = []fyne.CanvasObject{w.field}
	w.box.Refresh()
	// the field has no canvas before it is drawn
	if c := fyne.CurrentApp().Driver().CanvasForObject(w.box); c != nil {
		c.Focus(w.field)
	}
	w.field.TypedShortcut(&fyne.ShortcutSelectAll{})
}

// crumbLayout shows as many of the last elements as fit.
type crumbLayout struct{}

func (crumbLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(60, 0)
	for _, c := range o {
		size.Height = max(size.Height, c.MinSize().Height)
	}
	return size
}

func (crumbLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	if len(o) == 1 {
		if _, field := o[0].(*wayField); field {
			o[0].Move(fyne.Position{})
			o[0].Resize(size)
			return
		}
	}
	from, room := len(o), size.Width
	for from > 0 && (from == len(o) || o[from-1].MinSize().Width <= room) {
		from--
		room -= o[from].MinSize().Width
	}
	x := float32(0)
	for i, c := range o {
		if i < from {
			c.Hide()
			continue
		}
		c.Show()
		w := min(c.MinSize().Width, size.Width-x)
		c.Move(fyne.NewPos(x, 0))
		c.Resize(fyne.NewSize(w, size.Height))
		x += w
	}
}

// wayField is the field for the path; Escape cancels.
type wayField struct {
	widget.Entry
	left func()
	lost func()
}

// FocusLost implements fyne.Focusable: losing the focus cancels editing.
func (f *wayField) FocusLost() {
	f.Entry.FocusLost()
	f.lost()
}

// TypedKey implements fyne.Focusable.
func (f *wayField) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyEscape {
		f.left()
		return
	}
	f.Entry.TypedKey(e)
}
