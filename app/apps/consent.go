package apps

import (
	"fmt"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Consent asks whether an app may connect, and with which permissions. Allow is enabled only after
// the question has been visible for a while, so that a click meant for something else does not
// count.
type Consent struct {
	Box   *fyne.Container
	Value protocol.Consent
	// OnResize, if set, is called when the height changes because of the person's choices.
	OnResize func()

	shown       time.Time // since when it is visible
	now         time.Time
	permissions *permissions
	machines    *machines
	left        *widgets.Text
	allow       *widgets.Button
}

// NewConsent shows the question. notNow closes it without an answer; nil is without that button.
func NewConsent(c protocol.Consent, nodes []protocol.NodeInfo, now time.Time, answer func(protocol.ConsentAnswerParams), notNow func()) *Consent {
	q := &Consent{Value: c, shown: now, left: widgets.NewText("", style.ColorMuted, style.SizeSmall)}
	title := widgets.NewParagraph(state.ConsentTitle(c), style.ColorText, "text")
	title.SetStyle(fyne.TextStyle{Bold: true})
	q.permissions = newPermissions(c.Scopes, c.Scopes, q.changed)
	q.machines = newMachines(nodes, nil, q.changed)
	deny := widgets.NewButton("Deny", "denied", func() { answer(protocol.ConsentAnswerParams{ID: c.ID}) })
	q.allow = widgets.NewButton("", "check", func() {
		if machines, ok := q.machines.chosen(); ok {
			answer(protocol.ConsentAnswerParams{ID: c.ID, Allow: true, Scopes: q.permissions.chosen(), Nodes: machines})
		}
	})
	q.allow.Primary = true
	buttons := []fyne.CanvasObject{deny}
	if notNow != nil {
		buttons = append(buttons, widgets.NewQuietButton("Not now", "clock", notNow))
	}
	text, _ := state.Reveal(state.ConsentText(c))
	q.Box = widgets.Col(style.Inside,
		widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn("needsyou", style.ColorNeedsYou)), title, q.left),
		widgets.NewParagraph(text, style.ColorText, "text"),
		widgets.NewParagraph("Allow it only if your browser shows the same code:", style.ColorMuted, style.SizeSmall),
		widgets.NewParagraph(c.Code, style.ColorText, style.SizeTitle),
		widgets.NewSectionHeading("IT MAY"), q.permissions.box,
		widgets.NewSectionHeading("ON"), q.machines.box,
		widgets.Flow(style.Inside, append(buttons, q.allow)...))
	q.Tick(now)
	return q
}

// changed updates the button after a choice.
func (q *Consent) changed() {
	q.Tick(q.now)
	q.Box.Refresh()
	widgets.Call(q.OnResize)
}

// Tick passes the time, several times a second while the question is visible.
func (q *Consent) Tick(now time.Time) {
	q.now = now
	q.left.SetText(state.TimeLeft(q.Value.ExpiresAt, now))
	text := "Allow"
	if wait := state.AllowPairingAfter - now.Sub(q.shown); wait > 0 {
		text = fmt.Sprintf("Allow in %d s", int((wait+time.Second-1)/time.Second))
	}
	_, chosen := q.machines.chosen()
	can := text == "Allow" && chosen && len(q.permissions.chosen()) > 0
	if q.allow.Text != text || q.allow.Disabled() == can {
		q.allow.SetText(text)
		widgets.SetEnabled(q.allow, can)
		q.Box.Refresh()
	}
}

// Consents lists the apps that ask to connect, on a page. Create it with [NewConsents].
type Consents struct {
	Box    *fyne.Container
	answer func(protocol.ConsentAnswerParams)
	now    func() time.Time
	list   []*Consent
}

// NewConsents creates an empty list. answer is called with the person's answers.
func NewConsents(answer func(protocol.ConsentAnswerParams)) *Consents {
	return &Consents{Box: container.NewVBox(), answer: answer, now: time.Now}
}

// Update shows questions. Those that are shown already stay as they are.
func (l *Consents) Update(list []protocol.Consent, nodes []protocol.NodeInfo) {
	same := func(q *Consent, c protocol.Consent) bool { return q.Value.ID == c.ID }
	if slices.EqualFunc(l.list, list, same) {
		return
	}
	old := l.list
	l.list, l.Box.Objects = nil, nil
	for _, c := range list {
		i := slices.IndexFunc(old, func(q *Consent) bool { return same(q, c) })
		if i < 0 {
			old = append(old, NewConsent(c, nodes, l.now(), l.answer, nil))
			i = len(old) - 1
			old[i].OnResize = l.Box.Refresh
		}
		l.list = append(l.list, old[i])
		l.Box.Add(widgets.Inset(0, 0, style.Inside, 0, container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorNeedsYou, style.Corner),
			widgets.Inset(style.Inside, style.Group, style.Inside, style.Group, old[i].Box))))
	}
	l.Box.Refresh()
}

// Tick passes the time.
func (l *Consents) Tick(now time.Time) {
	for _, q := range l.list {
		q.Tick(now)
	}
}
