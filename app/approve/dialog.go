// Package approve is the approval dialog: it shows a pending tool call, where it would run and why
// it needs an approval, and takes the person's answer.
//
// Deny has the focus, and Escape and closing the window deny. Allow is enabled only after the
// person has seen the question (state.Arming), and the Enter key never allows. An approval that was
// answered elsewhere shows that and closes.
package approve

import (
	"encoding/json"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Handlers are the dialog's callbacks, called on the GUI thread.
type Handlers struct {
	// Answer gives the same answer to an approval, or to several identical ones.
	Answer func(list []protocol.Approval, r state.Reply)
	Shown  func(protocol.ApprovalID)
	// Snooze snoozes an approval; nil hides the button.
	Snooze func(q protocol.Approval)
	// Try finds the earlier calls that a rule would have decided differently, and calls done on the
	// GUI thread. Without it there is no preview.
	Try func(policy json.RawMessage, done func(protocol.RuleTryResult, error))
	// Grow enlarges the window when its content needs more space.
	Grow func(fyne.Size)
	// Copy copies a text to the clipboard.
	Copy func(string)
}

// Dialog is the content of the window. It belongs to the GUI thread.
type Dialog struct {
	widget.BaseWidget
	h        Handlers
	machines *style.Machines
	canvas   fyne.Canvas

	queue []protocol.Approval
	at    int // index in queue
	arm   state.Arming
	clock func() time.Time
	shown map[protocol.ApprovalID]bool // reported to the gateway as shown
	front bool                         // the window is visible

	title, left, place *widgets.Text
	note               *widgets.Text // how the previous approval ended
	noteRow            *fyne.Container
	body               *fyne.Container
	scroll             *container.Scroll
	deny               *widgets.Button
	reason             *widgets.Button
	allow              *widgets.SplitButton
	next               *widgets.Button
	later              *widgets.Button // Not now
	modify             *widgets.Button // Edit…
	foot, stepFoot     *fyne.Container // buttons of the approval and of a step
	leave, confirm     *widgets.Button // in stepFoot
	progress           *canvas.Rectangle
	reasonEntry        *reasonEntry
	reasonRow          *fyne.Container
	head, bottom       *fyne.Container // fixed content above and below the scrolled content
	box                fyne.CanvasObject

	step    step
	scope   string // scope of Allow; the menu beside it offers more
	keyed   bool   // the menu was opened by a key
	turns   int    // number of changes of what Allow would do
	keep    []bool // hunks to allow; nil if the change is all or nothing
	network *keyCheck
	opens   []*keyCheck // one for each folder that the call needs
	also    *keyCheck
	others  int // number of other identical approvals
	rule    ruleStep
	editor  *reasonEntry
}

// New creates a dialog for a window's canvas.
func New(h Handlers, machines *style.Machines, c fyne.Canvas) *Dialog {
	d := &Dialog{h: h, machines: machines, canvas: c, shown: make(map[protocol.ApprovalID]bool), clock: time.Now}
	d.title = widgets.NewHeading("", style.SizeTitle)
	d.left, d.place = widgets.NewText("", style.ColorMuted, style.SizeSmall), widgets.NewText("", style.ColorMuted, style.SizeSmall)
	d.note = widgets.NewText("", style.ColorNeedsYou, style.SizeSmall)
	d.note.Ellipsis = true
	d.body = container.NewStack()
	d.scroll = container.NewVScroll(d.body)
	d.scroll.OnScrolled = func(fyne.Position) { d.look() }
	d.deny = widgets.NewButton("Deny", "denied", func() { d.refuse() })
	d.deny.Danger = true
	d.reason = widgets.NewQuiet("Deny with reason…", "", d.askReason)
	d.allow = widgets.NewSplitButton("Allow once", true, func() { d.permit(d.scope) }, d.scopes)
	d.next = widgets.NewQuiet("Next", "right", func() { d.show(d.at + 1) })
	d.later = widgets.NewQuiet("Not now", "clock", d.snooze)
	d.modify = widgets.NewQuiet("Edit…", "", d.edit)
	d.leave = widgets.NewButton("Back", "back", d.back)
	d.confirm = widgets.NewButton("", "", d.done)
	d.confirm.Primary = true
	d.progress = canvas.NewRectangle(style.Color(style.ColorAccent))
	for _, b := range []*widgets.Button{d.deny, d.reason, d.allow.Main, d.allow.More, d.next, d.later, d.modify, d.leave, d.confirm} {
		b.OnKey = d.key
	}
	d.reasonEntry = newReasonEntry(d.key)
	d.reasonEntry.onType = func() { d.arm.Key(d.clock()) }
	d.reasonEntry.SetPlaceHolder("Reason for the agent (optional)")
	d.reasonEntry.OnSubmitted = func(string) { d.refuse() }
	sendReason := widgets.NewButton("Deny", "", func() { d.refuse() })
	d.reasonRow = widgets.Border(nil, nil, nil, sendReason, d.reasonEntry)
	d.reasonRow.Hide()
	d.box = d.layout()
	d.ExtendBaseWidget(d)
	c.SetOnTypedKey(d.typed)
	c.SetOnTypedRune(func(rune) { d.arm.Key(d.clock()) })
	c.AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift}, d.chord)
	return d
}

