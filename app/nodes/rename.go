package nodes

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// rename gives the keyboard to a field with the name.
func (a *acts) rename() {
	a.edit = true
	a.show()
	if c := fyne.CurrentApp().Driver().CanvasForObject(a.Box); c != nil && a.field != nil {
		c.Focus(a.field)
		a.field.TypedShortcut(&fyne.ShortcutSelectAll{})
	}
}

// nameField is a name while it is changed: Enter keeps, Escape leaves it as it was.
type nameField struct {
	widget.Entry
	leave func()
}

func newNameField() *nameField {
	f := &nameField{}
	f.ExtendBaseWidget(f)
	return f
}

// TypedKey implements fyne.Focusable.
func (f *nameField) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyEscape {
		f.leave()
		return
	}
	f.Entry.TypedKey(e)
}

// fieldLayout makes a name's field as wide as most names are long.
type fieldLayout struct{}

func (fieldLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(240, o[0].MinSize().Height)
}

func (fieldLayout) Layout(o []fyne.CanvasObject, size fyne.Size) { o[0].Resize(size) }
