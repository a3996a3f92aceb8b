package files

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// nameField renames a file in place: Enter saves, Escape and losing the focus cancel.
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

// FocusLost implements fyne.Focusable.
func (f *nameField) FocusLost() {
	f.Entry.FocusLost()
	f.t.leaveEdit()
}

// TypedKey implements fyne.Focusable.
func (f *nameField) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyEscape {
		f.t.endEdit("")
		return
	}
	f.Entry.TypedKey(e)
}
