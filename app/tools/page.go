// Package tools is the page of MCP servers, whose tools the agent can use. It also asks the questions
// of servers.
package tools

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Handlers are the page's callbacks.
type Handlers struct {
	Copy    func(string)
	Say     state.Say
	OpenURL func(string)
	// Review shows the question of a server.
	Review func(protocol.QuestionID)
}

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	app *state.App
	h   Handlers
	widgets.Body

	view   feed.View
	list   *widgets.ItemList // first the questions of servers
	body   widgets.Body      // the list, or a text in its place
	detail *detail           // nil while the list or a form is shown
	form   func()            // closes the open form, which updates do not disturb; nil for none
	now    func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(ctx, a, h)
	bind.Watch(ctx, a.Watch(a.Status, a.Feed.Servers, a.Feed.Machines, a.Feed.Questions), p.show)
	bind.Every(ctx, time.Second, func(time.Time) { p.redraw() })
	return p
}

func newPage(ctx context.Context, a *state.App, h Handlers) *Page {
	p := &Page{ctx: ctx, app: a, h: h, Body: widgets.NewBody(), body: widgets.NewBody(), now: time.Now}
	p.list = widgets.NewItemList(p.choose)
	p.openList()
	return p
}

func (p *Page) show(v feed.View) {
	p.view = v
	p.redraw()
}

// redraw shows what has changed.
func (p *Page) redraw() {
	switch {
	case p.form != nil:
	case p.detail != nil:
		p.detail.show()
	default:
		p.fill()
	}
}

func (p *Page) openList() {
	p.detail, p.form = nil, nil
	p.Put(widgets.NewPage("Tools", p.body.Box, p.importButton(), p.addButton()))
	p.fill()
}

func (p *Page) addButton() *widgets.Button {
	add := widgets.NewButton("Add a server…", "plus", func() { p.openAdd() })
	add.Primary = true
	return add
}

func (p *Page) importButton() *widgets.Button {
	return widgets.NewButton("Import…", "import", p.openImport)
}

func (p *Page) back() {
	p.openList()
	widgets.Focus(p.list)
}

// fill lists the servers.
func (p *Page) fill() {
	v, now := p.view, p.now()
	asking := lists.Map(v.Questions.Pending.Of(protocol.AskInput), func(q protocol.Question) widgets.ListItem {
		return widgets.ListItem{
			Icon: "needsyou", Color: style.ColorNeedsYou, Title: question.Title(q), Text: "Waiting for your answer",
			Detail: wording.TimeLeft(q.ExpiresAt, now), Warn: true,
		}
	})
	p.list.Set(append(asking, lists.Map(v.Servers.Servers, func(s protocol.ServerStatus) widgets.ListItem { return serverItem(v, s) })...))
	none := len(v.Servers.Servers)+len(asking) == 0
	p.body.Draw(fmt.Sprint(v.Servers.Loaded, v.Servers.Problem, none), func() fyne.CanvasObject {
		switch {
		case v.Servers.Problem != "" && !v.Servers.Loaded:
			return widgets.NewLoadError("The MCP servers could not be loaded.", v.Servers.Problem, p.app.LoadServers)
		case !v.Servers.Loaded:
			return widgets.NewLoading()
		case none:
			return widgets.NewEmptyPage("plug", "No MCP servers yet",
				"MCP servers are programs that give the agent more tools, such as for a calendar, a database or a code host. "+
					"Fairlead asks you before it uses one, unless a rule allows it.", p.addButton(), p.importButton())
		}
		about := widgets.NewParagraph("MCP servers give the agent more tools. Fairlead asks you before it uses one, unless a rule allows it.", style.ColorMuted, style.SizeSmall)
		return widgets.WithHeader(widgets.Inset(0, 0, style.Inside, 0, about), p.list)
	})
}

func serverItem(v feed.View, s protocol.ServerStatus) widgets.ListItem {
	item := widgets.ListItem{Title: string(s.Name), Text: state.ServerLine(v, s)}
	item.Detail, item.Warn = state.ServerState(s)
	item.Icon, item.Color = stateIcon(s)
	item.Muted = s.State == protocol.ServerDisabled
	return item
}

// stateIcon returns the icon of a server's state and its colour.
func stateIcon(s protocol.ServerStatus) (icon string, color fyne.ThemeColorName) {
	switch s.State {
	case protocol.ServerReady:
		if len(state.ChangedTools(s)) > 0 {
			return "needsyou", style.ColorNeedsYou
		}
		return "online", style.ColorGood
	case protocol.ServerFailed:
		return "warning", style.ColorBad
	case protocol.ServerSignIn:
		return "key", style.ColorNeedsYou
	case protocol.ServerStarting:
		return "clock", style.ColorMuted
	case protocol.ServerDisabled:
		return "pause", style.ColorMuted
	}
	return "offline", style.ColorMuted
}

// choose opens a line of the list.
func (p *Page) choose(i int) {
	asking := p.view.Questions.Pending.Of(protocol.AskInput)
	if i < len(asking) {
		p.h.Review(asking[i].ID)
	} else {
		p.open(p.view.Servers.Servers[i-len(asking)].Name)
	}
}

func (p *Page) open(name protocol.ServerName) {
	p.form = nil
	p.Forget()
	p.detail = newDetail(p, name)
	p.detail.show()
	p.detail.loadLog()
}

// Back returns from one server or a form, and reports whether one was shown.
func (p *Page) Back() bool {
	switch {
	case p.form != nil:
		p.form()
	case p.detail != nil && p.detail.bar.Confirming != "":
		p.detail.bar.Confirm("")
	case p.detail != nil:
		p.back()
	default:
		return false
	}
	return true
}
