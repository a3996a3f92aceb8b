package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/style"
)

// ShowMenu opens a menu below an object, or above it if there is more space.
func ShowMenu(o fyne.CanvasObject, items []*fyne.MenuItem) {
	c := fyne.CurrentApp().Driver().CanvasForObject(o)
	if c == nil || len(items) == 0 {
		return
	}
	fitMenu(items, c)
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
	height := menuSize(items).Height
	y := at.Y + o.Size().Height + 4
	if y+height > c.Size().Height && at.Y-height-4 >= 0 {
		y = at.Y - height - 4
	}
	showPopupMenu(items, c, fyne.NewPos(at.X, y))
}

// NewMenuButton creates a button that opens a menu; menu is called each time it opens.
func NewMenuButton(text, icon string, menu func() []*fyne.MenuItem) *Button {
	b := NewButton(text, icon, nil)
	b.TrailingIcon = "down"
	b.OnTap = func() { ShowMenu(b, menu()) }
	return b
}

// ShowMenuAt opens a menu at a position of o's canvas.
func ShowMenuAt(o fyne.CanvasObject, at fyne.Position, items []*fyne.MenuItem) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil && len(items) > 0 {
		fitMenu(items, c)
		showPopupMenu(items, c, at)
	}
}

// maxLabelWidth is that of a menu's labels, menuMargin what the rest of the menu needs.
const (
	maxLabelWidth = 420
	menuMargin    = 96
)

// fitMenu shortens the labels of a menu to its window.
func fitMenu(items []*fyne.MenuItem, c fyne.Canvas) {
	truncateLabels(items, min(maxLabelWidth*style.Size("text")/14, c.Size().Width-menuMargin))
}

// keyNames are the names of keys that differ from Fyne's.
var keyNames = map[fyne.KeyName]string{
	fyne.KeyReturn: "Enter", fyne.KeyDelete: "Del", fyne.KeyDown: "↓", fyne.KeyUp: "↑", fyne.KeyLeft: "←", fyne.KeyRight: "→", fyne.KeySlash: "/", fyne.KeyPageDown: "Page Down", fyne.KeyPageUp: "Page Up", fyne.KeyBackspace: "Backspace",
}

// KeyName returns the displayed name of a shortcut, such as "Ctrl Shift F" or "F2"; empty for none.
func KeyName(s fyne.Shortcut) string {
	k, ok := s.(fyne.KeyboardShortcut)
	if !ok {
		return ""
	}
	name := string(k.Key())
	if own, ok := keyNames[k.Key()]; ok {
		name = own
	}
	mods := k.Mod()
	if mods&fyne.KeyModifierShortcutDefault != 0 {
		return ShortcutName(name, mods&fyne.KeyModifierShift != 0)
	}
	for _, m := range []struct {
		mod  fyne.KeyModifier
		name string
	}{{fyne.KeyModifierShift, "Shift "}, {fyne.KeyModifierAlt, "Alt "}} {
		if mods&m.mod != 0 {
			name = m.name + name
		}
	}
	return name
}

func truncateLabels(items []*fyne.MenuItem, width float32) {
	size := style.Size("text")
	for _, i := range items {
		if MeasureText(i.Label, size, fyne.TextStyle{}).Width > width {
			i.Label = truncate(i.Label, width, size, fyne.TextStyle{})
		}
		if i.ChildMenu != nil {
			truncateLabels(i.ChildMenu.Items, width)
		}
	}
}

// ShortcutName returns the displayed name of a shortcut with Ctrl: "Ctrl N", on macOS "⌘N".
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

// KeyText describes a key that a view handles itself, for the sheet of shortcuts.
type KeyText struct{ Keys, Text string }

// PassShortcut passes an unused shortcut of the focused object to its window: Fyne calls only that
// object.
func PassShortcut(o fyne.CanvasObject, s fyne.Shortcut) {
	switch s.(type) {
	case *desktop.CustomShortcut, *fyne.ShortcutUndo:
	default:
		return
	}
	if c, ok := canvasOfFocused(o).(fyne.Shortcutable); ok {
		c.TypedShortcut(s)
	}
}

// PassKey passes a key that the focused object does not use to its window.
func PassKey(o fyne.CanvasObject, e *fyne.KeyEvent) {
	if c := canvasOfFocused(o); c != nil && c.OnTypedKey() != nil {
		c.OnTypedKey()(e)
	}
}

// canvasOfFocused returns the canvas of the focused object. Fyne knows the canvas only of what it
// has painted within the last minute: not of a field that was replaced, nor of a list that was
// never in view.
func canvasOfFocused(o fyne.CanvasObject) fyne.Canvas {
	d := fyne.CurrentApp().Driver()
	for _, w := range d.AllWindows() {
		if f := w.Canvas().Focused(); f != nil && any(f) == any(o) {
			return w.Canvas()
		}
	}
	return d.CanvasForObject(o)
}
