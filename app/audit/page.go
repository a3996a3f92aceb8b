// Package audit is the page of the audit log: who allowed what, when, where and by which rule, and what came of it. It shows and never changes the
// log; a grant is taken back by deleting what it made.
package audit

import (
	"context"
	"fmt"
	"io"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Backend is what the page asks of the gateway. Its methods block.
type Backend interface {
	Audit(context.Context, protocol.AuditListParams) (protocol.AuditListResult, error)
	VerifyAudit(context.Context) (protocol.AuditVerifyResult, error)
	UndoGrant(context.Context, protocol.ApprovalID) (protocol.ApprovalUndoResult, error)
	DeleteRule(ctx context.Context, id string) error
	ExportAudit(ctx context.Context, w io.Writer, p protocol.AuditListParams, asCSV bool) (int, error)
}

// Handlers are what the page does beside the log.
type Handlers struct {
	Say      func(string)
	OpenChat func(protocol.SessionKey)
	// Machines and Chats are what the lines can be narrowed to; nil offers nothing.
	Machines func() []protocol.NodeID
	Chats    func() []protocol.SessionEntry
	// SaveTo asks where a file goes and gives it to write, off the GUI thread.
	SaveTo func(name string, write func(context.Context, io.Writer) (string, error))
}

// pageSize is how many lines are loaded at once.
const pageSize = 200

// Page is the page. It belongs to the GUI thread.
type Page struct {
	b   Backend
	h   Handlers
	Box *fyne.Container

	params protocol.AuditListParams
	all    []protocol.AuditEntry
	shown  []protocol.AuditEntry
	more   bool
	loaded bool
	asked  int // number of the newest load
	search *widgets.SearchField
	kind   *widgets.Button
	node   *widgets.Button
	chat   *widgets.Button
	since  *widgets.Button
	list   *widgets.ItemList
	none   *fyne.Container
	chain  *widgets.Paragraph
	older  *widgets.Button
	now    func() time.Time
	run    func(work func(context.Context) error, done func(error))
}

// New makes the page and loads the newest lines.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(a, h)
	p.run = func(work func(context.Context) error, done func(error)) {
		bind.Go(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, work(ctx) }, func(_ struct{}, err error) { done(err) })
	}
	p.Load()
	return p
}

func newPage(b Backend, h Handlers) *Page {
	p := &Page{b: b, h: h, Box: container.NewStack(), now: time.Now, none: container.NewStack(), chain: widgets.NewParagraph("", look.ColorMuted, look.SizeSmall)}
	p.params.Limit = pageSize
	p.list = widgets.NewItemList(func(i int) { p.open(i) })
	p.search = widgets.NewSearchField("Search all lines", "")
	p.search.OnChanged = func(text string) {
		p.params.Query = text
		p.Load()
	}
	p.node, p.chat = pick("All machines", p.machines), pick("All chats", p.chats)
	p.kind, p.since = pick("Everything", p.kinds), pick("Ever", p.times)
	p.older = widgets.NewQuiet("Older lines", "down", p.next)
	p.openList()
	return p
}

func pick(text string, menu func() []*fyne.MenuItem) *widgets.Button {
	b := widgets.NewQuiet(text, "", nil)
	b.Trail = "down"
	b.OnTap = func() { widgets.ShowMenu(b, menu()) }
	return b
}

func (p *Page) openList() {
	head := widgets.Col(look.Gap, p.search, widgets.Flow(look.Gap, p.kind, p.since, p.node, p.chat), widgets.Inset(look.Gap, 0, look.Gap, 0, p.chain))
	body := widgets.Over(head, container.NewBorder(nil, container.NewHBox(p.older), nil, nil, container.NewStack(p.list, p.none)))
	export := pick("Export", func() []*fyne.MenuItem {
		return []*fyne.MenuItem{fyne.NewMenuItem("As a table (CSV)…", func() { p.export(true) }), fyne.NewMenuItem("As JSON lines…", func() { p.export(false) })}
	})
	p.Box.Objects = []fyne.CanvasObject{widgets.NewPage("Audit", body, widgets.NewQuiet("Verify", "shield", p.verify), export, widgets.NewQuiet("", "reset", p.Load))}
	p.draw()
}

