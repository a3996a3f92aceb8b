package nodes

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// rename shows and focuses a field with the name.
func (a *actions) rename() {
	a.editing = true
	a.show()
	if c := fyne.CurrentApp().Driver().CanvasForObject(a.Box); c != nil && a.field != nil {
		c.Focus(a.field)
		a.field.TypedShortcut(&fyne.ShortcutSelectAll{})
	}
}

// nameField edits a name: Enter saves, Escape cancels.
type nameField struct {
	widget.Entry
	onCancel func()
}

func newNameField() *nameField {
	f := &nameField{}
	f.ExtendBaseWidget(f)
	return f
}

// TypedKey implements fyne.Focusable.
func (f *nameField) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyEscape {
		f.onCancel()
		return
	}
	f.Entry.TypedKey(e)
}

// fieldLayout gives a name's field the width of most names.
type fieldLayout struct{}

func (fieldLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(240, o[0].MinSize().Height)
}

func (fieldLayout) Layout(o []fyne.CanvasObject, size fyne.Size) { o[0].Resize(size) }
