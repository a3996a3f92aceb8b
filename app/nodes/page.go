// Package nodes is the page of machines: their state, their tools and their permissions. Below them
// it lists the paired windows and command lines.
package nodes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Handlers are the page's callbacks.
type Handlers struct {
	Machines *style.Machines
	Copy     func(string)
	Say      state.Say
	Undo     state.OfferUndo
	Opened   func(protocol.NodeID) // a machine is shown; empty is all
	// Send asks for files to send to a machine. Browse shows its files. nil hides the button.
	Send, Browse func(protocol.NodeID)
}

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	app *state.App
	h   Handlers
	widgets.Body

	view          state.View
	pairing       state.Pairing
	devices       int // change counter of the view that pairing belongs to; -1 for none
	clients       []protocol.Device
	list          *widgets.ItemList
	requests      *fyne.Container // pending pairing requests
	detail        *detail         // nil while no machine is shown
	client        *client         // nil while no window is shown
	invite        bool            // the page of an invitation is shown
	form          *container.Scroll
	invitationBox *fyne.Container // the invitation on it
	now           func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(ctx, a, h)
	p.show(a.Value.Get()) // at once, so that an opened page does not flicker
	bind.Watch(ctx, a.Value, p.show)
	bind.Every(ctx, 10*time.Second, func(time.Time) { p.show(p.view) }) // updates relative times
	return p
}

func newPage(ctx context.Context, a *state.App, h Handlers) *Page {
	p := &Page{ctx: ctx, app: a, h: h, Body: widgets.NewBody(), requests: container.NewVBox(), devices: -1, now: time.Now}
	p.list = widgets.NewItemList(p.choose)
	p.drawList()
	return p
}

// Open shows one machine; empty shows all.
func (p *Page) Open(id protocol.NodeID) {
	p.invite, p.detail, p.client = false, nil, nil
	p.Forget()
	if id != "" {
		p.detail = newDetail(p, id)
	}
	widgets.CallWith(p.h.Opened, id)
	p.show(p.view)
}

// choose opens a line of the list: machines come first, then a heading and the windows.
func (p *Page) choose(i int) {
	if n := len(p.view.Nodes); i < n {
		p.Open(p.view.Nodes[i].ID)
	} else {
		p.openClient(p.clients[i-n-1].ID)
	}
}

func (p *Page) openClient(id protocol.DeviceID) {
	p.Open("")
	p.client = newClient(p, id)
	p.show(p.view)
}

// At returns the machine at a position of the window, or the one shown; empty for none.
func (p *Page) At(place fyne.Position) protocol.NodeID {
	if p.detail != nil {
		return p.detail.id
	}
	if i := p.list.ItemAt(place); i >= 0 && i < len(p.view.Nodes) && !p.invite && p.client == nil && p.view.Loaded {
		return p.view.Nodes[i].ID
	}
	return ""
}

func (p *Page) show(v state.View) {
	p.view = v
	if v.Loaded && v.DevicesChanged != p.devices {
		p.devices = v.DevicesChanged
		p.loadPairing(p.showPairing)
	}
	items := state.Map(v.Nodes, p.item)
	if p.clients = p.pairing.Clients(); len(p.clients) > 0 {
		items = append(items, widgets.ListItem{Title: "PAIRED DEVICES", Heading: true})
	}
	p.list.Set(append(items, state.Map(p.clients, p.clientItem)...))
	switch {
	case p.invite:
	case p.detail != nil:
		p.detail.show()
	case p.client != nil:
		p.client.show()
	default:
		p.drawList()
	}
}

func (p *Page) item(n protocol.NodeInfo) widgets.ListItem {
	item := widgets.ListItem{Icon: "online", Color: p.h.Machines.Color(string(n.ID)), Title: state.NameOf(n), Text: state.MachineLine(p.view, n), Detail: state.PresenceText(p.view, n, p.now())}
	if !n.Online {
		item.Icon, item.Color, item.Muted = "offline", style.ColorMuted, true
		if d, ok := p.pairing.Machine(n); ok && state.HasExpired(d, p.now()) {
			// that text says why it is offline
			item.Detail = state.ClientPresence(p.view, d, p.now())
		}
	}
	return item
}

