// Package approve is the approval dialog and the page of pending approvals. The dialog shows a tool
// call, where it would run and why it needs an approval, and takes the person's answer.
//
// Deny has the focus, and Escape and closing the window deny. Allow is enabled only after the
// person has seen the whole question ([question.Arming]), and the Enter key never allows. An approval
// that was answered elsewhere shows that and closes.
package approve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/feed"
	"fairlead/app/question"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// Handlers are the dialog's callbacks, called on the GUI thread.
type Handlers struct {
	// Answer gives the same answer to an approval, or to several identical ones.
	Answer func(list []protocol.Question, r state.Reply)
	Shown  func(protocol.QuestionID)
	Snooze func(...protocol.Question)
	// Try finds the earlier calls that a rule would have decided differently.
	Try func(policy json.RawMessage, done func(protocol.RuleTryResult, error))
	// Resize gives the window the size of its content.
	Resize func(fyne.Size)
	// Title sets the window's title.
	Title func(string)
	// Copy copies a text to the clipboard.
	Copy func(string)
}

// Dialog is the content of the window. It belongs to the GUI thread.
type Dialog struct {
	widgets.Composite
	handlers Handlers
	machines *style.Machines
	canvas   fyne.Canvas

	queue    queue
	arming   arming
	keys     keys
	frame    *frame
	question *questionView
	options  *options // of the current approval

	allowText string // of the button, once it can be pressed

	hadFocus bool    // something in the window has been given the focus
	textSize float32 // with which the content was laid out

	step step // nil while the question is shown
}

// New creates a dialog for a window's canvas.
func New(h Handlers, machines *style.Machines, c fyne.Canvas) *Dialog {
	d := &Dialog{handlers: h, machines: machines, canvas: c, options: &options{}, textSize: style.Size("text")}
	d.arming = arming{now: time.Now, reported: make(map[protocol.QuestionID]bool), onShown: h.Shown}
	d.keys = keys{d: d}
	d.frame = newFrame(newButtons(actions{
		deny: d.Deny, snooze: d.snooze, next: func() { d.show(d.queue.index + 1) }, back: func() { d.show(d.queue.index) }, confirm: d.finishStep,
		allow: func() { d.allow(d.options.scope) }, scopes: d.scopeMenu, onKey: d.keys.handle, onType: d.arming.keyPressed,
		askReason: func() { d.frame.askReason() }, hideReason: func() { d.frame.hideReason() },
		edit: func() { // the call, before it runs
			if e := newEditStep(d.Current(), d.keys.handle, d.arming.keyPressed); e != nil {
				d.options.isEdited = true
				d.enterStep(e, e.entry)
			}
		},
		explain: func(hovered bool) {
			widgets.SetVisible(d.frame.hint, hovered && d.arming.WaitingText(d.arming.now(), "Allow") != "")
			d.frame.box.Refresh()
		},
	}), c)
	d.frame.onResize = func(size fyne.Size) {
		if d.arming.onScreen {
			h.Resize(size)
		}
	}
	d.frame.scroll.OnScrolled = func(fyne.Position) { d.arming.checkRead(d.frame) }
	d.question = &questionView{machines: machines, copyText: h.Copy, onKey: d.keys.handle, onScroll: d.frame.scroll.Scrolled}
	d.Compose(d, d.frame.box)
	c.SetOnTypedKey(func(e *fyne.KeyEvent) { d.keys.handle(e.Name) })
	c.SetOnTypedRune(func(rune) { d.arming.keyPressed() })
	c.AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift}, d.keys.allow)
	return d
}

// Best returns the size that fits the current approval within limits; larger content scrolls.
func (d *Dialog) Best() fyne.Size {
	d.frame.given = d.frame.best()
	return d.frame.given
}

// Current returns the approval that is shown, or the zero value.
func (d *Dialog) Current() protocol.Question { return d.queue.current() }

// Update sets the pending approvals and the recently closed ones. The dialog keeps showing its
// current approval while that is pending. empty reports that none is left and the window may close.
func (d *Dialog) Update(open []protocol.Question, closed []feed.Closed) (empty bool) {
	shown := d.Current()
	d.queue.list = open
	if len(open) == 0 {
		d.arming.Hide()
		return true
	}
	if i := d.queue.indexOf(shown.ID); i >= 0 {
		d.queue.index = i
		if open[i].Hash != shown.Hash {
			d.show(i)
			d.frame.setNotice("The request changed. Please review it again.")
			return false
		}
		d.frame.position.SetText(d.queue.position())
		widgets.SetVisible(d.frame.next, len(open) > 1)
		if d.options.setOthers(len(d.queue.identical()) - 1) {
			d.optionsChanged()
			d.frame.body.Refresh()
			d.frame.fit()
		}
		return false
	}
	d.show(min(d.queue.index, len(open)-1))
	for _, c := range closed {
		if c.ID == shown.ID && shown.ID != "" && !c.AnsweredHere {
			d.frame.setNotice("The previous approval was answered elsewhere: " + question.OutcomeText(c.Question) + ".")
		}
	}
	return false
}

