// Package nodes is the page of machines: their state, their tools and their permissions. Below them
// it lists the controllers, which are paired windows and command lines. It also shows the requests
// of devices that want to be paired.
package nodes

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
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

	view     feed.View
	pairing  feed.Pairing
	clients  []protocol.Device
	list     *widgets.ItemList
	requests *widgets.Questions
	detail   *detail // nil while no machine is shown
	client   *client // nil while no controller is shown
	invite   *invite // nil while no machine is added
	answer   func(protocol.Question, protocol.QuestionAnswerParams)
	now      func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(ctx, a, h)
	p.show(a.View()) // at once, so that an opened page does not flicker
	bind.Watch(ctx, a.Watch(a.Status, a.Feed.Machines, a.Pairing, a.Feed.Questions, a.Calls), p.show)
	bind.Every(ctx, 10*time.Second, func(time.Time) { p.show(p.view) }) // updates relative times
	bind.Every(ctx, 250*time.Millisecond, p.requests.Tick)
	return p
}

func newPage(ctx context.Context, a *state.App, h Handlers) *Page {
	p := &Page{ctx: ctx, app: a, h: h, Body: widgets.NewBody(), requests: widgets.NewQuestions(), answer: a.Questions.Answer, now: time.Now}
	p.list = widgets.NewItemList(p.choose)
	p.drawList()
	return p
}

// Open shows one machine; empty shows all.
func (p *Page) Open(id protocol.NodeID) {
	p.invite, p.detail, p.client = nil, nil, nil
	p.Forget()
	if id != "" {
		p.detail = newDetail(p, id)
	}
	widgets.CallWith(p.h.Opened, id)
	p.show(p.view)
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
	p.Open("")
	p.client = newClient(p, id)
	p.show(p.view)
}

// At returns the machine at a position of the window, or the one shown; empty for none.
func (p *Page) At(place fyne.Position) protocol.NodeID {
	if p.detail != nil {
		return p.detail.id
	}
	if i := p.list.ItemAt(place); i >= 0 && i < len(p.view.Machines) && p.invite == nil && p.client == nil && p.view.Status.Loaded {
		return p.view.Machines[i].ID
	}
	return ""
}

func (p *Page) show(v feed.View) {
	p.view, p.pairing = v, v.Pairing
	UpdateRequests(p.requests, v.Questions.Pending.Of(protocol.AskPair, protocol.AskWiden), p.now(), p.answer)
	items := lists.Map(v.Machines, p.item)
	if p.clients = p.pairing.Clients(); len(p.clients) > 0 {
		items = append(items, widgets.ListItem{Title: "CONTROLLERS", Heading: true})
	}
	p.list.Set(append(items, lists.Map(p.clients, p.clientItem)...))
	switch {
	case p.invite != nil:
		p.invite.show()
	case p.detail != nil:
		p.detail.show()
	case p.client != nil:
		p.client.show()
	default:
		p.drawList()
	}
}

func (p *Page) item(n protocol.NodeInfo) widgets.ListItem {
	item := widgets.ListItem{Icon: "online", Color: p.h.Machines.Color(string(n.ID)), Title: feed.NameOf(n), Text: state.MachineLine(p.view, n), Detail: state.PresenceText(p.view, n, p.now())}
	if !n.Online {
		item.Icon, item.Color, item.Muted = "offline", style.ColorMuted, true
		item.Full = wording.FullTime(n.LastSeenAt, p.now())
		if d, ok := p.pairing.Machine(n); ok && state.HasExpired(d, p.now()) {
			// that text says why it is offline
			item.Detail = state.ClientPresence(p.view, d, p.now())
		}
	}
	return item
}

func (p *Page) drawList() {
	none := len(p.view.Machines) == 0
	p.Draw(fmt.Sprint("list ", p.view.Status.Loaded, none, none && len(p.clients) > 0), func() fyne.CanvasObject {
		add := widgets.NewButton("Add a machine", "plus", p.Invite)
		add.Primary = true
		var body fyne.CanvasObject = p.list
		switch {
		case !p.view.Status.Loaded:
			body = widgets.NewLoading()
		case none:
			body = widgets.NewEmptyPage("machine", "No machine is connected", "The agent cannot run anything yet. Add a machine, or start Fairlead on it.")
			if len(p.clients) > 0 {
				body = widgets.Border(widgets.Inset(0, 0, style.Page, 0, body), nil, nil, nil, p.list)
			}
		}
		return widgets.NewPage(machinesTitle, widgets.WithHeader(p.requests.Box, body), add)
	})
}

const machinesTitle = "Machines"

// Back returns from one machine, window or invitation to the list. It reports whether one was
// shown. It does not interrupt a person who is typing a name.
func (p *Page) Back() bool {
	var a *widgets.Actions
	switch {
	case p.detail != nil:
		a = &p.detail.bar
	case p.client != nil:
		a = &p.client.bar
	case p.invite == nil:
		return false
	}
	if a != nil && a.Editing {
		return false
	}
	if a != nil && a.Confirming != "" { // back cancels the confirmation
		a.Confirm("")
		return true
	}
	p.Open("")
	widgets.Focus(p.list)
	return true
}

// Confinement says what commands can do on a machine, and lists the restrictions that hold or are
// missing.
func Confinement(c display.Confinement) fyne.CanvasObject {
	return widgets.Col(style.Gap, summary(c), guarantees(c))
}

func summary(c display.Confinement) fyne.CanvasObject {
	icon := widgets.Choose(c.Level == display.LevelGood, "shield", "warning")
	return widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn(icon, levelColors[c.Level])), widgets.NewParagraph(c.Line, style.ColorText, "text"))
}

func guarantees(c display.Confinement) fyne.CanvasObject {
	fact := func(icon string, color fyne.ThemeColorName, text string) fyne.CanvasObject {
		return widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn(icon, color)), widgets.NewParagraph(text, style.ColorText, "text"))
	}
	var rows []fyne.CanvasObject
	for _, w := range c.Warnings {
		rows = append(rows, fact("warning", style.ColorNeedsYou, w))
	}
	isOpen := false
	for _, g := range c.Guarantees {
		if g.Enforced {
			rows = append(rows, fact("check", style.ColorGood, g.Text))
			continue
		}
		if !isOpen {
			isOpen = true
			rows = append(rows, widgets.Inset(style.Inside, 0, 0, 0, widgets.NewText("Not limited here", style.ColorMuted, "text")))
		}
		rows = append(rows, fact("warning", style.ColorNeedsYou, g.Text))
	}
	return widgets.Col(style.Gap, rows...)
}

// levelColors are the colours of levels. The icon and the sentence state the level, too.
var levelColors = map[string]fyne.ThemeColorName{
	display.LevelGood: style.ColorGood, display.LevelWarning: style.ColorNeedsYou, display.LevelBad: style.ColorBad,
}
