// Package approve is the dialog in which a person answers a question: what exactly would happen, where, and why it is asked.
//
// Deny has the focus, and Escape and closing the window deny. Allow is armed only after the question was seen (state.Arming), Enter never
// allows, and a question that was answered elsewhere says so and closes.
package approve

import (
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Size is the dialog's size at its first opening.
var Size = fyne.NewSize(640, 440)

// Handlers are what the dialog calls, on the GUI thread.
type Handlers struct {
	Answer func(q protocol.Approval, decision, scope, reason string)
	Shown  func(protocol.ApprovalID)
}

// Dialog is the content of the window. It belongs to the GUI thread.
type Dialog struct {
	widget.BaseWidget
	h        Handlers
	machines *look.Machines
	canvas   fyne.Canvas

	queue []protocol.Approval
	at    int // in queue
	arm   state.Arming
	now   time.Time
	shown map[protocol.ApprovalID]bool

	title, left, place *widgets.Text
	body               *fyne.Container
	scroll             *container.Scroll
	deny               *widgets.Button
	reason             *widgets.Button
	allow              *widgets.SplitButton
	next               *widgets.Button
	progress           *canvas.Rectangle
	reasonEntry        *reasonEntry
	reasonRow          *fyne.Container
	box                fyne.CanvasObject
}

// New makes a dialog for a window's canvas.
func New(h Handlers, machines *look.Machines, c fyne.Canvas) *Dialog {
	d := &Dialog{h: h, machines: machines, canvas: c, shown: make(map[protocol.ApprovalID]bool), now: time.Now()}
	d.title = widgets.NewHeading("", look.SizeTitle)
	d.left, d.place = widgets.NewText("", look.ColorMuted, look.SizeSmall), widgets.NewText("", look.ColorMuted, look.SizeSmall)
	d.body = container.NewStack()
	d.scroll = container.NewVScroll(d.body)
	d.scroll.OnScrolled = func(fyne.Position) { d.look() }
	d.deny = widgets.NewButton("Deny", "denied", func() { d.answer(protocol.DecisionDeny, "") })
	d.deny.Danger = true
	d.reason = widgets.NewQuiet("Deny with reason…", "", d.askReason)
	d.allow = widgets.NewSplitButton("Allow once", true, func() { d.answer(protocol.DecisionAllow, protocol.ScopeOnce) }, d.scopes)
	d.next = widgets.NewQuiet("Next", "right", func() { d.show(d.at + 1) })
	d.progress = canvas.NewRectangle(look.Color(look.ColorAccent))
	for _, b := range []*widgets.Button{d.deny, d.reason, d.allow.Main, d.allow.More, d.next} {
		b.OnKey = d.key
	}
	d.reasonEntry = newReasonEntry(d.key)
	d.reasonEntry.SetPlaceHolder("Why not? The agent is told.")
	d.reasonEntry.OnSubmitted = func(string) { d.answer(protocol.DecisionDeny, "") }
	sendReason := widgets.NewButton("Deny", "", func() { d.answer(protocol.DecisionDeny, "") })
	d.reasonRow = container.NewBorder(nil, nil, nil, sendReason, d.reasonEntry)
	d.reasonRow.Hide()
	d.box = d.layout()
	d.ExtendBaseWidget(d)
	c.SetOnTypedKey(d.typed)
	c.SetOnTypedRune(func(rune) { d.arm.Key(time.Now()) })
	c.AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift}, func(fyne.Shortcut) {
		if ok, _ := d.arm.Armed(time.Now()); ok {
			d.answer(protocol.DecisionAllow, protocol.ScopeOnce)
		}
	})
	return d
}

// CreateRenderer implements fyne.Widget.
func (d *Dialog) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(d.box) }

// Update gives the dialog the open questions. It stays at the one it shows as long as that is open; empty reports that none is left and
// the window may close.
func (d *Dialog) Update(open []protocol.Approval) (empty bool) {
	present := d.Current()
	d.queue = open
	if len(open) == 0 {
		d.arm.Hide()
		return true
	}
	for i, q := range open {
		if q.ID == present.ID {
			d.at = i
			if q.Hash == present.Hash {
				d.place.SetText(d.placeText())
				setShown(d.next, len(open) > 1)
				return false
			}
		}
	}
	d.show(min(d.at, len(open)-1))
	return false
}

// Current is the question that is shown; the zero value when there is none.
func (d *Dialog) Current() protocol.Approval {
	if d.at < len(d.queue) {
		return d.queue[d.at]
	}
	return protocol.Approval{}
}

// Select shows a question.
func (d *Dialog) Select(id protocol.ApprovalID) {
	for i, q := range d.queue {
		if q.ID == id && i != d.at {
			d.show(i)
		}
	}
}

// Close is what closing the window means: the question that is shown is denied.
func (d *Dialog) Close() { d.answer(protocol.DecisionDeny, "") }

// OnScreen tells the dialog that its window is on the screen, or is not.
func (d *Dialog) OnScreen(on bool) {
	if !on {
		d.arm.Hide()
		return
	}
	d.seen()
}

