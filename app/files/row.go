package files

import (
	"path"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Widths of the columns at the right, and from which width of the list they are there.
const (
	sizeWidth = 84
	timeWidth = 104
	wideFrom  = 440
)

// row is one line of a table.
type row struct {
	widget.BaseWidget
	t       *table
	i       int
	shown   drawn
	ground  *widgets.Rect
	icon    *widget.Icon
	title   *widgets.Text
	mark    *widgets.Text
	size    *widgets.Text
	time    *widgets.Text
	field   *nameField
	line    *fyne.Container
	hovered bool
}

// drawn is what a row shows: one that shows the same already is left alone.
type drawn struct {
	entry   state.FileEntry
	mark    string
	picked  bool
	cursor  bool
	editing bool
	below   bool
	hovered bool
	aimed   bool
	details bool
}

func newRow(t *table) *row {
	r := &row{
		t: t, ground: widgets.NewRect("", "", look.Corner), icon: widget.NewIcon(nil), title: widgets.NewText("", look.ColorText, "text"),
		mark: widgets.NewText("", look.ColorAccent, look.SizeSmall), size: widgets.NewText("", look.ColorMuted, look.SizeSmall),
		time: widgets.NewText("", look.ColorMuted, look.SizeSmall), field: newNameField(t),
	}
	r.title.Ellipsis, r.mark.Ellipsis = true, true
	r.size.Align, r.time.Align = fyne.TextAlignTrailing, fyne.TextAlignTrailing
	r.field.Hide()
	r.line = container.New(&lineLayout{t}, r.icon, r.title, r.field, r.mark, r.size, r.time)
	r.ExtendBaseWidget(r)
	return r
}

// set shows an entry.
func (r *row) set(i int) {
	r.i = i
	if i >= len(r.t.entries) {
		return
	}
	e := r.t.entries[i]
	now := drawn{
		entry: e, mark: r.t.marks[e.Path], picked: r.t.pick.Has(i), cursor: r.t.focused && r.t.pick.At() == i, editing: r.t.editing == e.Path, below: r.t.below,
		hovered: r.hovered, details: r.t.details, aimed: e.Dir && r.t.aim != "" && r.t.aim == e.Path,
	}
	if now == r.shown {
		return
	}
	was := r.shown
	r.shown = now
	r.ground.Fill, r.ground.Line = "", ""
	switch {
	case now.picked:
		r.ground.Fill = look.ColorSelected
	case now.hovered || now.aimed:
		r.ground.Fill = look.ColorHover
	}
	if now.cursor || now.aimed {
		r.ground.Line = look.ColorAccent
	}
	r.ground.Refresh()
	if now.entry != was.entry || now.mark != was.mark || now.editing != was.editing || now.below != was.below || now.details != was.details {
		r.fill(now)
	}
}

func (r *row) fill(d drawn) {
	icon, color := "file", look.ColorMuted
	switch {
	case d.entry.Dir:
		icon, color = "folder", look.ColorAccent
	case d.entry.Info.Kind == protocol.FileLink:
		icon = "link"
	case d.entry.Info.Kind == protocol.FileOther:
		icon = "question"
	case d.entry.Missing:
		icon = "plus"
	case picture(d.entry.Path):
		icon = "image"
	}
	r.icon.SetResource(look.IconIn(icon, color))
	title := look.ColorText
	if d.entry.Missing {
		title = look.ColorMuted
	}
	r.title.Set(d.entry.Name(), title)
	mark := d.mark
	if dir := path.Dir(d.entry.Path); d.below && dir != "." {
		mark = dir
	}
	r.mark.Set(mark, markColor(d.entry, mark))
	size, when := "", ""
	if d.entry.Info.Kind == protocol.FileRegular {
		size = state.SizeText(d.entry.Info.Size)
	}
	if d.entry.Info.Time > 0 {
		when = state.When(d.entry.Info.Time, r.t.now())
	}
	r.size.SetText(size)
	r.time.SetText(when)
	if d.editing {
		r.title.Hide()
		r.field.begin(d.entry.Name())
	} else {
		r.title.Show()
		r.field.Hide()
	}
	r.line.Layout.Layout(r.line.Objects, r.line.Size())
}

// lineLayout gives the columns their places: icon, name or its field, mark, size, time.
type lineLayout struct{ t *table }

func (*lineLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(120, rowHeight()) }

func (l *lineLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	left, right := float32(look.Inside), size.Width-look.Inside
	middle := func(c fyne.CanvasObject, x, width float32) {
		h := min(c.MinSize().Height, size.Height)
		c.Move(fyne.NewPos(x, (size.Height-h)/2))
		c.Resize(fyne.NewSize(width, h))
	}
	icon := min(size.Height, look.Size(theme.SizeNameInlineIcon))
	o[0].Move(fyne.NewPos(left, (size.Height-icon)/2))
	o[0].Resize(fyne.NewSquareSize(icon))
	left += icon + look.Inside
	if !l.t.details {
		o[4].Hide()
		o[5].Hide()
		l.rest(o, left, right, middle)
		o[2].Move(fyne.NewPos(left-look.Gap, 0))
		o[2].Resize(fyne.NewSize(max(0, right-left), size.Height))
		return
	}
	o[4].Show()
	if size.Width >= wideFrom {
		middle(o[5], right-timeWidth, timeWidth)
		right -= timeWidth + look.Inside
		o[5].Show()
	} else {
		o[5].Hide()
	}
	middle(o[4], right-sizeWidth, sizeWidth)
	right -= sizeWidth + look.Inside
	l.rest(o, left, right, middle)
	o[2].Move(fyne.NewPos(left-look.Gap, 0))
	o[2].Resize(fyne.NewSize(max(0, right-left), size.Height))
}

// rest puts the mark at the right and gives the name what is left.
func (*lineLayout) rest(o []fyne.CanvasObject, left, right float32, middle func(fyne.CanvasObject, float32, float32)) {
	if mark := o[3].(*widgets.Text); mark.Text != "" {
		w := min(fyne.MeasureText(mark.Text, look.Size(look.SizeSmall), fyne.TextStyle{}).Width+1, (right-left)/2)
		middle(o[3], right-w, w)
		right -= w + look.Inside
	}
	middle(o[1], left, max(0, right-left))
}

// CreateRenderer implements fyne.Widget.
func (r *row) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewStack(r.ground, r.line))
}

