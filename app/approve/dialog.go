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

// Width is the dialog's width; Height says how high it opens.
const Width float32 = 640

// The bounds of the height.
const minHeight, maxHeight float32 = 300, 640

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
	clock func() time.Time
	shown map[protocol.ApprovalID]bool // the gateway was told
	front bool                         // the window is on the screen

	title, left, place *widgets.Text
	note               *widgets.Text // how the question before this one ended
	noteRow            *fyne.Container
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
	d := &Dialog{h: h, machines: machines, canvas: c, shown: make(map[protocol.ApprovalID]bool), clock: time.Now}
	d.title = widgets.NewHeading("", look.SizeTitle)
	d.left, d.place = widgets.NewText("", look.ColorMuted, look.SizeSmall), widgets.NewText("", look.ColorMuted, look.SizeSmall)
	d.note = widgets.NewText("", look.ColorNeedsYou, look.SizeSmall)
	d.note.Ellipsis = true
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
	c.SetOnTypedRune(func(rune) { d.arm.Key(d.clock()) })
	c.AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift}, d.chord)
	return d
}

// chord is Ctrl+Shift+Enter, which allows.
func (d *Dialog) chord(fyne.Shortcut) { d.answer(protocol.DecisionAllow, protocol.ScopeOnce) }

// CreateRenderer implements fyne.Widget.
func (d *Dialog) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(d.box) }

// Update gives the dialog the open questions, and those that ended lately. It stays at the one it shows as long as that is open; empty
// reports that none is left and the window may close.
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
			d.say("The question changed: look again.")
			return false
		}
		d.place.SetText(d.placeText())
		setShown(d.next, len(open) > 1)
		return false
	}
	d.show(min(d.at, len(open)-1))
	for _, c := range closed {
		if c.ID == present.ID && present.ID != "" && !c.Here {
			d.say("The question before was answered elsewhere: " + state.Ended(c.Approval) + ".")
		}
	}
	return false
}

// say shows a line above the question.
func (d *Dialog) say(text string) {
	d.note.SetText(text)
	setShown(d.noteRow, text != "")
	d.box.Refresh()
}

// Height is what the question that is shown takes, within bounds: beyond them it scrolls.
func (d *Dialog) Height() float32 {
	full := widgets.Fit(d.body, Width) + d.box.MinSize().Height - d.scroll.MinSize().Height + look.Inside
	return min(max(full, minHeight), maxHeight)
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
	d.front = on
	if !on {
		d.arm.Hide()
		return
	}
	d.seen()
}

// Activated tells the dialog that one of the program's windows came to the front: the click that did it must not allow.
func (d *Dialog) Activated() { d.arm.Activated(d.clock()) }

// Tick tells the time, several times a second while the window is open.
func (d *Dialog) Tick(now time.Time) {
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
	d.say("")
	d.allow.Disable()
	d.arm.Hide()
	d.seen()
	d.Tick(d.clock())
	d.canvas.Focus(d.deny)
}

// seen starts the arming and tells the gateway, once, that the question is on the screen.
func (d *Dialog) seen() {
	q := d.Current()
	if q.ID == "" || !d.front {
		return
	}
	d.arm.Show(string(q.ID)+q.Hash, d.clock())
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
	case focused == fyne.Focusable(d.reasonEntry) && name != fyne.KeyEscape:
		return false
	case name == fyne.KeyEscape && meant:
		d.answer(protocol.DecisionDeny, "")
		return true
	case name == fyne.KeyReturn || name == fyne.KeyEnter || name == fyne.KeySpace:
		return !meant || focused == fyne.Focusable(d.allow.Main) || focused == fyne.Focusable(d.allow.More)
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
		if ok, _ := d.arm.Armed(d.clock()); !ok {
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