// Tick tells the time, several times a second while the window is open.
func (d *Dialog) Tick(now time.Time) {
	d.now = now
	q := d.Current()
	if q.ID == "" {
		return
	}
	d.look()
	ok, progress := d.arm.Armed(now)
	if ok {
		d.allow.Enable()
	} else {
		d.allow.Disable()
	}
	d.progress.FillColor = look.Color(look.ColorAccent)
	d.progress.Resize(fyne.NewSize(float32(progress)*d.Size().Width, 2))
	setShown(d.progress, !ok)
	d.left.SetText(timeLeft(q, now))
}

func timeLeft(q protocol.Approval, now time.Time) string {
	if q.ExpiresAt == 0 {
		return ""
	}
	left := time.UnixMilli(q.ExpiresAt).Sub(now).Round(time.Second)
	if left < 0 {
		left = 0
	}
	return fmt.Sprintf("%d:%02d left", int(left.Minutes()), int(left.Seconds())%60)
}

// show puts a question into the window.
func (d *Dialog) show(at int) {
	if len(d.queue) == 0 {
		return
	}
	d.at = (at + len(d.queue)) % len(d.queue)
	q := d.queue[d.at]
	d.title.SetText(state.QuestionTitle(q))
	d.place.SetText(d.placeText())
	setShown(d.next, len(d.queue) > 1)
	d.body.Objects = []fyne.CanvasObject{widgets.Inset(look.Inside, look.Page, look.Inside, look.Page, d.content(q))}
	d.body.Refresh()
	d.scroll.ScrollToTop()
	d.reasonRow.Hide()
	d.reasonEntry.SetText("")
	d.allow.Disable()
	d.arm.Hide()
	d.seen()
	d.Tick(time.Now())
	d.canvas.Focus(d.deny)
}

// seen starts the arming and tells the gateway, once, that the question is on the screen.
func (d *Dialog) seen() {
	q := d.Current()
	if q.ID == "" {
		return
	}
	d.arm.Show(string(q.ID)+q.Hash, time.Now())
	if !d.shown[q.ID] {
		d.shown[q.ID] = true
		d.h.Shown(q.ID)
	}
}

// look notes when the end of the text is in view.
func (d *Dialog) look() {
	if d.scroll.Size().Height > 0 && d.scroll.Offset.Y+d.scroll.Size().Height >= d.body.MinSize().Height-look.Inside {
		d.arm.Read()
	}
}

func (d *Dialog) placeText() string {
	if len(d.queue) < 2 {
		return ""
	}
	return fmt.Sprintf("%d of %d", d.at+1, len(d.queue))
}

func (d *Dialog) typed(e *fyne.KeyEvent) { d.key(e.Name) }

// key notes every key, whatever has the focus. Escape denies; Enter and Space never allow, even with Allow in focus.
func (d *Dialog) key(name fyne.KeyName) (used bool) {
	d.arm.Key(time.Now())
	switch name {
	case fyne.KeyEscape:
		d.answer(protocol.DecisionDeny, "")
		return true
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		focused := d.canvas.Focused()
		return focused == fyne.Focusable(d.allow.Main) || focused == fyne.Focusable(d.allow.More)
	}
	return false
}

// reasonEntry is a field that gives its dialog the keys it does not use.
type reasonEntry struct {
	widget.Entry
	onKey func(fyne.KeyName) bool
}

func newReasonEntry(onKey func(fyne.KeyName) bool) *reasonEntry {
	e := &reasonEntry{onKey: onKey}
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey implements fyne.Focusable.
func (e *reasonEntry) TypedKey(k *fyne.KeyEvent) {
	if k.Name != fyne.KeyEscape || !e.onKey(k.Name) {
		e.Entry.TypedKey(k)
	}
}

func (d *Dialog) askReason() {
	d.reasonRow.Show()
	d.box.Refresh()
	d.canvas.Focus(d.reasonEntry)
}

// answer sends the answer to the question that is shown. An allow that is not armed is no answer.
func (d *Dialog) answer(decision, scope string) {
	q := d.Current()
	if q.ID == "" {
		return
	}
	if decision == protocol.DecisionAllow {
		if ok, _ := d.arm.Armed(time.Now()); !ok {
			return
		}
	}
	reason := ""
	if decision == protocol.DecisionDeny {
		reason = strings.TrimSpace(d.reasonEntry.Text)
	}
	d.queue = append(append([]protocol.Approval(nil), d.queue[:d.at]...), d.queue[d.at+1:]...)
	d.h.Answer(q, decision, scope, reason)
	if len(d.queue) > 0 {
		d.show(min(d.at, len(d.queue)-1))
	}
}

func (d *Dialog) scopes() []*fyne.MenuItem {
	q := d.Current()
	var items []*fyne.MenuItem
	for _, c := range q.Choices {
		switch c {
		case protocol.ScopeOnce:
			items = append(items, fyne.NewMenuItem("Allow once", func() { d.answer(protocol.DecisionAllow, protocol.ScopeOnce) }))
		case protocol.ScopeSession:
			items = append(items, fyne.NewMenuItem("Allow in this chat: "+q.SessionRule, func() { d.answer(protocol.DecisionAllow, protocol.ScopeSession) }))
		}
	}
	return items
}

func setShown(o fyne.CanvasObject, on bool) {
	if on != o.Visible() {
		if on {
			o.Show()
		} else {
			o.Hide()
		}
	}
}
