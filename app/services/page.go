// Package services is the page of published apps: who gets in, their addresses, and a form that
// publishes one. It also shows who asks to visit one.
package services

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/inbox"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Title is the title of the page.
const Title = "Published apps"

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	m   Model
	e   host.Env
	widgets.MasterDetail

	view     feed.View
	state    State
	visits   VisitList
	add      *widgets.Button
	requests *inbox.Cards // of people who ask to visit an app
	now      func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	p := newPage(ctx, e)
	bind.Follow(ctx, p.m.Follow)
	bind.Follow(ctx, p.m.Visits.Follow)
	bind.Watch(ctx, p.m.Value, func(s State) { p.show(p.view, s) })
	bind.Watch(ctx, p.m.Visits.Value, p.showVisits)
	bind.Watch(ctx, e.Feed.Watch(e.Feed.Status, e.Feed.Machines, e.Feed.Questions), func(v feed.View) { p.show(v, p.state) })
	bind.Every(ctx, 250*time.Millisecond, p.requests.Tick)
	return p
}

// OpenAt implements [host.Opener].
func (p *Page) OpenAt(to host.Target) {
	if _, isNew := to.(host.New); isNew {
		p.openForm()
	}
}

func newPage(ctx context.Context, e host.Env) *Page {
	p := &Page{ctx: ctx, m: newModel(e.Feed), e: e, view: e.Feed.View(), requests: inbox.NewCards(e, protocol.AskVisit), now: time.Now}
	p.add = newAddButton(p.openForm)
	p.MasterDetail = widgets.NewMasterDetail(widgets.NewItemList(func(i int) { p.open(p.state.Services[i].ID) }), p.page, p.fill)
	p.List.OnMenu = p.menu
	p.ShowList()
	return p
}

// newAddButton creates the button that opens the form.
func newAddButton(open func()) *widgets.Button {
	add := widgets.NewButton("Publish an app…", "plus", open)
	add.Primary = true
	return add
}

func (p *Page) show(v feed.View, s State) {
	p.view, p.state = v, s
	p.requests.Show(v, p.now())
	p.Update()
}

func (p *Page) showVisits(v VisitList) {
	p.visits = v
	p.Update()
}

// page is the page around the list.
func (p *Page) page(master fyne.CanvasObject) fyne.CanvasObject {
	return widgets.NewPage(Title, widgets.WithHeader(p.requests.Box, master), p.add)
}

// fill lists the apps.
func (p *Page) fill() {
	s := p.state
	p.List.Set(lists.Map(s.Services, p.item))
	none := len(s.Services) == 0
	if first := none && s.Loaded; first == p.add.Visible() {
		widgets.SetVisible(p.add, !first) // a button below does the same
		p.Box.Refresh()
	}
	p.Master.Draw(fmt.Sprint(s.Loaded, s.Problem, none), func() fyne.CanvasObject {
		switch {
		case s.Problem != "" && !s.Loaded:
			return widgets.NewLoadError("The published apps could not be loaded.", s.Problem, p.m.Reload)
		case !s.Loaded:
			return widgets.NewLoading()
		case none:
			return widgets.NewEmptyPage("globe", "Nothing is published yet",
				"Publishing gives an app that runs on one of your machines, such as a wiki at port 3000, or a terminal an address that browsers can open. "+
					"Only you get in, until you add visitors.", newAddButton(p.openForm))
		}
		return p.List
	})
}

func (p *Page) item(s protocol.Service) widgets.ListItem {
	item := widgets.ListItem{Icon: "shield", Color: style.ColorGood, Title: title(s), Text: summary(p.view, s, p.state.Use[s.ID], p.now())}
	item.Detail, item.Warn = stateText(p.view, s)
	if s.Terminal != nil {
		item.Icon = "terminal"
	}
	switch {
	case !s.Enabled:
		item.Color, item.Muted = style.ColorMuted, true
	case !s.SignIn:
		item.Icon, item.Color = "globe", style.ColorNeedsYou
	}
	return item
}

func (p *Page) menu(i int, at fyne.Position) {
	s := p.state.Services[i]
	widgets.ShowMenuAt(p.List, at, []*fyne.MenuItem{
		fyne.NewMenuItem("Show", func() { p.open(s.ID) }),
		fyne.NewMenuItem("Copy address", func() { copyAddress(p.e, s.URL) }),
	})
}

func copyAddress(e host.Env, url string) {
	e.Copy(url)
	e.Say("The address was copied.")
}

func (p *Page) open(id protocol.ServiceID) {
	d := newDetail(p, id)
	p.showVisitsOf(id)
	p.Show(widgets.Detail{Update: d.show, Back: d.bar.Back, Closed: func() { p.showVisitsOf("") }})
}

// showVisitsOf loads the visitors of an app, until another one is shown or none.
func (p *Page) showVisitsOf(id protocol.ServiceID) {
	p.m.Shown.Update(func(shown *protocol.ServiceID) { *shown = id })
	p.m.Visits.Reload()
}
