package inbox

import (
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/question"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// keys handles the keyboard, whatever has the focus.
type keys struct {
	d          *Dialog
	openedMenu bool // the menu beside Allow is being opened by a key
}

// allow handles Ctrl+Shift+Enter, which performs Allow or the current step. It does not allow from a
// reason to deny.
func (k *keys) allow(fyne.Shortcut) {
	switch {
	case k.d.frame.reasonRow.Visible():
		k.d.frame.setNotice("To allow instead, press Esc, then " + allowKeys() + ".")
	case k.d.step == nil:
		k.d.allow(k.d.options.scope)
	case !k.d.frame.confirm.Disabled():
		k.d.finishStep()
	}
}

func (k *keys) openMenu() {
	k.openedMenu = true
	k.d.frame.allow.Open()
	k.openedMenu = false
}

// allowKeys is the displayed name of the shortcut that allows.
func allowKeys() string {
	if fyne.KeyModifierShortcutDefault == fyne.KeyModifierSuper {
		return "⌘⇧Enter"
	}
	return "Ctrl+Shift+Enter"
}

// handle handles a key press, and reports whether it was consumed. Escape closes; Enter and Space
// never allow, even with the focus on Allow. Keys that the person was typing elsewhere when the
// question appeared do nothing.
func (k *keys) handle(name fyne.KeyName) (consumed bool) {
	if isModifier(name) {
		return false
	}
	d := k.d
	deliberate, armed := d.arming.Deliberate(d.arming.now()), d.isArmed()
	d.arming.keyPressed()
	focused := d.canvas.Focused()
	switch {
	case d.step != nil && name == fyne.KeyEscape:
		if deliberate {
			d.show(d.queue.index)
		}
		return true
	case d.frame.reasonRow.Visible() && name == fyne.KeyEscape:
		d.frame.hideReason()
		return true
	case focused == fyne.Focusable(d.frame.reason):
		return false
	case k.isEditing(focused):
		return false
	case name == fyne.KeyEscape && deliberate:
		d.Close()
		return true
	case focused == fyne.Focusable(d.frame.allow.More) && (name == fyne.KeyDown || pressesButton(name)):
		if deliberate && armed && d.step == nil {
			k.openMenu()
		}
		return true
	case pressesButton(name):
		return k.press(focused, deliberate)
	}
	return false
}

func (k *keys) isEditing(focused fyne.Focusable) bool {
	e, ok := k.d.step.(*editStep)
	return ok && focused == fyne.Focusable(e.entry)
}

// press handles a key that presses the focused button, and reports whether it must not do so.
func (k *keys) press(focused fyne.Focusable, deliberate bool) (consumed bool) {
	d := k.d
	allows := focused == fyne.Focusable(d.frame.allow.Main)
	if allows && deliberate && d.step == nil {
		once := widgets.Choose(d.options.scope == protocol.ScopeOnce && !hasOwnVerb(d.Current()), " once", "")
		d.frame.setNotice("Press " + allowKeys() + " to " + strings.ToLower(d.subject.allowText()) + once + ".")
	}
	if focused == fyne.Focusable(d.frame.confirm) && deliberate {
		d.frame.setNotice("Press " + allowKeys() + " to allow.")
		allows = true
	}
	return !deliberate || allows
}

func isModifier(name fyne.KeyName) bool {
	switch name {
	case desktop.KeyShiftLeft, desktop.KeyShiftRight, desktop.KeyControlLeft, desktop.KeyControlRight,
		desktop.KeyAltLeft, desktop.KeyAltRight, desktop.KeySuperLeft, desktop.KeySuperRight:
		return true
	}
	return false
}

func pressesButton(name fyne.KeyName) bool {
	return name == fyne.KeyReturn || name == fyne.KeyEnter || name == fyne.KeySpace
}

// textEntry is a field that passes unused keys to its dialog.
type textEntry struct {
	widgets.Entry
	onKey  func(fyne.KeyName) bool
	onType func() // called for every key
}

func newTextEntry(onKey func(fyne.KeyName) bool, onType func()) *textEntry {
	e := &textEntry{onKey: onKey, onType: onType}
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey implements fyne.Focusable.
func (e *textEntry) TypedKey(k *fyne.KeyEvent) {
	if k.Name != fyne.KeyEscape {
		e.onType()
	}
	if k.Name != fyne.KeyEscape || !e.onKey(k.Name) {
		e.Entry.Entry.TypedKey(k)
	}
}

// TypedRune implements fyne.Focusable.
func (e *textEntry) TypedRune(r rune) {
	e.onType()
	e.Entry.TypedRune(r)
}

// arming decides when Allow is enabled, and reports each question once as shown.
type arming struct {
	question.Arming
	now      func() time.Time
	onScreen bool // the window is visible
	revision int  // number of changes of what Allow would do
	reported map[protocol.QuestionID]bool
	onShown  func(protocol.QuestionID)
}

// begin starts the time during which a question must be visible.
func (a *arming) begin(q protocol.Question) {
	if q.ID == "" || !a.onScreen {
		return
	}
	a.Show(fmt.Sprint(q.ID, q.Hash, a.revision), a.now())
	if !a.reported[q.ID] {
		a.reported[q.ID] = true
		a.onShown(q.ID)
	}
}

// isArmed reports whether an allow counts now.
func (a *arming) isArmed() bool { return a.IsArmed(a.now()) }

// checkRead records when the end of the text is in view.
func (a *arming) checkRead(f *frame) {
	if f.atEnd() {
		a.Read()
	}
}

// keyPressed delays Allow: a key press may be meant for something else.
func (a *arming) keyPressed() { a.Key(a.now()) }