func (p *Page) kinds() []*fyne.MenuItem {
	var items []*fyne.MenuItem
	add := func(words, kind string) {
		items = append(items, fyne.NewMenuItem(words, func() {
			p.params.Kind = kind
			p.kind.SetText(words)
			p.Load()
		}))
	}
	add("Everything", "")
	add("Calls", protocol.AuditCall)
	add("Rules that were made", protocol.AuditRuleMade)
	add("Rules that were changed", protocol.AuditRuleChanged)
	add("Rules that were deleted", protocol.AuditRuleDeleted)
	add("Permissions withdrawn", protocol.AuditGrantGone)
	add("Ways of asking", protocol.AuditMode)
	return items
}

func (p *Page) times() []*fyne.MenuItem {
	var items []*fyne.MenuItem
	for _, t := range []struct {
		words string
		d     time.Duration
	}{{"Ever", 0}, {"Last hour", time.Hour}, {"Last day", 24 * time.Hour}, {"Last week", 7 * 24 * time.Hour}, {"Last 30 days", 30 * 24 * time.Hour}} {
		items = append(items, fyne.NewMenuItem(t.words, func() {
			p.params.After = 0
			if t.d > 0 {
				p.params.After = p.now().Add(-t.d).UnixMilli()
			}
			p.since.SetText(t.words)
			p.Load()
		}))
	}
	return items
}

// maxChats is how many chats the menu names, the latest ones.
const maxChats = 20

func (p *Page) machines() []*fyne.MenuItem {
	choose := func(words string, id protocol.NodeID) *fyne.MenuItem {
		return fyne.NewMenuItem(words, func() {
			p.params.Node = id
			p.node.SetText(words)
			p.Load()
		})
	}
	items := []*fyne.MenuItem{choose("All machines", "")}
	if p.h.Machines != nil {
		for _, id := range p.h.Machines() {
			items = append(items, choose(string(id), id))
		}
	}
	return items
}

func (p *Page) chats() []*fyne.MenuItem {
	choose := func(words string, key protocol.SessionKey) *fyne.MenuItem {
		return fyne.NewMenuItem(words, func() {
			p.params.SessionKey = key
			p.chat.SetText(words)
			p.Load()
		})
	}
	items := []*fyne.MenuItem{choose("All chats", "")}
	if p.h.Chats != nil {
		list := p.h.Chats()
		for _, s := range list[:min(len(list), maxChats)] {
			title, _ := state.Reveal(state.TitleOf(s))
			items = append(items, choose(title, s.SessionKey))
		}
	}
	return items
}

// Load asks for the newest lines that the filter lets through.
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
	p.asked++
	asked, params := p.asked, p.params
	params.Before = before
	var res protocol.AuditListResult
	p.run(func(ctx context.Context) (err error) { res, err = p.b.Audit(ctx, params); return err }, func(err error) {
		if asked != p.asked {
			return
		}
		if err != nil {
			p.none.Objects = []fyne.CanvasObject{container.NewVBox(widgets.NewErrorBox(widgets.Problem{What: "The audit log could not be loaded.", Do: err.Error(), Button: "Try again"}, p.Load))}
			p.none.Show()
			p.list.Hide()
			p.Box.Refresh()
			return
		}
		p.all, p.more, p.loaded = append(p.all, res.Entries...), res.More, true
		p.draw()
	})
}

func (p *Page) draw() {
	p.shown = p.all
	items := make([]widgets.ListItem, len(p.shown))
	for i, e := range p.shown {
		items[i] = item(e, p.now())
	}
	p.list.Set(items)
	empty := p.loaded && len(p.shown) == 0
	if empty {
		title, text := "Nothing yet", "Each call with an effect and each change of a rule leaves a line here."
		if narrow := (protocol.AuditListParams{Limit: p.params.Limit}); p.params != narrow {
			title, text = "No line found", "No line fits what is chosen above."
		}
		p.none.Objects = []fyne.CanvasObject{widgets.Inset(2*look.Page, 0, 0, 0, widgets.NewEmptyState("list", title, text))}
	}
	p.none.Refresh()
	show(p.none, empty)
	show(p.list, !empty)
	show(p.older, p.more)
	p.Box.Refresh()
}

func item(e protocol.AuditEntry, now time.Time) widgets.ListItem {
	title, text := state.AuditLine(e)
	title, _ = state.Reveal(title)
	text, _ = state.Reveal(text)
	it := widgets.ListItem{Icon: "edit", Title: title, Text: text, Trail: state.When(e.At, now)}
	if e.Kind == protocol.AuditCall {
		it.Icon, it.Color = "check", look.ColorGood
		if e.Verdict == "deny" {
			it.Icon, it.Color = "denied", look.ColorBad
		}
	}
	return it
}

