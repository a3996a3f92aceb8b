package inbox

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// answerer does with questions what the person decides.
type answerer interface {
	Answer([]protocol.Question, protocol.QuestionAnswerParams)
	Snooze(...protocol.Question)
	Unsnooze(...protocol.Question)
	MarkShown(id protocol.QuestionID, surface string)
}

// Dialog is the content of the window. It belongs to the GUI thread.
type Dialog struct {
	// Box is what the window shows: a container, because reading aids look into no widget.
	Box fyne.CanvasObject

	answerer answerer
	env      host.Env
	canvas   fyne.Canvas
	// try finds the earlier calls that a rule would have decided differently.
	try    func(policy json.RawMessage, done func(protocol.RuleTryResult, error))
	title  func(string)    // sets the window's title
	resize func(fyne.Size) // gives the window the size of its content

	view    feed.View
	queue   queue
	arming  arming
	keys    keys
	frame   *frame
	subject subject  // of the current question
	options *options // of the current question

	allowText string // of the button, once it can be pressed

	textSize float32 // with which the content was laid out

	step step // nil while the question is shown
}

// NewDialog creates a dialog for a window. Its work ends with ctx.
func NewDialog(ctx context.Context, e host.Env, w fyne.Window) *Dialog {
	d := &Dialog{answerer: NewModel(e.Feed), env: e, canvas: w.Canvas(), title: w.SetTitle, resize: w.Resize, options: &options{}, textSize: style.Size("text")}
	d.try = func(policy json.RawMessage, done func(protocol.RuleTryResult, error)) {
		bind.Go(ctx, func(ctx context.Context) (protocol.RuleTryResult, error) { return feed.TryRule(ctx, e.Feed, policy) }, done)
	}
	d.arming = arming{now: time.Now, reported: make(map[protocol.QuestionID]bool), onShown: func(id protocol.QuestionID) { d.answerer.MarkShown(id, "") }}
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
		explain: func(hovered bool) { // why the button under the mouse waits, if it does
			verb := d.subject.allowText()
			if d.step != nil {
				_, verb = d.step.confirm()
			}
			waits := hovered && d.arming.WaitingText(d.arming.now(), verb) != ""
			d.frame.explain(widgets.Choose(waits, verb, ""))
		},
	}), d.canvas)
	d.frame.onResize = func(size fyne.Size) {
		if d.arming.onScreen {
			d.resize(size)
		}
	}
	d.frame.scroll.OnScrolled = func(fyne.Position) { d.arming.checkRead(d.frame) }
	d.Box = d.frame.box
	d.canvas.SetOnTypedKey(func(e *fyne.KeyEvent) { d.keys.handle(e.Name) })
	d.canvas.SetOnTypedRune(func(rune) { d.arming.keyPressed() })
	d.canvas.AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift}, d.keys.allow)
	return d
}

// ShowAbove shows an object above the question, such as a bar in the colour of another computer.
func (d *Dialog) ShowAbove(o fyne.CanvasObject) { d.frame.showAbove(o) }

// Best returns the size that fits the current question within limits; larger content scrolls.
func (d *Dialog) Best() fyne.Size {
	d.frame.given = d.frame.best()
	return d.frame.given
}

// Current returns the question that is shown, or the zero value.
func (d *Dialog) Current() protocol.Question { return d.queue.current() }

// Update sets the questions to answer, of a view. The dialog keeps showing its current question while
// that is pending, except that one with a time limit comes before one without. empty reports that
// none is left and the window may close.
func (d *Dialog) Update(open []protocol.Question, v feed.View) (empty bool) {
	shown := d.Current()
	wasLost := d.view.Status.IsLost()
	d.queue.list, d.view = open, v
	if len(open) == 0 {
		d.arming.Hide()
		return true
	}
	if wasLost != v.Status.IsLost() {
		d.frame.setNotice(d.connectionNotice())
		d.rearm()
	}
	i := d.queue.indexOf(shown.ID)
	switch {
	case i < 0:
		d.show(min(d.queue.index, len(open)-1))
		for _, c := range v.Questions.Closed {
			if c.ID == shown.ID && shown.ID != "" && !c.AnsweredHere {
				d.frame.setNotice("The previous question " + question.EndText(c.Question) + ".")
			}
		}
	case open[i].Hash != shown.Hash:
		d.show(i)
		d.frame.setNotice("The request changed. Please review it again.")
	case open[0].ExpiresAt > 0 && shown.ExpiresAt == 0 && !shown.IsOfCall():
		d.show(0)
	default:
		d.queue.index = i
		d.frame.position.SetText(d.queue.position())
		widgets.SetVisible(d.frame.next, len(open) > 1)
		if d.options.setOthers(len(d.queue.identical()) - 1) {
			d.choicesChanged()
		}
	}
	return false
}

