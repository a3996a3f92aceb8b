// Package audit is the page of the audit log: who decided about which call, when, where and by
// which rule. It never changes the log; a grant is revoked by deleting its rule.
package audit

import (
	"context"
	"fmt"
	"io"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

const pageSize = 200

// Page is the page. It belongs to the GUI thread.
type Page struct {
	gateway feed.Gateway
	e       host.Env
	Box     *fyne.Container

	params       protocol.AuditListParams
	all          []protocol.AuditEntry
	more         bool
	loaded       bool
	request      int // number of the latest request
	search       *widgets.SearchField
	kind         *widgets.Button
	node         *widgets.Button
	chat         *widgets.Button
	since        *widgets.Button
	list         *widgets.ItemList
	body         widgets.Body // the list, or a text in its place
	verifyResult *widgets.Paragraph
	olderButton  *widgets.Button
	showsEntry   bool // a single entry is shown
	now          func() time.Time
	run          bind.Runner
}

// New creates the page and loads the newest entries.
func New(ctx context.Context, e host.Env) *Page {
	p := newPage(e.Feed, e)
	p.run = bind.Until(ctx)
	p.Load()
	return p
}

// Content implements [host.View].
func (p *Page) Content() fyne.CanvasObject { return p.Box }

func newPage(g feed.Gateway, e host.Env) *Page {
	p := &Page{gateway: g, e: e, Box: container.NewStack(), now: time.Now, body: widgets.NewBody(), verifyResult: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall)}
	p.params.Limit = pageSize
	p.list = widgets.NewItemList(p.open)
	p.search = widgets.NewSearchField("Search the log", "")
	p.search.OnChanged = func(text string) {
		p.params.Query = text
		p.Load()
	}
	p.node, p.chat = menuButton("All machines", p.machines), menuButton("All chats", p.chats)
	p.kind, p.since = menuButton("Everything", p.kinds), menuButton("Any time", p.times)
	p.olderButton = widgets.NewQuietButton("Older entries", "down", p.next)
	p.openList()
	return p
}

func (p *Page) openList() {
	p.showsEntry = false
	head := widgets.Col(style.Gap, p.search, widgets.Flow(style.Gap, p.kind, p.since, p.node, p.chat), p.verifyResult)
	widgets.SetVisible(p.verifyResult, p.verifyResult.Text() != "")
	body := widgets.WithHeader(widgets.Inset(0, 0, style.Gap, 0, head), widgets.Border(nil, container.NewHBox(p.olderButton), nil, nil, p.body.Box))
	export := menuButton("Export", func() []*fyne.MenuItem {
		return []*fyne.MenuItem{fyne.NewMenuItem("As a table (CSV)…", func() { p.export(true) }), fyne.NewMenuItem("As JSON lines…", func() { p.export(false) })}
	})
	p.Box.Objects = []fyne.CanvasObject{widgets.NewPage("Audit log", body, widgets.NewQuietButton("Activity", "back", p.openActivity), widgets.NewQuietButton("Verify", "shield", p.verify), export, widgets.NewIconButton("reset", "Reload", p.Load))}
	p.draw()
}

// Load loads the newest entries that match the filter.
func (p *Page) Load() {
	p.all, p.loaded = nil, false
	p.fetch(0)
}

func (p *Page) next() {
	if n := len(p.all); n > 0 && p.more {
		p.fetch(p.all[n-1].Seq)
	}
}

func (p *Page) fetch(before int64) {
	p.request++
	request, params := p.request, p.params
	params.Before = before
	var res protocol.AuditListResult
	p.run(func(ctx context.Context) (err error) {
		res, err = feed.Call(ctx, p.gateway, protocol.AuditList, params)
		return err
	}, func(err error) {
		if request != p.request {
			return
		}
		if err != nil {
			p.body.Put(widgets.NewLoadError("The audit log could not be loaded.", err.Error(), p.Load))
			return
		}
		p.all, p.more, p.loaded = append(p.all, res.Entries...), res.More, true
		p.draw()
	})
}

func (p *Page) draw() {
	view := p.e.Feed.View()
	p.list.Set(lists.Map(p.all, func(e protocol.AuditEntry) widgets.ListItem { return item(e, view, p.now()) }))
	filtered := p.params != protocol.AuditListParams{Limit: p.params.Limit}
	p.body.Draw(fmt.Sprint(p.loaded && len(p.all) == 0, filtered), func() fyne.CanvasObject {
		switch {
		case !p.loaded || len(p.all) > 0:
			return p.list
		case filtered:
			return widgets.NewEmptyList("list", "No entries found", "No entry matches the filter.")
		}
		return widgets.NewEmptyList("list", "Nothing yet", "Calls that change something and changes of rules are listed here.")
	})
	widgets.SetVisible(p.olderButton, p.more)
	p.Box.Refresh()
}

func (p *Page) verify() {
	p.verifyResult.Set("Verifying every entry…", style.ColorMuted)
	p.verifyResult.Show()
	p.Box.Refresh()
	var res protocol.AuditVerifyResult
	p.run(func(ctx context.Context) (err error) {
		res, err = feed.Call(ctx, p.gateway, protocol.AuditVerify, protocol.Empty{})
		return err
	}, func(err error) {
		text, ok := verificationText(res)
		if err != nil {
			text, ok = "The log could not be verified: "+err.Error(), false
		}
		color := style.ColorGood
		if !ok {
			color = style.ColorBad
		}
		p.verifyResult.Set(text, color)
		p.Box.Refresh()
	})
}

// export writes all entries that match the filter, including those not loaded yet.
func (p *Page) export(asCSV bool) {
	name, params := "fairlead-audit.jsonl", p.params
	if asCSV {
		name = "fairlead-audit.csv"
	}
	p.e.Open(host.SaveFile{Name: name, Write: func(ctx context.Context, w io.Writer) (string, error) {
		n, err := exportTo(ctx, p.gateway, w, params, asCSV)
		return format.Plural(n, "entry", "entries") + " exported.", err
	}})
}
