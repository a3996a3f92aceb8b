// Package activity is the page of what models cost, what runs now and what the agents did today.
package activity

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Page is the page. It belongs to the GUI thread.
type Page struct {
	e   host.Env
	Box fyne.CanvasObject

	view     feed.View
	activity View
	reload   func()
	lines    []line
	list     *widgets.ItemList
	body     widgets.Body // the list, or a text in its place
	now      func() time.Time
}

// New creates the page and keeps it up to date until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	f := e.Feed
	m := newModel(f)
	p := newPage(e, m.Reload)
	bind.Follow(ctx, m.Follow)
	bind.Watch(ctx, f.Watch(f.Status, f.Sessions, f.Runs, f.Calls, f.Questions, f.Machines), func(v feed.View) {
		p.view = v
		p.draw()
	})
	bind.Watch(ctx, m.Value, func(v View) {
		p.activity = v
		p.draw()
	})
	return p
}

func newPage(e host.Env, reload func()) *Page {
	p := &Page{e: e, reload: reload, now: time.Now, body: widgets.NewBody()}
	p.list = widgets.NewItemList(p.open)
	audit := widgets.NewQuietButton("Audit log", "list", func() { e.Open(auditLog) })
	p.Box = container.NewStack(widgets.NewPage("Activity", p.body.Box, audit))
	p.draw()
	return p
}

// Content implements [host.View].
func (p *Page) Content() fyne.CanvasObject { return p.Box }

// Back implements [host.View].
func (p *Page) Back() bool { return false }

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

func item(l line) widgets.ListItem {
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
	if to := p.lines[i].Opens; to != nil {
		p.e.Open(to)
	}
}
