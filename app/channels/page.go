// Package channels is the page of channels: the accounts through which people chat with the agent,
// requests for access, and the access policy.
package channels

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	m   *Model
	e   host.Env
	widgets.Body

	view        View
	detail      *detail                   // nil while the list or the form is shown
	form        *form                     // nil while no form is shown: updates do not disturb it
	maxRequests int                       // maximum number of access requests shown
	focusable   map[string]fyne.Focusable // focusable objects of the list, by their action
	first       fyne.Focusable            // the one to focus first
	refocus     bool                      // focus the page at the next drawing
	now         func() time.Time
}

// requestsShown is the number of access requests shown at first, and added by each "more".
const requestsShown = 20

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	p := newPage(ctx, e)
	bind.Follow(ctx, p.m.Follow)
	bind.Watch(ctx, p.m.Value, p.show)
	bind.Every(ctx, time.Second, func(time.Time) {
		if p.detail != nil {
			p.detail.tick()
		}
	})
	return p
}

func newPage(ctx context.Context, e host.Env) *Page {
	p := &Page{ctx: ctx, m: newModel(e.Feed), e: e, Body: widgets.NewBody(), maxRequests: requestsShown, now: time.Now}
	p.openList()
	return p
}

func (p *Page) focus(o fyne.Focusable) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(p.Box); c != nil {
		c.Focus(o)
	}
}

func (p *Page) show(v View) {
	p.view = v
	switch {
	case p.form != nil:
	case p.detail != nil:
		p.detail.show()
	default:
		p.drawList()
	}
}

func (p *Page) openList() {
	p.detail, p.form = nil, nil
	p.drawList()
}

func (p *Page) back() {
	p.refocus = true
	p.openList()
}

func (p *Page) open(key string) {
	p.form = nil
	p.Forget()
	p.detail = newDetail(p, key)
	p.detail.show()
	if p.detail != nil {
		p.focus(p.detail.toggle)
	}
}

// drawList redraws only after changes, so that buttons stay while the person uses them.
func (p *Page) drawList() {
	v := p.view
	key := fmt.Sprint("shown ", v.Loaded, v.Problem, len(v.Kinds), v.Pending, p.maxRequests)
	for _, a := range v.Accounts {
		key += fmt.Sprint(" ", a.Key(), accountWord(a), a.Error, a.LastActivity, a.Waiting, accountTitle(a))
	}
	focused := p.focusedAction()
	if !p.Draw(key, p.list) {
		return
	}
	switch o := p.focusable[focused]; {
	case o != nil:
		p.focus(o)
	case p.refocus || focused != "":
		p.focus(p.first)
	}
	p.refocus = false
}

// list creates the list, and sets the object in it to focus first.
func (p *Page) list() fyne.CanvasObject {
	v := p.view
	p.focusable = make(map[string]fyne.Focusable)
	add := p.addButton()
	p.first = add
	var body fyne.CanvasObject
	switch {
	case v.Problem != "":
		body = widgets.NewLoadError("The channels could not be loaded.", v.Problem, p.m.Reload)
	case !v.Loaded:
		body = widgets.NewLoading()
	case len(v.Accounts) == 0 && len(v.Pending) == 0:
		add.Hide() // the button below does the same
		below := p.addButton()
		p.first = below
		body = widgets.NewEmptyPage("channel", "No channels yet",
			"Add an account of a chat network, such as XMPP, to write to the agent from your phone. You decide who else may write.", below)
	default:
		rows := p.requestList()
		if len(v.Accounts) > 0 {
			accounts := widgets.Col(style.Gap)
			for _, a := range v.Accounts {
				accounts.Add(p.row(a))
			}
			rows = append(rows, widgets.NewSectionHeading("ACCOUNTS"), accounts)
		}
		body = widgets.NewVScroll(widgets.Inset(0, style.Inside, style.Page, 0, widgets.Col(style.Group, rows...)))
	}
	if len(v.Kinds) == 0 {
		add.Hide()
	}
	p.focusable["add"] = p.first
	if add.Visible() {
		p.focusable["add"] = add
	}
	return widgets.NewPage("Channels", body, add)
}

func (p *Page) addButton() *widgets.Button {
	b := widgets.NewButton("Add account", "plus", p.openForm)
	b.Primary = true
	return b
}

// focusedAction returns the action of the focused object in the list; empty for none.
func (p *Page) focusedAction() string {
	c := fyne.CurrentApp().Driver().CanvasForObject(p.Box)
	if c == nil || c.Focused() == nil {
		return ""
	}
	for name, o := range p.focusable {
		if o == c.Focused() {
			return name
		}
	}
	return ""
}

func (p *Page) row(a Account) fyne.CanvasObject {
	title := widgets.NewText(accountTitle(a), style.ColorText, "text")
	title.Ellipsis = true
	about := channelTitle(a.Kind, a.Channel) + " · " + a.AccountID
	if a.Error != "" {
		about += " · " + a.Error
	} else if a.LastActivity > 0 {
		about += " · last active " + format.When(a.LastActivity, p.now())
	}
	text := widgets.NewText(about, style.ColorMuted, style.SizeSmall)
	text.Ellipsis = true
	trail := widgets.NewText(accountWord(a), style.ColorMuted, style.SizeSmall)
	if a.State == protocol.AccountNoLogin {
		trail.Set(trail.Text, style.ColorNeedsYou)
	}
	line := widgets.Row(style.Inside, 1, stateIcon(a), widgets.Col(0, title, text), trail)
	press := widgets.NewClickable(widgets.Inset(style.Gap, style.Inside, style.Gap, style.Inside, line), func() { p.open(a.Key()) })
	p.focusable["open "+a.Key()] = press
	return press
}

type icon struct {
	name  string
	color fyne.ThemeColorName
}

var stateIcons = map[string]icon{
	protocol.AccountConnected:  {"online", style.ColorGood},
	protocol.AccountConnecting: {"clock", style.ColorAccent},
	protocol.AccountNoLogin:    {"warning", style.ColorNeedsYou},
	protocol.AccountStopped:    {"pause", style.ColorMuted},
}

func stateIcon(a Account) *widget.Icon {
	shown := icon{"clock", style.ColorAccent}
	if a.Busy == "" {
		shown = cmp.Or(stateIcons[a.State], icon{"offline", style.ColorMuted})
	}
	return widget.NewIcon(style.IconIn(shown.name, shown.color))
}

// Back returns from one account to the list, or from a form, which leaves a draft. It reports whether
// one was shown. While the account logs in, it cancels that.
func (p *Page) Back() bool {
	switch {
	case p.form != nil:
		p.form.leave()
	case p.detail != nil:
		p.back()
	default:
		return false
	}
	return true
}
