package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// ShortcutName returns the displayed name of a shortcut with Ctrl, and with Shift if shift is set:
// "Ctrl N", on macOS "⌘N".
func ShortcutName(key string, shift bool) string {
	switch mac := fyne.KeyModifierShortcutDefault == fyne.KeyModifierSuper; {
	case mac && shift:
		return "⇧⌘" + key
	case mac:
		return "⌘" + key
	case shift:
		return "Ctrl Shift " + key
	}
	return "Ctrl " + key
}

// PassShortcut passes a shortcut that a text field does not use to its window. Fyne calls only the
// focused field, so without this the window's shortcuts would not work while somebody types.
func PassShortcut(o fyne.CanvasObject, s fyne.Shortcut) {
	if _, ok := s.(*desktop.CustomShortcut); !ok {
		return
	}
	if c, ok := fyne.CurrentApp().Driver().CanvasForObject(o).(fyne.Shortcutable); ok {
		c.TypedShortcut(s)
	}
}

// PassKey passes a key that a widget does not use to its window.
func PassKey(o fyne.CanvasObject, e *fyne.KeyEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil && c.OnTypedKey() != nil {
		c.OnTypedKey()(e)
	}
}
