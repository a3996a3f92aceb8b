// Package settings is the page of the settings, with information about the program. It has a list of
// pages at its left, of which some are pages of other packages.
package settings

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Options are what the settings need besides the gateway.
type Options struct {
	About            About
	Local            *Local       // nil if the gateway is remote
	Gateways         Gateways     // nil if windows of other gateways cannot be opened
	Pairing          *Pairing     // with another gateway; nil only without Gateways
	Pages            []host.Entry // of other packages
	TestNotification func()       // shows a notification for a test
	// Moved is called when another page is shown, or the list. The page may stand in its place.
	Moved func(inPlaceOfList bool)
}

// Page is the page. It belongs to the GUI thread.
type Page struct {
	widgets.Frame
	ctx     context.Context
	e       host.Env
	o       Options
	entries []host.Entry
	model   *Model
	follows bool // model is being loaded

	canvas  fyne.Canvas // of the window; nil until [Page.Focus]. The toolkit knows it only of what has been painted.
	search  *search
	list    *widgets.RowList
	content *fyne.Container
	narrow  bool // there is room for either the list or a page
	inPlace bool // in a narrow window: the page is shown in place of the list

	// The page that is shown at the right.
	current  int
	close    context.CancelFunc
	page     host.View
	own      *view // if it is one of this package
	all      *allSettings
	gateways *gatewaysPage
}

// New creates the page, which shows the list and the page that was shown last. It lives until ctx
// ends.
func New(ctx context.Context, e host.Env, o Options) *Page {
	p := &Page{ctx: ctx, e: e, o: o, model: newModel(e.Feed), content: container.NewStack(), close: func() {}, current: -1}
	p.entries = p.table()
	p.list = widgets.NewRowList()
	p.list.Item = p.item
	p.list.OnTap = func(i int, _ fyne.KeyModifier) { p.choose(i) }
	p.list.OnChoose = p.choose
	p.list.OnKey = func(_ int, e *fyne.KeyEvent) { widgets.PassKey(p.list, e) }
	p.search = newSearch(p)
	p.list.OnRune = func(r rune) {
		widgets.Focus(p.search.field)
		p.search.field.TypedRune(r)
	}
	body := widgets.Border(widgets.Inset(0, 0, style.Inside, 0, p.search.field), nil, nil, nil, p.list)
	side := container.NewStack(widgets.NewRect(style.ColorSidebar, "", 0), widgets.NewPage("Settings", body))
	p.Compose(p, container.New(&pageLayout{p: p}, side, widgets.NewRect(style.ColorLine, "", 0), p.content))
	p.show(max(p.indexOf(e.Prefs.Get().SettingsPage), 0))
	return p
}

// table lists all pages. The page of all settings is last, since most people need it rarely.
func (p *Page) table() []host.Entry {
	own := func(icon, title string, build func(*view) fyne.CanvasObject) host.Entry {
		return host.Entry{Icon: icon, Title: title, New: func(ctx context.Context) host.View {
			p.own = newView(ctx, p.e, p.o)
			return plainPage{widgets.NewPage(title, build(p.own))}
		}}
	}
	list := []host.Entry{
		own("sun", generalTitle, (*view).general),
		own("chat", ModelsTitle, func(v *view) fyne.CanvasObject { return newModels(v).box }),
		own("bell", NotificationsTitle, (*view).notifications),
		own("machine", computerTitle, (*view).computer),
	}
	list = append(list, p.o.Pages...)
	return append(list,
		own("globe", gatewaysTitle, func(v *view) fyne.CanvasObject {
			if p.o.Gateways == nil {
				return form(v.ownGateway()...)
			}
			p.gateways = newGatewaysPage(v)
			return p.gateways.box
		}),
		own("question", helpTitle, (*view).help),
		own("info", AboutTitle, (*view).aboutPage),
		own("settings", allSettingsTitle, func(v *view) fyne.CanvasObject {
			p.follow()
			p.all = newAllSettings(v.ctx, p.model, p.e.Drafts)
			bind.Watch(v.ctx, p.model.Value, p.all.update)
			return p.all.box
		}))
}

// plainPage is a page without details.
type plainPage struct{ content fyne.CanvasObject }

func (p plainPage) Content() fyne.CanvasObject { return p.content }
func (plainPage) Back() bool                   { return false }

// follow loads all settings, now and when they change.
func (p *Page) follow() {
	if !p.follows {
		p.follows = true
		bind.Follow(p.ctx, p.model.Follow)
		bind.Watch(p.ctx, p.model.Value, func(View) { p.search.update() })
	}
}

// indexOf returns the index of the page with a title, or -1.
func (p *Page) indexOf(title string) int {
	for i, e := range p.entries {
		if e.Title == title {
			return i
		}
	}
	return -1
}

