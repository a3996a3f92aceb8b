package files

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/widgets"
	"fairlead/app/wording"
)

// pathBar is the path of the folder, with a button for each element; Ctrl+L turns it into a field.
type pathBar struct {
	box     *fyne.Container
	field   *textField
	crumbs  []Crumb
	top     string // name of the top folder
	onEnter func(string)
}

func newPathBar(enter func(string), left func()) *pathBar {
	w := &pathBar{onEnter: enter, box: container.New(crumbLayout{})}
	w.field = newTextField(func() { w.draw(); left() }, func() { w.draw() })
	w.field.SetPlaceHolder("Folder, such as src/parser")
	w.field.OnSubmitted = func(text string) { w.draw(); enter(strings.TrimSpace(text)) }
	return w
}

// set shows the folders below the top folder, which has a name.
func (w *pathBar) set(top string, crumbs []Crumb) {
	w.top, w.crumbs = top, crumbs
	if len(w.box.Objects) == 1 && w.box.Objects[0] == w.field {
		return // the person is typing
	}
	w.draw()
}

func (w *pathBar) draw() {
	top := ""
	if len(w.crumbs) == 0 {
		top = w.top // an icon alone would have no meaning
	}
	root := widgets.NewIconButton("machine", w.top, func() { w.onEnter("") })
	root.SetText(top)
	list := []fyne.CanvasObject{root}
	for _, c := range w.crumbs {
		list = append(list, widgets.NewQuietButton(wording.VisibleName(c.Name), "right", func() { w.onEnter(c.Dir) }))
	}
	widgets.SetContent(w.box, list...)
}

func (w *pathBar) edit() {
	w.field.SetText("")
	if n := len(w.crumbs); n > 0 {
		w.field.SetText(w.crumbs[n-1].Dir)
	}
	widgets.SetContent(w.box, w.field)
	w.field.edit(w.box)
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
		if _, field := o[0].(*textField); field {
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

// textField is a field that Escape and losing the focus leave.
type textField struct {
	widgets.NameField
	onFocusLost func()
}

func newTextField(onCancel, onFocusLost func()) *textField {
	f := &textField{onFocusLost: onFocusLost}
	f.OnCancel = onCancel
	f.ExtendBaseWidget(f)
	return f
}

func (f *textField) FocusLost() {
	f.NameField.FocusLost()
	f.onFocusLost()
}

// edit focuses the field on its container's canvas: before it is drawn, it has none.
func (f *textField) edit(in fyne.CanvasObject) {
	widgets.FocusIn(in, f)
	f.TypedShortcut(&fyne.ShortcutSelectAll{})
}

// selectStart selects the first n characters. Fyne selects a part of a text only by keys.
func (f *textField) selectStart(n int) {
	f.CursorColumn = 0
	shift := &fyne.KeyEvent{Name: desktop.KeyShiftLeft}
	f.TypedKey(&fyne.KeyEvent{Name: fyne.KeyHome})
	f.KeyDown(shift)
	for range n {
		f.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	}
	f.KeyUp(shift)
}