func (p *Page) drawList() {
	none := len(p.view.Nodes) == 0
	p.Draw(fmt.Sprint("list ", p.view.Loaded, none, none && len(p.clients) > 0), func() fyne.CanvasObject {
		add := widgets.NewButton("Add a machine", "plus", p.openInvite)
		add.Primary = true
		var body fyne.CanvasObject = p.list
		switch {
		case !p.view.Loaded:
			body = widgets.NewLoading()
		case none:
			body = widgets.NewEmptyPage("machine", "No machine is connected", "The agent cannot run anything yet. Add a machine, or start Fairlead on it.")
			if len(p.clients) > 0 {
				body = widgets.Border(widgets.Inset(0, 0, style.Page, 0, body), nil, nil, nil, p.list)
			}
		}
		return widgets.NewPage(machinesTitle, widgets.Border(p.requests, nil, nil, nil, body), add)
	})
}

const machinesTitle = "Machines"

func (p *Page) loadPairing(done func(state.Pairing)) {
	bind.Go(p.ctx, func(ctx context.Context) (state.Pairing, error) { return p.app.Pairings.Load(ctx), nil }, func(r state.Pairing, _ error) { done(r) })
}

func (p *Page) showPairing(r state.Pairing) {
	if r.Problem != "" {
		// keep the old list: a lost connection does not remove windows
		r.Devices = p.pairing.Devices
	}
	p.pairing = r
	p.requests.Objects = nil
	for _, q := range r.Requests {
		p.requests.Add(p.request(q))
	}
	p.requests.Refresh()
	p.show(p.view)
	p.Box.Refresh()
}

// request is a device that waits for approval of its pairing.
func (p *Page) request(q protocol.DeviceRequest) fyne.CanvasObject {
	rows := []fyne.CanvasObject{widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn("needsyou", style.ColorNeedsYou)), widgets.NewParagraph(state.RequestText(q, p.now()), style.ColorText, "text"))}
	if len(q.Words) > 0 {
		words := widgets.NewHeading(strings.Join(q.Words, "-"), "text")
		rows = append(rows, widgets.NewParagraph("Allow it only if the other machine shows the same words:", style.ColorMuted, style.SizeSmall), words)
	}
	params := protocol.DeviceRequestParams{ID: q.ID}
	deny := widgets.NewButton("Deny", "", func() { answerRequest(p, protocol.DeviceDeny, params) })
	allow := widgets.NewButton("Allow", "check", func() { answerRequest(p, protocol.DeviceApprove, params) })
	rows = append(rows, widgets.Row(style.Inside, -1, deny, allow))
	return widgets.Inset(0, 0, style.Inside, 0, container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorNeedsYou, style.Corner),
		widgets.Inset(style.Inside, style.Group, style.Inside, style.Group, widgets.Col(style.Inside, rows...))))
}

func answerRequest[R any](p *Page, m protocol.Method[protocol.DeviceRequestParams, R], params protocol.DeviceRequestParams) {
	bind.Call(bind.Until(p.ctx), p.app, m, params, func(_ R, err error) {
		p.h.Say.Failed("Your answer was not accepted", err)
		p.devices = -1
		p.show(p.view)
	})
}

// Back returns from one machine, window or invitation to the list. It reports whether one was
// shown. It does not interrupt a person who is typing a name.
func (p *Page) Back() bool {
	var a *actions
	switch {
	case p.detail != nil:
		a = &p.detail.bar
	case p.client != nil:
		a = &p.client.bar
	case !p.invite:
		return false
	}
	if a != nil && a.editing {
		return false
	}
	if a != nil && a.confirming != "" { // back cancels the confirmation
		a.confirm("")
		return true
	}
	p.Open("")
	widgets.Focus(p.list)
	return true
}

// Confinement lists a machine's restrictions of commands, with their mechanism or its lack.
func Confinement(c state.Confinement) fyne.CanvasObject {
	fact := func(icon string, color fyne.ThemeColorName, text string) fyne.CanvasObject {
		return widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn(icon, color)), widgets.NewParagraph(text, style.ColorText, "text"))
	}
	rows := []fyne.CanvasObject{widgets.NewParagraph(c.Line, levelColors[c.Level], "text")}
	for _, w := range c.Warnings {
		rows = append(rows, fact("warning", style.ColorNeedsYou, w))
	}
	for _, g := range c.Guarantees {
		if g.Enforced {
			rows = append(rows, fact("check", style.ColorGood, g.Text))
		} else {
			rows = append(rows, fact("cross", style.ColorBad, g.Text))
		}
	}
	return widgets.Col(style.Gap, rows...)
}

// levelColors are the colours of levels. The sentence itself also states the level.
var levelColors = map[string]fyne.ThemeColorName{
	state.LevelGood: style.ColorGood, state.LevelWarning: style.ColorNeedsYou, state.LevelBad: style.ColorBad,
}