// CreateRenderer implements fyne.Widget.
func (d *Dialog) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(d.box) }

// Update sets the pending approvals and the recently closed ones. The dialog keeps showing its
// current approval while that is pending. empty reports that none is left and the window may close.
func (d *Dialog) Update(open []protocol.Approval, closed []state.Closed) (empty bool) {
	present := d.Current()
	d.queue = open
	if len(open) == 0 {
		d.arm.Hide()
		return true
	}
	for i, q := range open {
		if q.ID != present.ID {
			continue
		}
		d.at = i
		if q.Hash != present.Hash {
			d.show(i)
			d.say("The request changed. Please review it again.")
			return false
		}
		d.place.SetText(d.placeText())
		setShown(d.next, len(open) > 1)
		d.followAlike()
		return false
	}
	d.show(min(d.at, len(open)-1))
	for _, c := range closed {
		if c.ID == present.ID && present.ID != "" && !c.Here {
			d.say("The previous approval was answered elsewhere: " + state.Ended(c.Approval) + ".")
		}
	}
	return false
}

// say shows a line above the question.
func (d *Dialog) say(text string) {
	d.note.SetText(text)
	setShown(d.noteRow, text != "")
	d.box.Refresh()
	if text != "" {
		d.grow()
	}
}

// Current returns the approval that is shown, or the zero value.
func (d *Dialog) Current() protocol.Approval {
	if d.at < len(d.queue) {
		return d.queue[d.at]
	}
	return protocol.Approval{}
}

// Select shows an approval.
func (d *Dialog) Select(id protocol.ApprovalID) {
	for i, q := range d.queue {
		if q.ID == id && i != d.at {
			d.show(i)
		}
	}
}

// Close handles the closing of the window: it denies the current approval.
func (d *Dialog) Close() { d.refuse() }

// show shows an approval in the window.
func (d *Dialog) show(at int) {
	if len(d.queue) == 0 {
		return
	}
	d.at = (at + len(d.queue)) % len(d.queue)
	q := d.queue[d.at]
	d.title.SetText(state.QuestionTitle(q))
	d.place.SetText(d.placeText())
	setShown(d.next, len(d.queue) > 1)
	d.scope = protocol.ScopeOnce
	d.step, d.keep, d.network, d.also, d.opens = asking, nil, nil, nil, nil
	d.put(d.content(q))
	d.reasonRow.Hide()
	d.reasonEntry.SetText("")
	d.say("")
	d.foot.Show()
	d.stepFoot.Hide()
	setShown(d.later, d.h.Snooze != nil)
	_, _, editable := state.Editable(q)
	setShown(d.modify, editable)
	setShown(d.allow.More, len(q.Choices) > 1)
	d.nameButtons(q)
	d.allow.Disable()
	d.confirm.Disable()
	d.arm.Hide()
	d.seen()
	d.Tick(d.clock())
	d.canvas.Focus(d.deny)
}

func (d *Dialog) placeText() string {
	if len(d.queue) < 2 {
		return ""
	}
	return fmt.Sprintf("%d of %d", d.at+1, len(d.queue))
}
