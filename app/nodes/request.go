package nodes

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
	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// Request shows a pairing request and takes the answer. Allow is enabled only after the request has
// been visible for a while, so that a click meant for something else does not count.
type Request struct {
	Box   fyne.CanvasObject
	Value protocol.DeviceRequest

	shown time.Time // since when it is visible
	left  *widgets.Text
	allow *widgets.Button
}

// NewRequest shows a request. notNow closes it without an answer; nil is without that button.
func NewRequest(r protocol.DeviceRequest, now time.Time, answer func(id string, allow bool), notNow func()) *Request {
	q := &Request{Value: r, shown: now, left: widgets.NewText("", style.ColorMuted, style.SizeSmall)}
	title := widgets.NewParagraph(state.RequestTitle(r), style.ColorText, "text")
	title.SetStyle(fyne.TextStyle{Bold: true})
	rows := []fyne.CanvasObject{
		widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn("needsyou", style.ColorNeedsYou)), title, q.left),
		widgets.NewParagraph(state.RequestText(r, now), style.ColorText, "text"),
	}
	if source := state.RequestSource(r); source != "" {
		rows = append(rows, widgets.NewParagraph(source, style.ColorMuted, style.SizeSmall))
	}
	if len(r.Words) > 0 {
		words := widgets.NewParagraph(display.Words(r.Words), style.ColorText, style.SizeTitle)
		rows = append(rows, widgets.NewParagraph("Allow it only if the other device shows the same words:", style.ColorMuted, style.SizeSmall), words)
	}
	deny := widgets.NewButton("Deny", "denied", func() { answer(r.ID, false) })
	q.allow = widgets.NewButton("", "check", func() { answer(r.ID, true) })
	q.allow.Primary = true
	buttons := []fyne.CanvasObject{deny}
	if notNow != nil {
		buttons = append(buttons, widgets.NewQuietButton("Not now", "clock", notNow))
	}
	rows = append(rows, widgets.Flow(style.Inside, append(buttons, q.allow)...))
	q.Box = widgets.Col(style.Inside, rows...)
	q.Tick(now)
	return q
}

// Tick passes the time, several times a second while the request is visible.
func (q *Request) Tick(now time.Time) {
	q.left.SetText(state.RequestTimeLeft(q.Value, now))
	text := "Allow"
	if wait := state.AllowPairingAfter - now.Sub(q.shown); wait > 0 {
		text = fmt.Sprintf("Allow in %d s", int((wait+time.Second-1)/time.Second))
	}
	if q.allow.Text != text {
		q.allow.SetText(text)
		widgets.SetEnabled(q.allow, text == "Allow")
		q.Box.Refresh()
	}
}

// Requests lists the pending pairing requests on a page. Create it with [NewRequests].
type Requests struct {
	Box    *fyne.Container
	answer func(id string, allow bool)
	now    func() time.Time
	list   []*Request
}

// NewRequests creates an empty list. answer is called with the person's answers.
func NewRequests(answer func(id string, allow bool)) *Requests {
	return &Requests{Box: container.NewVBox(), answer: answer, now: time.Now}
}

// Update shows requests. Those that are shown already stay as they are.
func (l *Requests) Update(list []protocol.DeviceRequest) {
	id := func(q *Request) string { return q.Value.ID }
	same := func(q *Request, r protocol.DeviceRequest) bool { return id(q) == r.ID }
	if slices.EqualFunc(l.list, list, same) {
		return
	}
	old := l.list
	l.list, l.Box.Objects = nil, nil
	for _, r := range list {
		i := slices.IndexFunc(old, func(q *Request) bool { return same(q, r) })
		if i < 0 {
			old = append(old, NewRequest(r, l.now(), l.answer, nil))
			i = len(old) - 1
		}
		l.list = append(l.list, old[i])
		l.Box.Add(widgets.Inset(0, 0, style.Inside, 0, container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorNeedsYou, style.Corner),
			widgets.Inset(style.Inside, style.Group, style.Inside, style.Group, old[i].Box))))
	}
	l.Box.Refresh()
}

// Tick passes the time.
func (l *Requests) Tick(now time.Time) {
	for _, q := range l.list {
		q.Tick(now)
	}
}
