package approve

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// chord handles Ctrl+Shift+Enter, which performs Allow or the current step.
func (d *Dialog) chord(fyne.Shortcut) {
	switch {
	case d.step == asking:
		d.permit(d.scope)
	case !d.confirm.Disabled():
		d.done()
	}
}

// byKeys opens the menu beside Allow by keyboard.
func (d *Dialog) byKeys() {
	d.keyed = true
	d.allow.Open()
	d.keyed = false
}

// further sets the scope of Allow that was chosen by keyboard, and shows it; Ctrl+Shift+Enter then
// allows.
func (d *Dialog) further(scope string) {
	d.scope = scope
	d.nameButtons(d.Current())
	d.say(state.ScopeWords(d.Current(), scope) + ". Press " + chordWord() + " to allow.")
	d.turns++ // the effect of Allow changed
	d.rearm()
}

// chordWord is the displayed name of the shortcut.
func chordWord() string {
	if fyne.KeyModifierShortcutDefault == fyne.KeyModifierSuper {
		return "⌘⇧Enter"
	}
	return "Ctrl+Shift+Enter"
}

func (d *Dialog) typed(e *fyne.KeyEvent) { d.key(e.Name) }

// key handles every key press, whatever has the focus, and reports whether it was consumed. Escape
// denies; Enter and Space never allow, even with the focus on Allow. Keys that the person was
// typing elsewhere when the question appeared do nothing.
func (d *Dialog) key(name fyne.KeyName) (used bool) {
	switch name {
	case desktop.KeyShiftLeft, desktop.KeyShiftRight, desktop.KeyControlLeft, desktop.KeyControlRight, desktop.KeyAltLeft, desktop.KeyAltRight,
		desktop.KeySuperLeft, desktop.KeySuperRight:
		return false // a modifier key
	}
	now := d.clock()
	meant := d.arm.Deliberate(now)
	armed, _ := d.arm.Armed(now)
	d.arm.Key(now)
	focused := d.canvas.Focused()
	switch {
	case d.step != asking && name == fyne.KeyEscape:
		if meant {
			d.back()
		}
		return true
	case focused == fyne.Focusable(d.reasonEntry) && name != fyne.KeyEscape:
		return false
	case d.step == editing && d.editor != nil && focused == fyne.Focusable(d.editor):
		return false
	case name == fyne.KeyEscape && meant:
		d.refuse()
		return true
	case focused == fyne.Focusable(d.allow.More) && (name == fyne.KeyDown || pressing(name)):
		if meant && armed && d.step == asking {
			d.byKeys()
		}
		return true
	case pressing(name):
		allows := focused == fyne.Focusable(d.allow.Main)
		if allows && meant && d.step == asking {
			d.say("Press " + chordWord() + " to allow" + map[bool]string{true: " once"}[d.scope == protocol.ScopeOnce] + ".")
		}
		if focused == fyne.Focusable(d.confirm) && meant {
			d.say("Press " + chordWord() + " to allow.")
			allows = true
		}
		return !meant || allows
	}
	return false
}

// pressing reports whether a key presses a button.
func pressing(name fyne.KeyName) bool {
	return name == fyne.KeyReturn || name == fyne.KeyEnter || name == fyne.KeySpace
}

// reasonEntry is a field that passes unused keys to its dialog.
type reasonEntry struct {
	widget.Entry
	onKey  func(fyne.KeyName) bool
	onType func() // called for every key
	chords bool   // passes unused shortcuts to the window
}

func newReasonEntry(onKey func(fyne.KeyName) bool) *reasonEntry {
	e := &reasonEntry{onKey: onKey}
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey implements fyne.Focusable.
func (e *reasonEntry) TypedKey(k *fyne.KeyEvent) {
	if k.Name != fyne.KeyEscape {
		e.onType()
	}
	if k.Name != fyne.KeyEscape || !e.onKey(k.Name) {
		e.Entry.TypedKey(k)
	}
}

// AcceptsTab implements fyne.Tabbable: Tab moves on to the buttons, also from a command.
func (e *reasonEntry) AcceptsTab() bool { return false }

// TypedShortcut implements fyne.Shortcutable.
func (e *reasonEntry) TypedShortcut(s fyne.Shortcut) {
	e.Entry.TypedShortcut(s)
	if e.chords {
		widgets.PassShortcut(e, s)
	}
}

// TypedRune implements fyne.Focusable.
func (e *reasonEntry) TypedRune(r rune) {
	e.onType()
	e.Entry.TypedRune(r)
}