// fill shows the pages, or the results of the search.
func (p *Page) fill() {
	if p.search.isOn() {
		p.list.Set(p.search.rows())
		return
	}
	p.list.Set(lists.Map(p.entries, func(e host.Entry) widgets.ListRow { return widgets.ListRow{ID: e.Title} }))
	if p.current >= 0 {
		p.list.SetCursor(p.current)
	}
}

func (p *Page) item(i int) widgets.SidebarItem {
	if p.search.isOn() {
		return p.search.item(i)
	}
	e := p.entries[i]
	return widgets.SidebarItem{Icon: e.Icon, Title: e.Title, Selected: i == p.current}
}

// choose opens a line of the list.
func (p *Page) choose(i int) {
	if p.search.isOn() {
		p.search.open(i)
		return
	}
	p.Open(p.entries[i].Title)
}

// show shows a page at the right of the list.
func (p *Page) show(i int) {
	p.close()
	ctx, cancel := context.WithCancel(p.ctx)
	p.current, p.close, p.own, p.all, p.gateways = i, cancel, nil, nil, nil
	p.page = p.entries[i].New(ctx)
	widgets.SetContent(p.content, p.page.Content())
	p.fill()
	p.arrange()
}

// Content implements [host.View].
func (p *Page) Content() fyne.CanvasObject { return p }

// OpenAt implements [host.Opener].
func (p *Page) OpenAt(to host.Target) {
	switch to := to.(type) {
	case host.Page:
		p.Open(string(to))
	case host.New:
		p.Open(string(to))
		host.OpenAt(p.page, to)
	case host.Setting:
		p.find(string(to))
	case host.Link:
		p.openLink(string(to))
	case host.Join:
		p.join(to.AsMachine)
	case host.News:
		p.Open(AboutTitle)
		p.own.reveal(newsSection)
	}
}

// Open shows the page with a title, also in place of the list.
func (p *Page) Open(title string) {
	if i := p.indexOf(title); i >= 0 {
		p.inPlace = true
		if i != p.current {
			p.show(i)
			p.unfocusPrevious()
		}
		p.arrange()
	}
}

// openList shows the list.
func (p *Page) openList() {
	p.inPlace = false
	p.search.field.SetText("")
	p.arrange()
}

// MoveTab moves by a number of pages and wraps around.
func (p *Page) MoveTab(by int) {
	n := len(p.entries)
	p.show((p.current + by + n) % n)
	p.unfocusPrevious()
}

// unfocusPrevious takes the keyboard from what is on the previous page.
func (p *Page) unfocusPrevious() {
	if p.canvas == nil {
		return
	}
	if f := p.canvas.Focused(); f != fyne.Focusable(p.list) && f != fyne.Focusable(p.search.field) {
		p.canvas.Unfocus()
	}
}

// Focus implements [host.Focuser]: it focuses the list.
func (p *Page) Focus(c fyne.Canvas) {
	p.canvas = c
	c.Focus(p.list)
}

// Back goes back within the page, to the list, or to what was shown before.
func (p *Page) Back() bool {
	switch c := fyne.CurrentApp().Driver().CanvasForObject(p); {
	case (p.inPlace || !p.narrow) && p.page.Back():
	case p.search.isOn() && (!p.narrow || !p.inPlace):
		p.search.field.SetText("")
		widgets.Focus(p.list)
	case p.narrow && p.inPlace, c != nil && !p.narrow && c.Focused() != fyne.Focusable(p.list):
		p.inPlace = false
		p.arrange()
		widgets.Focus(p.list)
	default:
		p.e.Open(host.Back{})
	}
	return true
}

// invite shows a pairing invitation for the person to accept.
func (p *Page) invite(link string) {
	if p.o.Gateways != nil {
		p.Open(gatewaysTitle)
		p.gateways.invitation.SetText(link)
	}
}

// join shows the form that joins another gateway, as a machine of it or to control it.
func (p *Page) join(asMachine bool) {
	if p.o.Gateways != nil {
		p.Open(gatewaysTitle)
		p.gateways.setRole(asMachine)
		widgets.FocusIn(p, p.gateways.invitation)
	}
}

// find shows the settings that contain each word of a query.
func (p *Page) find(query string) {
	p.Open(allSettingsTitle)
	p.all.filter.SetText(query)
}

// arrange shows the list, the page or both, as far as there is room.
func (p *Page) arrange() {
	p.LayOut()
	p.reportShown()
}

// reportShown remembers which page is shown, and tells the window. A list that is hidden gives up
// the keyboard: otherwise it would keep receiving the keys.
func (p *Page) reportShown() {
	inPlace := p.narrow && p.inPlace
	p.e.Prefs.Update(func(r *preferences.Preferences) { r.SettingsPage = p.entries[p.current].Title })
	p.o.Moved(inPlace)
	if inPlace && p.canvas != nil && p.canvas.Focused() == fyne.Focusable(p.list) {
		p.canvas.Unfocus()
	}
}
