// Package rules is the page of rules about calls: a list with origin and use, and for each rule an
// editor with a preview of its decisions.
package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx     context.Context
	gateway feed.Gateway
	e       host.Env
	widgets.MasterDetail

	view   feed.View
	all    protocol.RulesResult
	shown  []protocol.Rule
	loaded bool
	search *widgets.SearchField
	count  *widgets.Paragraph
	detail *detail // nil while the list is shown
	now    func() time.Time
	run    bind.Runner
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	p := newPage(ctx, e.Feed, e)
	seen := -1
	bind.Watch(ctx, e.Feed.Watch(e.Feed.Changed, e.Feed.Machines, e.Feed.Sessions), func(v feed.View) {
		p.view = v
		if v.Changed.Rules != seen {
			seen = v.Changed.Rules
			p.Load()
		}
	})
	return p
}

// OpenAt implements [host.Opener].
func (p *Page) OpenAt(to host.Target) {
	if _, isNew := to.(host.New); isNew {
		p.Create()
	}
}

func newPage(ctx context.Context, g feed.Gateway, e host.Env) *Page {
	p := &Page{ctx: ctx, gateway: g, e: e, now: time.Now, run: bind.Until(ctx)}
	p.MasterDetail = widgets.NewMasterDetail(widgets.NewItemList(func(i int) { p.open(p.shown[i]) }), p.page, p.fill)
	p.search = widgets.NewSearchField("Search rules", "")
	p.search.OnChanged = func(string) { p.fill() }
	p.count = widgets.NewParagraph("", style.ColorMuted, style.SizeSmall)
	p.ShowList()
	return p
}

// Load loads the rules.
func (p *Page) Load() {
	var all protocol.RulesResult
	p.run(func(ctx context.Context) (err error) {
		all, err = feed.Call(ctx, p.gateway, protocol.RulesList, protocol.Empty{})
		return err
	}, func(err error) {
		if err != nil {
			p.Master.Put(widgets.NewLoadError("The rules could not be loaded.", err.Error(), p.Load))
			return
		}
		p.all, p.loaded = all, true
		p.fill()
	})
}

// Create opens the form of a new rule.
func (p *Page) Create() {
	p.open(protocol.Rule{Policy: json.RawMessage(newPolicy), Origin: protocol.RuleFromPerson})
	if f := p.detail.form; f != nil {
		widgets.FocusIn(p.Box, f.command)
	}
}

// page is the page around the list.
func (p *Page) page(master fyne.CanvasObject) fyne.CanvasObject {
	add := widgets.NewButton("New rule", "plus", p.Create)
	add.Primary = true
	body := widgets.Border(widgets.Col(style.Gap, p.search, widgets.Inset(0, 0, style.Gap, 0, p.count)), nil, nil, nil, master)
	return widgets.NewPage("Approvals and rules", body, widgets.NewQuietButton("Import…", "import", p.load), widgets.NewQuietButton("Export…", "export", p.save), add)
}

func (p *Page) fill() {
	p.shown = find(p.all.Rules, p.search.Text)
	p.List.Set(lists.Map(p.shown, func(r protocol.Rule) widgets.ListItem { return item(r, p.now()) }))
	text := ""
	if p.loaded {
		text = countText(p.all, p.shown, p.view.Machines)
	}
	p.count.Set(text, style.ColorMuted)
	empty, searched := p.loaded && len(p.shown) == 0, p.search.Text != ""
	p.Master.Draw(fmt.Sprint(empty, searched), func() fyne.CanvasObject {
		switch {
		case !empty:
			return p.List
		case searched:
			return widgets.NewEmptyList("shield", "No rule found", "No rule contains all of these words.")
		}
		return widgets.NewEmptyList("shield", "No rules yet", "Create one here, or in an approval with the arrow beside “Allow once”.")
	})
	p.Box.Refresh()
}

func item(r protocol.Rule, now time.Time) widgets.ListItem {
	icon, color := "check", style.ColorGood
	verdict, expires := verdictOf(r.Policy)
	switch verdict {
	case "deny":
		icon, color = "denied", style.ColorBad
	case "ask":
		icon, color = "question", style.ColorNeedsYou
	}
	words, _ := wording.Reveal(r.Words)
	it := widgets.ListItem{Icon: icon, Color: color, Title: format.Capital(words), Text: originText(r), Detail: useText(r, now)}
	if !expires.IsZero() && expires.Before(now) {
		it.Detail, it.Muted = "expired", true
	}
	if r.Problem != "" {
		it.Icon, it.Color, it.Detail, it.Warn, it.Muted = "warning", style.ColorNeedsYou, "off", true, true
		it.Text = format.Capital(r.Problem)
	}
	return it
}

func (p *Page) remove(r protocol.Rule) {
	param := protocol.RuleParams{ID: r.ID}
	p.e.Run(p.ctx, "The rule was not deleted", func(ctx context.Context) error { return feed.Send(ctx, p.gateway, protocol.RuleDelete, param) }, func() {
		p.ShowList()
		p.Load()
		p.e.Undo("The rule was deleted.", func() {
			restore := func(ctx context.Context) error { return feed.Send(ctx, p.gateway, protocol.RuleRestore, param) }
			p.e.Run(p.ctx, "The rule could not be restored", restore, p.Load)
		}, p.now().Add(feed.UndoTime))
	})
}

func (p *Page) save() {
	var all protocol.RulesExport
	p.e.Run(p.ctx, "The rules were not exported", func(ctx context.Context) (err error) {
		all, err = feed.Call(ctx, p.gateway, protocol.RulesSave, protocol.Empty{})
		return err
	}, func() {
		p.e.Open(host.SaveFile{Name: "fairlead-rules.json", Write: func(_ context.Context, w io.Writer) (string, error) {
			_, err := w.Write(all.File)
			return "The rules were saved.", err
		}})
	})
}

func (p *Page) load() {
	p.e.Open(host.OpenFile{Title: "Import rules", Button: "Import", Read: func(file []byte) {
		var res protocol.RulesImportResult
		p.e.Run(p.ctx, "The rules were not imported", func(ctx context.Context) (err error) {
			res, err = importFile(ctx, p.gateway, file)
			return err
		}, func() {
			p.e.Say(importText(res))
			p.Load()
		})
	}})
}
