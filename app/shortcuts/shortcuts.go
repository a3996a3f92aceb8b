// Package shortcuts are the keys of windows: what they do, and the page that lists them.
package shortcuts

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/widgets"
)

// Binding is a key with its modifiers, and what it does. The windows register their keys from lists
// of bindings, and the page of shortcuts shows the same lists.
type Binding struct {
	Group, Text string
	Key         fyne.KeyName
	Mod         Modifier
	Do          func()
}

// Groups of keys that several windows have.
const (
	Program = "Program"
	Chats   = "Chats"
)

// Modifier are the keys that are held with a key.
type Modifier int

const (
	Ctrl Modifier = iota // Command on macOS
	CtrlShift
	AltShift
)

func (m Modifier) keys() fyne.KeyModifier {
	switch m {
	case CtrlShift:
		return fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift
	case AltShift:
		return fyne.KeyModifierAlt | fyne.KeyModifierShift
	}
	return fyne.KeyModifierShortcutDefault
}

func (b Binding) shortcut() fyne.KeyboardShortcut {
	return &desktop.CustomShortcut{KeyName: b.Key, Modifier: b.Mod.keys()}
}

// Name is the key as the page shows it, such as "Ctrl Shift F".
func (b Binding) Name() string { return widgets.KeyName(b.shortcut()) }

// Register makes a window obey the bindings.
func Register(w fyne.Window, list []Binding) {
	for _, b := range list {
		var s fyne.Shortcut = b.shortcut()
		if b.Key == fyne.KeyZ && b.Mod == Ctrl {
			s = &fyne.ShortcutUndo{} // the toolkit reports this key by its meaning
		}
		w.Canvas().AddShortcut(s, func(fyne.Shortcut) { b.Do() })
	}
}

// Add makes a window obey a key with Ctrl (Command on macOS).
func Add(w fyne.Window, key fyne.KeyName, f func()) {
	Register(w, []Binding{{Key: key, Do: f}})
}
