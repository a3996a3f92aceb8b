package terminal

import (
	"runtime"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/widgets"
)

const isMac = runtime.GOOS == "darwin"

// keyboard sends what the person types to the program.
type keyboard struct {
	owner fyne.CanvasObject // which has the keyboard
	view  *viewport
	copy  func(text string)
}

// send sends input, if there is any.
func (k *keyboard) send(text string) {
	if text != "" {
		k.view.m.Type([]byte(text))
	}
}

func (k *keyboard) setFocus(on bool) {
	k.view.focused = on
	if k.view.modes().FocusEvents {
		k.send(widgets.Choose(on, "\x1b[I", "\x1b[O"))
	}
	k.view.show()
}

// typed sends what a key types, and shows the screen where it appears.
func (k *keyboard) typed(text string) {
	if text != "" {
		k.view.selected = selected{}
		k.view.toBottom()
		k.send(text)
	}
}

func (k *keyboard) key(key fyne.KeyName, m fyne.KeyModifier) {
	_, rows := k.view.fits()
	if m == fyne.KeyModifierShift && !k.view.modes().Alternate {
		if by, ok := map[fyne.KeyName]int{fyne.KeyPageUp: rows - 1, fyne.KeyPageDown: 1 - rows, fyne.KeyHome: 1 << 20, fyne.KeyEnd: -1 << 20}[key]; ok {
			k.view.scrollBy(by)
			return
		}
	}
	k.typed(keyInput(key, m, k.view.modes()))
}

// standard does what the system's key does, or sends the character of Ctrl and a letter.
func (k *keyboard) standard(isSystem bool, do func(), text string) {
	if isSystem || isMac {
		do()
		return
	}
	k.typed(text)
}

func (k *keyboard) chord(s *desktop.CustomShortcut) {
	const ctrlShift = fyne.KeyModifierControl | fyne.KeyModifierShift
	c := fyne.CurrentApp().Driver().CanvasForObject(k.owner)
	switch {
	case s.KeyName == fyne.KeyTab && c != nil && s.Modifier&fyne.KeyModifierShift == 0:
		c.FocusNext()
	case s.KeyName == fyne.KeyTab && c != nil:
		c.FocusPrevious()
	case s.Modifier == ctrlShift && s.KeyName == fyne.KeyC:
		k.copySelected()
	case s.Modifier == ctrlShift && s.KeyName == fyne.KeyV:
		k.paste()
	case s.Modifier&fyne.KeyModifierSuper != 0, s.Modifier == ctrlShift && len(s.KeyName) == 1:
		widgets.PassShortcut(k.owner, s)
	default:
		if text := chordInput(s.KeyName, s.Modifier); text != "" {
			k.typed(text)
			return
		}
		k.key(s.KeyName, s.Modifier)
	}
}

func (k *keyboard) copySelected() {
	if text := k.view.selectedText(); text != "" {
		k.copy(text)
	}
}

func (k *keyboard) paste() {
	k.typed(pasteInput(fyne.CurrentApp().Clipboard().Content(), k.view.modes()))
}

// shortcut carries out a shortcut. Nearly all belong to the program in the terminal; those
// with Ctrl and Shift, or with ⌘, belong to the window.
func (k *keyboard) shortcut(s fyne.Shortcut) {
	switch s := s.(type) {
	case *fyne.ShortcutCopy:
		k.standard(s.Secondary, k.copySelected, "\x03")
	case *fyne.ShortcutPaste:
		k.standard(s.Secondary, k.paste, "\x16")
	case *fyne.ShortcutCut:
		k.standard(s.Secondary, func() { k.key(fyne.KeyDelete, fyne.KeyModifierShift) }, "\x18")
	case *fyne.ShortcutSelectAll:
		k.standard(false, k.view.selectAll, "\x01")
	case *fyne.ShortcutUndo:
		k.standard(false, func() {}, "\x1a")
	case *fyne.ShortcutRedo:
		k.standard(false, func() {}, "\x19")
	case *desktop.CustomShortcut:
		k.chord(s)
	}
}