// Select shows a question, and reports whether it is among those of the dialog. together selects that
// the answer applies to all identical ones; it answers nothing.
func (d *Dialog) Select(id protocol.QuestionID, together bool) bool {
	i := d.queue.indexOf(id)
	if i >= 0 && i != d.queue.index {
		d.show(i)
	}
	if i >= 0 && together && d.step == nil && d.options.identical != nil && d.options.others > 0 {
		d.options.identical.SetChecked(true)
	}
	return i >= 0
}

func (d *Dialog) show(index int) {
	if len(d.queue.list) == 0 {
		return
	}
	d.queue.index = (index + len(d.queue.list)) % len(d.queue.list)
	q, f := d.Current(), d.frame
	title := question.WordsOf(q, d.view, d.arming.now()).Title
	f.title.Set(title, style.ColorText)
	d.title(title)
	f.position.SetText(d.queue.position())
	widgets.SetVisible(f.next, len(d.queue.list) > 1)
	d.step = nil
	d.subject = subjectOf(q, place{Env: d.env, view: d.view, now: d.arming.now(), onChange: d.choicesChanged, onKey: d.keys.handle, onScroll: f.scroll.Scrolled})
	d.options = &options{approval: q}
	if o := d.subject.options; o != nil {
		o.others = len(d.queue.identical()) - 1
		o.showIdentical()
		d.options = o
	}
	f.wide = q.Preview != nil && q.Preview.Diff != ""
	f.setContent(widgets.Col(style.Inside, d.subject.rows...))
	f.reason.SetText("")
	f.setNotice(d.connectionNotice())
	f.questionRow.Show()
	f.stepRow.Hide()
	f.showReason(false)
	_, _, editable := question.Editable(q)
	widgets.SetVisible(f.edit, editable)
	widgets.SetVisible(f.denyWithReason, q.IsOfCall() && !display.IsKeep(q)) // otherwise no agent waits for it
	widgets.SetVisible(f.allow.More, len(q.Choices) > 1)
	widgets.SetVisible(f.allow, !d.subject.noAnswer)
	widgets.SetVisible(f.deny, !d.subject.noAnswer)
	d.nameButtons()
	d.rearm()
	f.focus(widgets.Choose(d.subject.noAnswer, f.notNow, f.deny))
	f.fit()
}

// Close answers the current question as its kind says when the person closes the window.
func (d *Dialog) Close() {
	switch decision := question.KindOf(d.Current()).Close; decision {
	case "":
		d.snooze()
	case protocol.DecisionDeny:
		d.Deny()
	default:
		d.give(protocol.QuestionAnswerParams{Decision: decision})
	}
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
	armed, isLost := d.isArmed(), d.view.Status.IsLost()
	widgets.SetEnabled(d.frame.allow, armed && d.subject.canAllow() && d.step == nil)
	widgets.SetEnabled(d.frame.deny, !isLost)
	widgets.SetEnabled(d.frame.denyForReason, !isLost)
	d.frame.allow.Main.SetText(cmp.Or(d.arming.WaitingText(now, d.subject.allowText()), d.allowText))
	widgets.SetEnabled(d.frame.confirm, armed && d.step != nil && d.step.isReady())
	if d.step != nil {
		text, waiting := d.step.confirm()
		d.frame.confirm.SetText(cmp.Or(d.arming.WaitingText(now, waiting), text))
	}
	if f := d.frame; f.hint.Visible() && armed {
		f.hint.Hide()
	}
	d.frame.timeLeft.SetText(wording.TimeLeft(q.ExpiresAt, now))
}

// isArmed reports whether an allow counts now.
func (d *Dialog) isArmed() bool { return d.arming.isArmed() && !d.view.Status.IsLost() }

// connectionNotice says why nothing can be answered; empty if it can.
func (d *Dialog) connectionNotice() string {
	return widgets.Choose(d.view.Status.IsLost(), notConnected+" You can answer when it is connected again.", "")
}

// notConnected is said where a question cannot be answered.
const notConnected = "Not connected to the gateway."

// rearm starts arming again, so that the person looks again before allowing.
func (d *Dialog) rearm() {
	d.arming.Hide()
	d.arming.begin(d.Current())
	d.Tick(d.arming.now())
	d.frame.box.Refresh()
}