// MinSize implements fyne.CanvasObject.
func (r *row) MinSize() fyne.Size { return fyne.NewSize(120, rowHeight()) }

// MouseDown implements desktop.Mouseable: a line is chosen as soon as it is pressed.
func (r *row) MouseDown(e *desktop.MouseEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(r.t); c != nil && r.t.editing == "" {
		c.Focus(r.t)
	}
	switch {
	case e.Button == desktop.MouseButtonSecondary:
		if !r.t.pick.Has(r.i) {
			r.t.pick.One(r.i)
		}
	case e.Modifier&fyne.KeyModifierShift != 0:
		r.t.pick.Range(r.i)
	case e.Modifier&(fyne.KeyModifierControl|fyne.KeyModifierSuper) != 0:
		r.t.pick.Toggle(r.i)
	case !r.t.pick.Has(r.i):
		r.t.pick.One(r.i)
	}
	r.t.picked()
}

// MouseUp implements desktop.Mouseable.
func (r *row) MouseUp(*desktop.MouseEvent) {}

// Tapped implements fyne.Tappable: what was chosen with others is chosen alone.
func (r *row) Tapped(*fyne.PointEvent) {
	if modifiers() == 0 && r.t.pick.Has(r.i) {
		r.t.pick.One(r.i)
		r.t.picked()
	}
}

// DoubleTapped implements fyne.DoubleTappable.
func (r *row) DoubleTapped(*fyne.PointEvent) {
	if r.i < len(r.t.entries) && r.t.editing == "" {
		r.t.onOpen(r.t.entries[r.i])
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (r *row) TappedSecondary(e *fyne.PointEvent) {
	if r.t.onMenu != nil && r.i < len(r.t.entries) {
		if !r.t.pick.Has(r.i) {
			r.t.pick.One(r.i)
			r.t.picked()
		}
		r.t.onMenu(e.AbsolutePosition)
	}
}

// MouseIn, MouseMoved and MouseOut implement desktop.Hoverable.
func (r *row) MouseIn(*desktop.MouseEvent)    { r.hovered = true; r.set(r.i) }
func (r *row) MouseMoved(*desktop.MouseEvent) {}
func (r *row) MouseOut()                      { r.hovered = false; r.set(r.i) }

// Dragged implements fyne.Draggable.
func (r *row) Dragged(e *fyne.DragEvent) {
	if r.t.onDrag != nil {
		r.t.onDrag(e.AbsolutePosition)
	}
}

// DragEnd implements fyne.Draggable.
func (r *row) DragEnd() {
	if r.t.onDrop != nil {
		r.t.onDrop(fyne.Position{})
	}
}

var (
	_ desktop.Mouseable   = (*row)(nil)
	_ desktop.Hoverable   = (*row)(nil)
	_ fyne.DoubleTappable = (*row)(nil)
	_ fyne.Draggable      = (*row)(nil)
)

// nameField changes a name in its place: Enter takes it, Esc and leaving it do not.
type nameField struct {
	widget.Entry
	t *table
}

func newNameField(t *table) *nameField {
	f := &nameField{t: t}
	f.ExtendBaseWidget(f)
	f.OnSubmitted = func(name string) { f.t.endEdit(name) }
	return f
}

func (f *nameField) begin(name string) {
	f.SetText(name)
	f.Show()
	if c := fyne.CurrentApp().Driver().CanvasForObject(f.t); c != nil {
		c.Focus(f)
	}
	f.TypedShortcut(&fyne.ShortcutSelectAll{})
}

// TypedKey implements fyne.Focusable.
func (f *nameField) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyEscape {
		f.t.endEdit("")
		return
	}
	f.Entry.TypedKey(e)
}

// picture reports whether a file is a picture by its name.
func picture(name string) bool {
	switch path.Ext(name) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp":
		return true
	}
	return false
}
