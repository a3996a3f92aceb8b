// Package activity is the page of what models cost, what runs now and what the agents did today.
package activity

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Handlers are the page's callbacks.
type Handlers struct {
	OpenChat      func(protocol.SessionKey)
	OpenApprovals func()
	OpenTransfers func()
	OpenAuditLog  func()
	OpenBudget    func()
}

// Page is the page. It belongs to the GUI thread.
type Page struct {
	handlers Handlers
	Box      fyne.CanvasObject

	view     feed.View
	activity state.ActivityView
	reload   func()
	lines    []state.ActivityLine
	list     *widgets.ItemList
	body     widgets.Body // the list, or a text in its place
	now      func() time.Time
}

// New creates the page and keeps it up to date until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	m := state.NewActivity(a.Feed)
	p := newPage(h, m.Reload)
	bind.Follow(ctx, m.Follow)
	bind.Watch(ctx, a.Watch(a.Status, a.Sessions, a.Runs, a.Calls, a.Feed.Questions, a.Feed.Machines), func(v feed.View) {
		p.view = v
		p.draw()
	})
	bind.Watch(ctx, m.Value, func(v state.ActivityView) {
		p.activity = v
		p.draw()
	})
	return p
}

func newPage(h Handlers, reload func()) *Page {
	p := &Page{handlers: h, reload: reload, now: time.Now, body: widgets.NewBody()}
	p.list = widgets.NewItemList(p.open)
	audit := widgets.NewQuietButton("Audit log", "list", h.OpenAuditLog)
	p.Box = container.NewStack(widgets.NewPage("Activity", p.body.Box, audit))
	p.draw()
	return p
}

func (p *Page) draw() {
	switch {
	case p.activity.Problem != "":
		p.body.Put(widgets.NewLoadError("The activity could not be loaded.", p.activity.Problem, p.reload))
		return
	case !p.activity.Loaded:
		p.body.Draw("loading", widgets.NewLoading)
		return
	}
	p.lines = p.activity.Lines(p.view, p.now())
	p.list.Set(lists.Map(p.lines, item))
	p.body.Draw("list", func() fyne.CanvasObject { return p.list })
}

func item(l state.ActivityLine) widgets.ListItem {
	it := widgets.ListItem{Heading: l.Heading, Icon: l.Icon, Title: l.Title, Text: l.Text, Detail: l.Detail, Warn: l.NeedsYou}
	it.Full = l.FullTime
	switch {
	case l.NeedsYou:
		it.Color = style.ColorNeedsYou
	case l.Failed:
		it.Color = style.ColorBad
	case l.Icon == "check":
		it.Color = style.ColorGood
	}
	return it
}

func (p *Page) open(i int) {
	l := p.lines[i]
	switch l.Opens {
	case state.OpenApprovals:
		p.handlers.OpenApprovals()
	case state.OpenChat:
		p.handlers.OpenChat(l.Chat)
	case state.OpenTransfers:
		p.handlers.OpenTransfers()
	case state.OpenAuditLog:
		p.handlers.OpenAuditLog()
	case state.OpenBudget:
		p.handlers.OpenBudget()
	case state.OpenNothing:
	}
}
