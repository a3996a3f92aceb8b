package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// PassShortcut gives a shortcut that a text field does not use to its window: the toolkit asks the focused field alone, so without this
// the window's keys would be dead while somebody types.
func PassShortcut(o fyne.CanvasObject, s fyne.Shortcut) {
	if _, ok := s.(*desktop.CustomShortcut); !ok {
		return
	}
	if c, ok := fyne.CurrentApp().Driver().CanvasForObject(o).(fyne.Shortcutable); ok {
		c.TypedShortcut(s)
	}
}

// PassKey gives a key that a widget does not use to its window.
func PassKey(o fyne.CanvasObject, e *fyne.KeyEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil && c.OnTypedKey() != nil {
		c.OnTypedKey()(e)
	}
}