// Select shows an approval.
func (d *Dialog) Select(id protocol.QuestionID) {
	if i := d.queue.indexOf(id); i >= 0 && i != d.queue.index {
		d.show(i)
	}
}

// TogetherWithAlike selects that the answer applies to all identical approvals; it answers nothing.
func (d *Dialog) TogetherWithAlike() {
	if d.step == nil && d.options.identical != nil && d.options.others > 0 {
		d.options.identical.SetChecked(true)
	}
}

func (d *Dialog) show(index int) {
	if len(d.queue.list) == 0 {
		return
	}
	d.queue.index = (index + len(d.queue.list)) % len(d.queue.list)
	q, f := d.Current(), d.frame
	title := display.QuestionTitle(q, d.machines.Name(string(q.Node)))
	f.title.Set(title, style.ColorText)
	d.handlers.Title(title)
	f.position.SetText(d.queue.position())
	widgets.SetVisible(f.next, len(d.queue.list) > 1)
	d.step = nil
	d.options = &options{
		folders: make(map[int]*keyCheck), placed: make(map[int]bool), approval: q, scope: protocol.ScopeOnce, others: len(d.queue.identical()) - 1,
		onKey: d.keys.handle, onChange: d.optionsChanged,
	}
	f.wide = q.Preview != nil && q.Preview.Diff != ""
	f.setContent(d.question.content(q, d.options))
	f.reason.SetText("")
	f.setNotice("")
	f.questionRow.Show()
	f.stepRow.Hide()
	f.showReason(false)
	_, _, editable := question.Editable(q)
	widgets.SetVisible(f.edit, editable)
	widgets.SetVisible(f.denyWithReason, !display.IsKeep(q)) // the agent does not wait for it
	widgets.SetVisible(f.allow.More, len(q.Choices) > 1)
	d.nameButtons()
	d.rearm()
	d.focus(f.deny)
	f.fit()
}

// focus gives an object the keyboard. While the window does not have the keyboard itself, no ring
// marks the object: another window shows where typing goes.
func (d *Dialog) focus(o fyne.Focusable) {
	b, isButton := d.canvas.Focused().(*widgets.Button)
	d.canvas.Focus(o)
	if !d.hadFocus || isButton && !b.HasKeyboard() { // the window opens without the keyboard
		o.FocusLost()
	}
	d.hadFocus = true
}

// OnScreen sets whether the dialog's window is visible. It opens without the keyboard.
func (d *Dialog) OnScreen(on bool) {
	d.arming.onScreen = on
	if !on {
		d.arming.Hide()
		return
	}
	if o := d.canvas.Focused(); o != nil {
		o.FocusLost() // a change of the window's content has focused it again
	}
	d.arming.begin(d.Current())
	d.Tick(d.arming.now())
}

// Tick passes the time, several times a second while the window is open.
func (d *Dialog) Tick(now time.Time) {
	q := d.Current()
	if q.ID == "" {
		return
	}
	if size := style.Size("text"); size != d.textSize { // larger text may have moved out of view
		d.textSize = size
		d.frame.fit()
		d.rearm()
		return
	}
	d.arming.checkRead(d.frame)
	armed := d.arming.IsArmed(now)
	_, any := d.options.args()
	widgets.SetEnabled(d.frame.allow, armed && any && d.step == nil)
	d.frame.allow.Main.SetText(cmp.Or(d.arming.WaitingText(now, "Allow"), d.allowText))
	widgets.SetEnabled(d.frame.confirm, armed && d.step != nil && d.step.isReady())
	if d.step != nil {
		text, waiting := d.step.confirm()
		d.frame.confirm.SetText(cmp.Or(d.arming.WaitingText(now, waiting), text))
	}
	if f := d.frame; f.hint.Visible() && armed {
		f.hint.Hide()
	}
	d.frame.timeLeft.SetText(timeLeft(q, now))
}

func timeLeft(q protocol.Question, now time.Time) string {
	if q.ExpiresAt == 0 {
		return ""
	}
	left := max(time.UnixMilli(q.ExpiresAt).Sub(now).Round(time.Second), 0)
	return fmt.Sprintf("%d:%02d left", int(left.Minutes()), int(left.Seconds())%60)
}

// rearm starts arming again, so that the person looks again before allowing.
func (d *Dialog) rearm() {
	d.arming.Hide()
	d.arming.begin(d.Current())
	d.Tick(d.arming.now())
	d.frame.box.Refresh()
}
