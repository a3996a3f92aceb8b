// Package rules is the page of rules about calls: a list with origin and use, and for each rule an
// editor with a preview of its decisions.
package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Handlers are the page's callbacks.
type Handlers struct {
	Undo state.OfferUndo
	Say  state.Say
	// Save asks for a file name and saves a file. Open asks for a file and reads it.
	Save func(name string, data []byte)
	Open func(done func([]byte))
	// Config opens the configuration, where rules of toolApproval are edited.
	Config func()
}

// Page is the page. It belongs to the GUI thread.
type Page struct {
	gateway feed.Gateway
	drafts  *unsaved.Store
	h       Handlers
	Box     *fyne.Container

	view   feed.View
	all    protocol.RulesResult
	shown  []protocol.Rule
	loaded bool
	search *widgets.SearchField
	list   *widgets.ItemList
	count  *widgets.Paragraph
	body   widgets.Body // the list, or a text in its place
	detail *detail      // nil while the list is shown
	now    func() time.Time
	run    bind.Runner
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(a, a.Drafts, h)
	p.run = bind.Until(ctx)
	seen := -1
	bind.Watch(ctx, a.Watch(a.Changed, a.Feed.Machines, a.Sessions), func(v feed.View) {
		p.view = v
		if v.Changed.Rules != seen {
			seen = v.Changed.Rules
			p.Load()
		}
	})
	return p
}

func newPage(g feed.Gateway, drafts *unsaved.Store, h Handlers) *Page {
	p := &Page{gateway: g, drafts: drafts, h: h, Box: container.NewStack(), now: time.Now, body: widgets.NewBody()}
	p.list = widgets.NewItemList(func(i int) { p.open(p.shown[i]) })
	p.search = widgets.NewSearchField("Search rules", "")
	p.search.OnChanged = func(string) { p.draw() }
	p.count = widgets.NewParagraph("", style.ColorMuted, style.SizeSmall)
	p.openList()
	return p
}

// Load loads the rules.
func (p *Page) Load() {
	bind.Call(p.run, p.gateway, protocol.RulesList, protocol.Empty{}, func(all protocol.RulesResult, err error) {
		if err != nil {
			p.body.Put(widgets.NewLoadError("The rules could not be loaded.", err.Error(), p.Load))
			return
		}
		p.all, p.loaded = all, true
		p.draw()
	})
}

func (p *Page) openList() {
	p.detail = nil
	add := widgets.NewButton("New rule", "plus", func() { p.open(protocol.Rule{Policy: json.RawMessage(state.NewRule), Origin: protocol.RuleFromPerson}) })
	add.Primary = true
	body := widgets.Border(widgets.Col(style.Gap, p.search, widgets.Inset(0, 0, style.Gap, 0, p.count)), nil, nil, nil, p.body.Box)
	p.Box.Objects = []fyne.CanvasObject{widgets.NewPage("Approvals and rules", body, widgets.NewQuietButton("Import…", "import", p.load), widgets.NewQuietButton("Export…", "export", p.save), add)}
	p.draw()
}

func (p *Page) draw() {
	if p.detail != nil {
		return
	}
	p.shown = state.FindRules(p.all.Rules, p.search.Text)
	p.list.Set(lists.Map(p.shown, func(r protocol.Rule) widgets.ListItem { return item(r, p.now()) }))
	working := slices.DeleteFunc(slices.Clone(p.shown), func(r protocol.Rule) bool { return r.Problem != "" })
	off := len(p.shown) - len(working)
	text := ""
	if p.loaded {
		text = state.DefaultText(p.all.Default, len(p.all.Rules) > 0, p.view.Machines)
		if n := len(p.all.Rules); n > 0 {
			text = widgets.Choose(len(p.shown) < n, fmt.Sprintf("%d of ", len(p.shown)), "") + wording.Plural(n, "rule", "rules") + ". " + text
		}
		if off > 0 {
			text += " " + wording.Plural(off, "rule is", "rules are") + " turned off."
		}
	}
	p.count.Set(text, style.ColorMuted)
	empty, searched := p.loaded && len(p.shown) == 0, p.search.Text != ""
	p.body.Draw(fmt.Sprint(empty, searched), func() fyne.CanvasObject {
		switch {
		case !empty:
			return p.list
		case searched:
			return widgets.NewEmptyList("shield", "No rule found", "No rule contains all of these words.")
		}
		return widgets.NewEmptyList("shield", "No rules yet", "Create one here, or in an approval with the arrow beside “Allow once”.")
	})
	p.Box.Refresh()
}

func item(r protocol.Rule, now time.Time) widgets.ListItem {
	icon, color := "check", style.ColorGood
	verdict, expires := state.VerdictOf(r.Policy)
	switch verdict {
	case "deny":
		icon, color = "denied", style.ColorBad
	case "ask":
		icon, color = "question", style.ColorNeedsYou
	}
	words, _ := wording.Reveal(r.Words)
	it := widgets.ListItem{Icon: icon, Color: color, Title: format.Capital(words), Text: state.RuleOrigin(r), Detail: state.RuleUse(r, now)}
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
	bind.Call(p.run, p.gateway, protocol.RuleDelete, protocol.RuleParams{ID: r.ID}, func(_ protocol.OK, err error) {
		if p.h.Say.Failed("The rule was not deleted", err) {
			return
		}
		p.openList()
		p.Load()
		p.h.Undo("The rule was deleted.", func() {
			bind.Call(p.run, p.gateway, protocol.RuleRestore, protocol.RuleParams{ID: r.ID}, func(_ protocol.OK, err error) {
				p.h.Say.Failed("The rule could not be restored", err)
				p.Load()
			})
		}, p.now().Add(feed.UndoTime))
	})
}

func (p *Page) save() {
	bind.Call(p.run, p.gateway, protocol.RulesSave, protocol.Empty{}, func(all protocol.RulesExport, err error) {
		if p.h.Say.Failed("The rules were not exported", err) {
			return
		}
		p.h.Save("fairlead-rules.json", all.File)
	})
}

func (p *Page) load() {
	p.h.Open(func(file []byte) {
		var res protocol.RulesImportResult
		p.run(func(ctx context.Context) (err error) {
			res, err = state.ImportRules(ctx, p.gateway, file)
			return err
		}, func(err error) {
			if p.h.Say.Failed("The rules were not imported", err) {
				return
			}
			text := wording.Plural(res.Added, "rule was", "rules were") + " added."
			if n := res.Skipped; n > 0 {
				text += fmt.Sprintf(" %d already existed.", n)
			}
			if n := len(res.Problems); n > 0 {
				text += " Problem: " + res.Problems[0]
				if n > 1 {
					text += fmt.Sprintf(" And %d more.", n-1)
				}
			}
			p.h.Say(text)
			p.Load()
		})
	})
}

// Back returns from one rule, whose unsaved changes remain as a draft, and reports whether one was
// shown.
func (p *Page) Back() bool {
	if p.detail == nil {
		return false
	}
	p.back()
	return true
}

func (p *Page) back() {
	p.openList()
	widgets.Focus(p.list)
}
