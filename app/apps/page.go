// Package apps is the page of connected apps: programs that use the person's machines over MCP or
// REST. It also asks whether an app may connect.
package apps

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
	widgets.MasterDetail // its list begins with the apps that ask to connect

	view   feed.View
	add    *widgets.Button
	detail *detail // the latest one
	offers *offers
	now    func() time.Time
	// lastCalls and stop run the model's methods and pass the result to done on the GUI thread.
	lastCalls func(id protocol.AppID, done func([]protocol.JournalEntry, error))
	stop      func(id string, done func(error))
}

// New creates the page and follows the gateway until ctx ends. programs connects client programs of
// this computer; it is nil if that is impossible.
func New(ctx context.Context, e host.Env, programs *ClientPrograms) *Page {
	p := newPage(ctx, e, programs)
	bind.Watch(ctx, e.Feed.Watch(e.Feed.Status, e.Feed.Apps, e.Feed.Machines, e.Feed.Questions), p.show)
	bind.Every(ctx, time.Second, func(time.Time) { p.Update() })
	p.offers.find()
	return p
}

func newPage(ctx context.Context, e host.Env, programs *ClientPrograms) *Page {
	p := &Page{ctx: ctx, m: Model{e.Feed}, e: e, now: time.Now}
	p.lastCalls = func(id protocol.AppID, done func([]protocol.JournalEntry, error)) {
		bind.Go(ctx, func(ctx context.Context) ([]protocol.JournalEntry, error) { return p.m.LastCalls(ctx, id) }, done)
	}
	p.stop = func(id string, done func(error)) {
		bind.Run(ctx, func(ctx context.Context) error { return p.m.StopCommand(ctx, id) }, done)
	}
	p.offers = &offers{p: p, programs: programs}
	p.offers.link, p.add = p.offers.menu(), p.addButton()
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
	return widgets.NewPage("Connected apps", master, p.offers.link, p.add)
}

func (p *Page) addButton() *widgets.Button {
	add := widgets.NewButton("New token", "plus", p.openForm)
	add.Primary = true
	return add
}

// fill lists the apps.
func (p *Page) fill() {
	v, now := p.view, p.now()
	asking := lists.Map(v.Questions.Pending.Of(protocol.AskApp), func(q protocol.Question) widgets.ListItem {
		return widgets.ListItem{
			Icon: "needsyou", Color: style.ColorNeedsYou, Title: question.AppWords(q, v, now).Title, Text: "Waiting for your answer",
			Detail: wording.TimeLeft(q.ExpiresAt, now), Warn: true,
		}
	})
	p.List.Set(append(asking, lists.Map(v.Apps.Apps, func(a protocol.App) widgets.ListItem {
		name, _ := wording.Reveal(a.Name)
		item := widgets.ListItem{Icon: "link", Color: style.ColorAccent, Title: name, Text: AppLine(v, a, now), Detail: AppPresence(v, a, now)}
		if HasEnded(a, now) {
			item.Color, item.Muted = style.ColorMuted, true
		}
		if a.Kind == protocol.AppToken {
			item.Icon = "key"
		}
		return item
	})...))
	none := len(v.Apps.Apps)+len(asking) == 0
	if offered := !none && len(p.offers.list) > 0 && p.address() != ""; offered != p.offers.link.Visible() {
		widgets.SetVisible(p.offers.link, offered)
		p.Box.Refresh()
	}
	if first := none && v.Apps.Loaded && p.address() != ""; first == p.add.Visible() {
		widgets.SetVisible(p.add, !first) // a button below does the same
		p.Box.Refresh()
	}
	p.Master.Draw(fmt.Sprint(v.Apps.Loaded, v.Apps.Problem, none, p.address(), len(p.offers.list)), func() fyne.CanvasObject {
		switch {
		case v.Apps.Problem != "" && !v.Apps.Loaded:
			return widgets.NewLoadError("The connected apps could not be loaded.", v.Apps.Problem, p.e.Feed.LoadApps)
		case !v.Apps.Loaded:
			return widgets.NewLoading()
		case none:
			return p.empty()
		}
		return widgets.Border(nil, widgets.Inset(style.Inside, 0, style.Inside, 0, p.address().line(p.e)), nil, nil, p.List)
	})
}

// empty says how to connect the first app.
func (p *Page) empty() fyne.CanvasObject {
	const title, text = "No connected apps yet", "Apps such as Claude Code or VS Code can use your machines, and Fairlead asks you before they change anything. "
	if p.address() == "" {
		return widgets.NewEmptyPage("link", title, text+noAddress)
	}
	how := widgets.Choose(len(p.offers.list) > 0, "Connect one here", "Connect one with the command “fairlead mcp install”")
	return widgets.NewEmptyPage("link", title, text+how+", with the address "+string(p.address())+", or with a token.",
		append(p.offers.buttons(), p.address().copyButton(p.e), p.addButton())...)
}

// address returns where apps on this computer connect.
func (p *Page) address() mcpAddress {
	if p.view.Status.Listen == "" {
		return ""
	}
	return mcpAddress("http://" + p.view.Status.Listen + "/mcp")
}

// choose opens a line of the list.
func (p *Page) choose(i int) {
	asking := p.view.Questions.Pending.Of(protocol.AskApp)
	if i < len(asking) {
		p.e.Open(host.Question(asking[i].ID))
	} else {
		p.open(p.view.Apps.Apps[i-len(asking)].ID)
	}
}

func (p *Page) open(id protocol.AppID) {
	p.detail = newDetail(p, id)
	p.Show(widgets.Detail{Update: p.detail.show, Back: p.detail.back})
}
