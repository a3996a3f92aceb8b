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
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx                  context.Context
	m                    Model
	e                    host.Env
	widgets.MasterDetail // the list begins with the questions of servers

	view      feed.View
	detail    *detail // the latest one
	add, load *widgets.Button
	now       func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	p := newPage(ctx, e)
	bind.Watch(ctx, e.Feed.Watch(e.Feed.Status, e.Feed.Servers, e.Feed.Machines, e.Feed.Questions), p.show)
	bind.Every(ctx, time.Second, func(time.Time) { p.Update() })
	return p
}

// OpenAt implements [host.Opener].
func (p *Page) OpenAt(to host.Target) {
	if _, isNew := to.(host.New); isNew {
		p.Create()
	}
}

func newPage(ctx context.Context, e host.Env) *Page {
	p := &Page{ctx: ctx, m: newModel(e.Feed), e: e, now: time.Now}
	p.MasterDetail = widgets.NewMasterDetail(widgets.NewItemList(p.choose), p.page, p.fill)
	p.ShowList()
	return p
}

func (p *Page) show(v feed.View) {
	p.view = v
	p.Update()
}

// page is the page around the list.
func (p *Page) page(master fyne.CanvasObject) fyne.CanvasObject {
	p.add, p.load = p.buttons()
	return widgets.NewPage("Tools", master, p.load, p.add)
}

// buttons add a server and import some.
func (p *Page) buttons() (add, load *widgets.Button) {
	add = widgets.NewButton("Add a server…", "plus", func() { p.Create() })
	add.Primary = true
	return add, widgets.NewButton("Import…", "import", p.openImport)
}

// fill lists the servers.
func (p *Page) fill() {
	v, now := p.view, p.now()
	asking := lists.Map(v.Questions.Pending.Of(protocol.AskInput), func(q protocol.Question) widgets.ListItem {
		return widgets.ListItem{
			Icon: "needsyou", Color: style.ColorNeedsYou, Title: question.InputWords(q, v, now).Title, Text: "Waiting for your answer",
			Detail: wording.TimeLeft(q.ExpiresAt, now), Warn: true,
		}
	})
	p.List.Set(append(asking, lists.Map(v.Servers.Servers, func(s protocol.ServerStatus) widgets.ListItem { return serverItem(v, s) })...))
	none := len(v.Servers.Servers)+len(asking) == 0
	if first := none && v.Servers.Loaded; first == p.add.Visible() {
		widgets.SetVisible(p.add, !first) // buttons below do the same
		widgets.SetVisible(p.load, !first)
		p.Box.Refresh()
	}
	p.Master.Draw(fmt.Sprint(v.Servers.Loaded, v.Servers.Problem, none), func() fyne.CanvasObject {
		switch {
		case v.Servers.Problem != "" && !v.Servers.Loaded:
			return widgets.NewLoadError("The MCP servers could not be loaded.", v.Servers.Problem, p.m.Load)
		case !v.Servers.Loaded:
			return widgets.NewLoading()
		case none:
			add, load := p.buttons()
			return widgets.NewEmptyPage("plug", "No MCP servers yet",
				"MCP servers are programs that give the agent more tools, such as for a calendar, a database or a code host. "+
					"Fairlead asks you before it uses one, unless a rule allows it.", add, load)
		}
		about := widgets.NewParagraph("MCP servers give the agent more tools. Fairlead asks you before it uses one, unless a rule allows it.", style.ColorMuted, style.SizeSmall)
		return widgets.WithHeader(widgets.Inset(0, 0, style.Inside, 0, about), p.List)
	})
}

func serverItem(v feed.View, s protocol.ServerStatus) widgets.ListItem {
	item := widgets.ListItem{Title: string(s.Name), Text: summary(v, s)}
	item.Detail, item.Warn = stateText(s)
	item.Icon, item.Color = stateIcon(s)
	item.Muted = s.State == protocol.ServerDisabled
	return item
}

// stateIcon returns the icon of a server's state and its colour.
func stateIcon(s protocol.ServerStatus) (icon string, color fyne.ThemeColorName) {
	switch s.State {
	case protocol.ServerReady:
		if len(changedTools(s)) > 0 {
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
		p.e.Open(host.Question(asking[i].ID))
	} else {
		p.open(p.view.Servers.Servers[i-len(asking)].Name)
	}
}

func (p *Page) open(name protocol.ServerName) {
	d := newDetail(p, name)
	p.detail = d
	p.Show(widgets.Detail{Update: d.show, Back: d.back})
	d.loadLog()
}
