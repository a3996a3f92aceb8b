// Package exposure is the page that shows who and what can reach the gateway, its machines and the
// agent, and closes it.
package exposure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx     context.Context
	gateway feed.Gateway
	reload  func()
	e       host.Env
	widgets.Body

	view    feed.View
	search  *widgets.SearchField
	summary *widgets.Paragraph
	list    widgets.Body
	rows    map[string]*row // of the entries that are shown, by what they show
	most    int             // entries of a kind that are shown
	now     func() time.Time
}

// shownAtFirst is the number of entries of a kind that are shown at first, and added by each
// "more".
const shownAtFirst = 50

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	p := newPage(ctx, e.Feed, e.Feed.WaysIn.Load, e)
	forwards := e.Feed.View().Changed.Forwards
	bind.Watch(ctx, e.Feed.Watch(e.Feed.Exposures, e.Feed.Changed), func(v feed.View) {
		if v.Changed.Forwards != forwards {
			forwards = v.Changed.Forwards
			p.reload()
		}
		p.show(v)
	})
	bind.Every(ctx, time.Second, func(time.Time) { p.draw() })
	p.reload() // last uses do not change the feed
	return p
}

func newPage(ctx context.Context, g feed.Gateway, reload func(), e host.Env) *Page {
	p := &Page{
		ctx: ctx, gateway: g, reload: reload, e: e, Body: widgets.NewBody(), list: widgets.NewBody(), summary: widgets.NewParagraph("", style.ColorMuted, "text"),
		most: shownAtFirst, now: time.Now,
	}
	p.search = widgets.NewSearchField("Search", "")
	p.search.OnChanged = func(string) {
		p.most = shownAtFirst
		p.draw()
	}
	head := widgets.Col(style.Inside, p.search, widgets.Inset(0, 0, style.Gap, 0, p.summary))
	p.Put(widgets.NewPage(string(host.Exposure), widgets.WithHeader(head, p.list.Box)))
	p.draw()
	return p
}

// Back implements [host.View]: it leaves the question that is asked, if there is one.
func (p *Page) Back() bool {
	for _, r := range p.rows {
		if r.bar.Back() {
			return true
		}
	}
	return false
}

// Focus implements [host.Focuser].
func (p *Page) Focus(c fyne.Canvas) { c.Focus(p.search) }

func (p *Page) show(v feed.View) {
	p.view = v
	p.draw()
}

// draw shows what has changed.
func (p *Page) draw() {
	x := p.view.Exposures
	groups := groupsOf(x.List, p.search.Text, p.most)
	text, warns := summary(x.List)
	p.summary.Set(widgets.Choose(x.Loaded, text, ""), widgets.Choose(warns, style.ColorNeedsYou, style.ColorMuted))
	rows, changed := make(map[string]*row), false
	key := fmt.Sprint(x.Loaded, x.Problem, p.search.Text != "")
	for _, g := range groups {
		key += fmt.Sprint("\n", g.Kind, g.More)
		for _, e := range g.List {
			k := keyOf(e)
			rows[k] = p.rows[k]
			if rows[k] == nil {
				rows[k] = newRow(p, e)
			}
			changed = rows[k].update(e, p.now()) || changed
			key += "\n" + k
		}
	}
	p.rows = rows
	if p.list.Draw(key, func() fyne.CanvasObject { return p.content(groups) }) || changed {
		p.LayOutText()
	}
}

// content is the list, or the text in its place.
func (p *Page) content(groups []group) fyne.CanvasObject {
	switch x := p.view.Exposures; {
	case x.Problem != "" && !x.Loaded:
		return widgets.NewLoadError("The list could not be loaded.", x.Problem, p.reload)
	case !x.Loaded:
		return widgets.NewLoading()
	case len(groups) == 0 && p.search.Text != "":
		return widgets.NewEmptyList("shield", "Nothing found", "Nothing in the list contains all of these words.")
	case len(groups) == 0:
		return widgets.NewEmptyList("shield", "Nothing can be reached", "Addresses, published apps, tokens, paired devices and rules that allow something appear here.")
	}
	var parts []fyne.CanvasObject
	for _, g := range groups {
		part := widgets.Col(style.Group, widgets.NewSectionHeading(strings.ToUpper(display.ExposureGroup(g.Kind))))
		for _, e := range g.List {
			part.Add(p.rows[keyOf(e)].box)
		}
		if g.More > 0 {
			part.Add(widgets.Row(0, -1, widgets.NewQuietButton(fmt.Sprintf("%d more", g.More), "down", func() {
				p.most += shownAtFirst
				p.draw()
			})))
		}
		parts = append(parts, part)
	}
	return widgets.NewForm(parts...)
}

// close closes a way in, and offers to open it again if that is possible.
func (p *Page) close(e protocol.Exposure) {
	revealed, _ := wording.Reveal(e.Title)
	title := "“" + revealed + "”"
	end := func(ctx context.Context) error { return call(ctx, p.gateway, e.Close.Call) }
	p.e.Run(p.ctx, title+" was not closed", end, func() {
		p.reload()
		if e.Close.Undo == nil {
			p.e.Say(title + " is closed. " + e.Close.Ends)
			return
		}
		p.e.Undo(title+" is closed.", func() {
			open := func(ctx context.Context) error { return call(ctx, p.gateway, *e.Close.Undo) }
			p.e.Run(p.ctx, title+" was not opened again", open, p.reload)
		}, p.now().Add(feed.UndoTime))
	})
}