func (p *Page) verify() {
	p.chain.Set("Looking at every line…", look.ColorMuted)
	var res protocol.AuditVerifyResult
	p.run(func(ctx context.Context) (err error) { res, err = p.b.VerifyAudit(ctx); return err }, func(err error) {
		text, ok := state.Verified(res)
		if err != nil {
			text, ok = "It could not be verified: "+err.Error(), false
		}
		color := look.ColorGood
		if !ok {
			color = look.ColorBad
		}
		p.chain.Set(text, color)
		p.Box.Refresh()
	})
}

// export writes every line that the filter lets through, not only those that are loaded.
func (p *Page) export(asCSV bool) {
	name, params := "fairlead-audit.jsonl", p.params
	if asCSV {
		name = "fairlead-audit.csv"
	}
	p.h.SaveTo(name, func(ctx context.Context, w io.Writer) (string, error) {
		n, err := p.b.ExportAudit(ctx, w, params, asCSV)
		return fmt.Sprintf("%d lines were written.", n), err
	})
}

// open shows a line in full.
func (p *Page) open(i int) {
	if i >= len(p.shown) {
		return
	}
	e := p.shown[i]
	title, text := state.AuditLine(e)
	title, _ = state.Reveal(title)
	heading := widgets.NewParagraph(title, look.ColorText, "text")
	heading.SetStyle(fyne.TextStyle{Bold: true})
	rows := []fyne.CanvasObject{heading, widgets.NewParagraph(text, look.ColorText, "text")}
	for _, f := range []struct{ name, value string }{
		{"Line", fmt.Sprint(e.Seq)},
		{"When", time.UnixMilli(e.At).Format("2 January 2006 15:04:05")},
		{"Who", e.By},
		{"Machine", string(e.Node)},
		{"Chat", string(e.SessionKey)},
		{"Rule", e.Rule},
		{"The rule then", string(e.Policy)},
		{"Question", string(e.Approval)},
		{"Arguments, SHA-256", e.Input},
		{"Chain", e.Hash},
	} {
		if f.value != "" {
			value, _ := state.Reveal(f.value)
			l := widget.NewLabel(value)
			l.Selectable, l.Wrapping = true, fyne.TextWrapBreak
			rows = append(rows, widgets.NewField(f.name, widgets.Bleed(l)))
		}
	}
	var buttons []fyne.CanvasObject
	if e.SessionKey != "" && p.h.OpenChat != nil {
		buttons = append(buttons, widgets.NewButton("Open the chat", "chat", func() { p.h.OpenChat(e.SessionKey) }))
	}
	if e.Approval != "" || e.Rule != "" && e.Kind != protocol.AuditRuleDeleted && e.Kind != protocol.AuditGrantGone {
		undo := widgets.NewQuiet("Undo this grant", "undo", func() { p.undo(e) })
		undo.Danger = true
		buttons = append(buttons, undo)
	}
	if buttons != nil {
		rows = append(rows, widgets.Flow(look.Inside, buttons...))
	}
	back := widgets.NewQuiet("All lines", "back", p.openList)
	p.Box.Objects = []fyne.CanvasObject{widgets.NewPage("Line of the audit log", widgets.NewForm(rows...), back)}
	p.Box.Refresh()
}

// undo takes back what led to a line: what the question gave, or else the rule that the line names.
func (p *Page) undo(e protocol.AuditEntry) {
	what := ""
	p.run(func(ctx context.Context) error {
		if e.Approval != "" {
			res, err := p.b.UndoGrant(ctx, e.Approval)
			if err == nil || e.Rule == "" {
				what = fmt.Sprintf("Taken back: %d rules, %d permissions of a chat. What has run has run.", res.Rules, res.Grants)
				return err
			}
		}
		what = "The rule was deleted. What has run has run."
		return p.b.DeleteRule(ctx, e.Rule)
	}, func(err error) {
		if err != nil {
			p.h.Say("Nothing was taken back: " + err.Error())
			return
		}
		p.h.Say(what)
		p.openList()
		p.Load()
	})
}

func show(o fyne.CanvasObject, on bool) {
	if on {
		o.Show()
	} else {
		o.Hide()
	}
}
