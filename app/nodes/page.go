// Package nodes is the page of machines: their state, their tools and their permissions. Below them
// it lists the controllers, which are paired windows and command lines. It also shows the requests
// of devices that want to be paired.
package nodes

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/forwards"
	"fairlead/app/host"
	"fairlead/app/inbox"
	"fairlead/app/lists"
	"fairlead/app/machine"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	m   Model
	e   host.Env
	widgets.MasterDetail

	view     feed.View
	pairing  feed.Pairing
	clients  []protocol.Device
	requests *inbox.Cards
	detail   *detail // nil while no machine is shown
	client   *client // nil while no controller is shown
	invite   *invite // nil while no machine is added
	forwards *forwardings
	opened   func(protocol.NodeID)
	now      func() time.Time
}

// New creates the page and follows the gateway until ctx ends. own are the forwards of this
// program. opened is called with the machine that is shown, which is empty for the list.
func New(ctx context.Context, e host.Env, own *forwards.Forwards, opened func(protocol.NodeID)) *Page {
	p := newPage(ctx, e, own, opened)
	p.show(e.Feed.View()) // at once, so that an opened page does not flicker
	bind.Watch(ctx, e.Feed.Watch(e.Feed.Status, e.Feed.Machines, e.Feed.Pairing, e.Feed.Questions, e.Feed.Calls, e.Feed.Apps), p.show)
	p.forwards.watch()
	bind.Every(ctx, 10*time.Second, func(time.Time) { p.show(p.view) }) // updates relative times
	bind.Every(ctx, 250*time.Millisecond, p.requests.Tick)
	return p
}

func newPage(ctx context.Context, e host.Env, own *forwards.Forwards, opened func(protocol.NodeID)) *Page {
	p := &Page{ctx: ctx, m: Model{e.Feed}, e: e, requests: inbox.NewCards(e, protocol.AskPair, protocol.AskWiden), opened: opened, now: time.Now}
	p.forwards = &forwardings{p: p, own: own, loader: newForwardLoader(e.Feed)}
	p.MasterDetail = widgets.NewMasterDetail(widgets.NewItemList(p.choose), p.page, p.fill)
	p.ShowList()
	return p
}

// OpenAt implements [host.Opener].
func (p *Page) OpenAt(to host.Target) {
	switch to := to.(type) {
	case host.NewMachine:
		p.Invite()
	case host.Forward:
		p.forwards.openForm(protocol.NodeID(to))
	case host.Machine:
		p.Open(protocol.NodeID(to))
	default:
		p.Open("")
	}
}

// Open shows one machine; empty shows all.
func (p *Page) Open(id protocol.NodeID) {
	if id == "" {
		p.ShowList()
		return
	}
	p.onClose()
	p.detail = newDetail(p, id)
	p.opened(id)
	p.Show(widgets.Detail{Update: p.detail.show, Back: p.detail.bar.Back, Closed: p.onClose})
}

// onClose forgets what stood in place of the list.
func (p *Page) onClose() {
	p.detail, p.client, p.invite = nil, nil, nil
	p.opened("")
}

// choose opens a line of the list: machines come first, then a heading and the windows.
func (p *Page) choose(i int) {
	if n := len(p.view.Machines); i < n {
		p.Open(p.view.Machines[i].ID)
	} else {
		p.openClient(p.clients[i-n-1].ID)
	}
}

func (p *Page) openClient(id protocol.DeviceID) {
	p.onClose()
	p.client = newClient(p, id)
	p.Show(widgets.Detail{Update: p.client.show, Back: p.client.bar.Back, Closed: p.onClose})
}

// At implements [host.Receiver]: it returns the machine at a position of the window, or the one
// shown.
func (p *Page) At(place fyne.Position) (id protocol.NodeID, folder string, ok bool) {
	if p.detail != nil {
		return p.detail.id, "", true
	}
	if i := p.List.ItemAt(place); i >= 0 && i < len(p.view.Machines) && !p.IsOpen() && p.view.Status.Loaded {
		return p.view.Machines[i].ID, "", true
	}
	return "", "", false
}

func (p *Page) show(v feed.View) {
	p.view, p.pairing = v, v.Pairing
	p.requests.Show(v, p.now())
	p.Update()
}

func (p *Page) item(n protocol.NodeInfo) widgets.ListItem {
	item := widgets.ListItem{Icon: "online", Color: p.e.Machines.Color(string(n.ID)), Title: n.DisplayName(), Text: machineLine(p.view, n), Detail: machine.Presence(p.view, n, p.now())}
	if !n.Online {
		item.Icon, item.Color, item.Muted = "offline", style.ColorMuted, true
		item.Full = wording.FullTime(n.LastSeenAt, p.now())
		if d, ok := p.pairing.Machine(n); ok && hasExpired(d, p.now()) {
			// that text says why it is offline
			item.Detail = clientPresence(p.view, d, p.now())
		}
	}
	return item
}

// page is the page around the list.
func (p *Page) page(master fyne.CanvasObject) fyne.CanvasObject {
	return widgets.NewPage("Machines", widgets.WithHeader(p.requests.Box, master), newAddButton(p.Invite))
}

// newAddButton creates the button that opens the page of invitations.
func newAddButton(open func()) *widgets.Button {
	add := widgets.NewButton("Add a machine", "plus", open)
	add.Primary = true
	return add
}

// fill lists the machines, and below them the controllers.
func (p *Page) fill() {
	items := lists.Map(p.view.Machines, p.item)
	if p.clients = p.pairing.Clients(); len(p.clients) > 0 {
		items = append(items, widgets.ListItem{Title: "CONTROLLERS", Heading: true})
	}
	p.List.Set(append(items, lists.Map(p.clients, p.clientItem)...))
	none := len(p.view.Machines) == 0
	p.Master.Draw(fmt.Sprint(p.view.Status.Loaded, none, none && len(p.clients) > 0), func() fyne.CanvasObject {
		empty := widgets.NewEmptyPage("machine", "No machine is connected", "The agent cannot run anything yet. Add a machine, or start Fairlead on it.")
		switch {
		case !p.view.Status.Loaded:
			return widgets.NewLoading()
		case none && len(p.clients) > 0:
			return widgets.Border(widgets.Inset(0, 0, style.Page, 0, empty), nil, nil, nil, p.List)
		case none:
			return empty
		}
		return p.List
	})
}
