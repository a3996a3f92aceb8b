package approve

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/gateway/protocol"
)

// chord is Ctrl+Shift+Enter, which allows.
func (d *Dialog) chord(fyne.Shortcut) { d.permit(protocol.ScopeOnce) }

// chordWord is how a person reads it.
func chordWord() string {
	if fyne.KeyModifierShortcutDefault == fyne.KeyModifierSuper {
		return "⌘⇧Enter"
	}
	return "Ctrl+Shift+Enter"
}

func (d *Dialog) typed(e *fyne.KeyEvent) { d.key(e.Name) }

// key notes every key, whatever has the focus, and reports whether nobody else may use it. Escape denies; Enter and Space never allow,
// even with Allow in focus. What a person was typing elsewhere when the question appeared does nothing at all.
func (d *Dialog) key(name fyne.KeyName) (used bool) {
	switch name {
	case desktop.KeyShiftLeft, desktop.KeyShiftRight, desktop.KeyControlLeft, desktop.KeyControlRight, desktop.KeyAltLeft, desktop.KeyAltRight,
		desktop.KeySuperLeft, desktop.KeySuperRight:
		return false // half of a shortcut
	}
	now := d.clock()
	meant := d.arm.Deliberate(now)
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
	case name == fyne.KeyReturn || name == fyne.KeyEnter || name == fyne.KeySpace:
		allows := focused == fyne.Focusable(d.allow.Main) || focused == fyne.Focusable(d.allow.More)
		if allows && meant && d.step == asking {
			d.say("A key alone does not allow. " + chordWord() + " allows once.")
		}
		return !meant || allows || focused == fyne.Focusable(d.confirm)
	}
	return false
}

// reasonEntry is a field that gives its dialog the keys it does not use.
type reasonEntry struct {
	widget.Entry
	onKey  func(fyne.KeyName) bool
	onType func() // any key
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

// TypedRune implements fyne.Focusable.
func (e *reasonEntry) TypedRune(r rune) {
	e.onType()
	e.Entry.TypedRune(r)
}
