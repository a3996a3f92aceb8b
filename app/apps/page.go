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
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/clients"
	"fairlead/gateway/protocol"
)

// Handlers are the page's callbacks.
type Handlers struct {
	Copy func(string)
	Say  state.Say
	Undo state.OfferUndo
	// OpenURL opens a page in the browser.
	OpenURL func(string)
	// LastCalls reads an app's newest calls and passes them to done on the GUI thread.
	LastCalls func(id protocol.AppID, done func([]protocol.JournalEntry, error))
	// Stop stops a running command of an app and passes its failure to done on the GUI thread.
	Stop func(id string, done func(error))
	// Review shows the question of an app that asks to connect.
	Review func(protocol.QuestionID)
	// Programs connects client programs of this computer; nil if it cannot.
	Programs *state.ClientPrograms
}

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	app *state.App
	h   Handlers
	widgets.Body

	view   feed.View
	list   *widgets.ItemList // first the apps that ask to connect
	body   widgets.Body      // the list, or a text in its place
	detail *detail           // nil while the list or the form is shown
	form   bool              // the form is open: updates do not disturb it
	offers []clients.Client  // programs of this computer that can be connected
	link   *widgets.Button   // connects one of them
	now    func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(ctx, a, h)
	bind.Watch(ctx, a.Watch(a.Status, a.Feed.Apps, a.Feed.Machines, a.Feed.Questions), p.show)
	bind.Every(ctx, time.Second, func(time.Time) { p.redraw() })
	p.findPrograms()
	return p
}

func newPage(ctx context.Context, a *state.App, h Handlers) *Page {
	p := &Page{ctx: ctx, app: a, h: h, Body: widgets.NewBody(), body: widgets.NewBody(), now: time.Now}
	p.list = widgets.NewItemList(p.choose)
	p.link = p.connectMenu()
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
	case p.form:
	case p.detail != nil:
		p.detail.show()
	default:
		p.fill()
	}
}

func (p *Page) openList() {
	p.detail, p.form = nil, false
	p.Put(widgets.NewPage("Connected apps", p.body.Box, p.link, p.addButton()))
	p.fill()
}

func (p *Page) addButton() *widgets.Button {
	add := widgets.NewButton("New token", "plus", p.openForm)
	add.Primary = true
	return add
}

func (p *Page) back() {
	p.openList()
	widgets.Focus(p.list)
}

// fill lists the apps.
func (p *Page) fill() {
	v, now := p.view, p.now()
	asking := lists.Map(v.Questions.Others.Of(protocol.AskApp), func(q protocol.Question) widgets.ListItem {
		return widgets.ListItem{
			Icon: "needsyou", Color: style.ColorNeedsYou, Title: question.Title(q), Text: "Waiting for your answer",
			Detail: wording.TimeLeft(q.ExpiresAt, now), Warn: true,
		}
	})
	p.list.Set(append(asking, lists.Map(v.Apps.Apps, func(a protocol.App) widgets.ListItem {
		name, _ := wording.Reveal(a.Name)
		item := widgets.ListItem{Icon: "link", Color: style.ColorAccent, Title: name, Text: state.AppLine(v, a, now), Detail: state.AppPresence(v, a, now)}
		if state.HasEnded(a, now) {
			item.Color, item.Muted = style.ColorMuted, true
		}
		if a.Kind == protocol.AppToken {
			item.Icon = "key"
		}
		return item
	})...))
	none := len(v.Apps.Apps)+len(asking) == 0
	if offered := !none && len(p.offers) > 0 && p.address() != ""; offered != p.link.Visible() {
		widgets.SetVisible(p.link, offered)
		p.Box.Refresh()
	}
	p.body.Draw(fmt.Sprint(v.Apps.Loaded, v.Apps.Problem, none, p.address(), len(p.offers)), func() fyne.CanvasObject {
		switch {
		case v.Apps.Problem != "" && !v.Apps.Loaded:
			return widgets.NewLoadError("The connected apps could not be loaded.", v.Apps.Problem, p.app.LoadApps)
		case !v.Apps.Loaded:
			return widgets.NewLoading()
		case none:
			return p.empty()
		}
		return widgets.Border(nil, widgets.Inset(style.Inside, 0, style.Inside, 0, p.address().line(p.h)), nil, nil, p.list)
	})
}

// empty says how to connect the first app.
func (p *Page) empty() fyne.CanvasObject {
	const title, text = "No connected apps yet", "Apps such as Claude Code or VS Code can use your machines, and Fairlead asks you before they change anything. "
	if p.address() == "" {
		return widgets.NewEmptyPage("link", title, text+noAddress)
	}
	return widgets.NewEmptyPage("link", title, text+"Connect one with the command “fairlead mcp install”, with the address "+string(p.address())+", or with a token.",
		append(p.connectButtons(), p.address().copyButton(p.h), p.addButton())...)
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
	asking := p.view.Questions.Others.Of(protocol.AskApp)
	if i < len(asking) {
		p.h.Review(asking[i].ID)
	} else {
		p.open(p.view.Apps.Apps[i-len(asking)].ID)
	}
}

func (p *Page) open(id protocol.AppID) {
	p.form = false
	p.Forget()
	p.detail = newDetail(p, id)
	p.detail.show()
}

// Back returns from one app or the form, which leaves a draft, to the list, and reports whether one
// was shown.
func (p *Page) Back() bool {
	switch {
	case p.detail != nil && p.detail.bar.Confirming != "":
		p.detail.bar.Confirm("")
	case p.detail != nil, p.form:
		p.back()
	default:
		return false
	}
	return true
}
