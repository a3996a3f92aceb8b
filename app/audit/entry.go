package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func item(e protocol.AuditEntry, v feed.View, now time.Time) widgets.ListItem {
	title, text := feed.AuditLine(e, v)
	title, _ = wording.Reveal(title)
	text, _ = wording.Reveal(text)
	icon, bad, unclear := feed.AuditIcon(e)
	it := widgets.ListItem{Icon: icon, Title: title, Text: wording.ShortenPaths(format.Capital(text)), Detail: format.When(e.At, now)}
	switch {
	case bad:
		it.Color = style.ColorBad
	case unclear:
		it.Color = style.ColorNeedsYou
	case icon == "check":
		it.Color = style.ColorGood
	case icon == "stop":
		it.Color = style.ColorMuted
	}
	it.Full = wording.FullTime(e.At, now)
	return it
}

func (p *Page) open(i int) {
	e := p.all[i]
	p.showsEntry = true
	view := p.e.Feed.View()
	title, text := feed.AuditLine(e, view)
	machine, chat := placeOf(e, view)
	title, _ = wording.Reveal(title)
	heading := widgets.NewParagraph(title, style.ColorText, "text")
	heading.SetStyle(fyne.TextStyle{Bold: true})
	rows := []fyne.CanvasObject{heading, widgets.NewParagraph(format.Capital(text), style.ColorText, "text")}
	for _, f := range []struct{ name, value string }{
		{"Entry", fmt.Sprint(e.Seq)},
		{"When", time.UnixMilli(e.At).Format("2 January 2006 15:04:05")},
		{"Asked by", askerOf(e)},
		{"Decided by", deciderOf(e, view)},
		{"Recorded as", strings.TrimSpace(e.Tool + " " + e.What)},
		{"Machine", machine},
		{"Chat", chat},
		{"Rule", e.Rule},
		{"Rule at that time", string(e.Policy)},
		{"Approval", string(e.Approval)},
		{"Checksum of the arguments", e.Input},
		{"Checksum of the entry", e.Hash},
	} {
		if f.value != "" {
			value, _ := wording.Reveal(f.value)
			rows = append(rows, widgets.NewField(f.name, widgets.NewSelectableText(value)))
		}
	}
	var buttons []fyne.CanvasObject
	if e.SessionKey != "" {
		buttons = append(buttons, widgets.NewButton("Open chat", "chat", func() { p.e.Open(host.Chat{Key: e.SessionKey}) }))
	}
	if createdPermission(e) {
		undo := widgets.NewQuietButton(widgets.Choose(e.Approval == "", "Delete this rule", "Revoke this permission"), "undo", func() { p.undo(e) })
		undo.Danger = true
		buttons = append(buttons, undo)
	}
	if buttons != nil {
		rows = append(rows, widgets.Flow(style.Inside, buttons...))
	}
	back := widgets.NewQuietButton("All entries", "back", p.openList)
	widgets.SetContent(p.Box, widgets.NewPage("Audit log entry", widgets.NewForm(rows...), back))
}

// undo revokes what an entry permitted: the grants of the approval, or else its rule.
func (p *Page) undo(e protocol.AuditEntry) {
	what := ""
	p.run(func(ctx context.Context) error {
		if e.Approval != "" {
			res, err := feed.Call(ctx, p.gateway, protocol.QuestionUndo, protocol.QuestionParams{ID: e.Approval})
			if err == nil || e.Rule == "" {
				what = revokedText(res) + " Calls that already ran are not undone."
				return err
			}
		}
		what = "The rule was deleted. Calls that already ran are not undone."
		_, err := feed.Call(ctx, p.gateway, protocol.RuleDelete, protocol.RuleParams{ID: e.Rule})
		return err
	}, func(err error) {
		if err != nil {
			p.e.Say("Nothing was revoked: " + err.Error())
			return
		}
		p.e.Say(what)
		p.openList()
		p.Load()
	})
}

func revokedText(r protocol.QuestionUndoResult) string {
	var parts []string
	if r.Rules > 0 {
		parts = append(parts, format.Plural(r.Rules, "rule"))
	}
	if r.Grants > 0 {
		parts = append(parts, format.Plural(r.Grants, "permission")+" of a chat")
	}
	if len(parts) == 0 {
		return "There was nothing left to revoke."
	}
	return "Revoked: " + strings.Join(parts, " and ") + "."
}

// Back returns from one entry to the list, or from the list to the activity. It reports true.
func (p *Page) Back() bool {
	if p.showsEntry {
		p.openList()
		widgets.Focus(p.list)
	} else {
		p.openActivity()
	}
	return true
}

func (p *Page) openActivity() { p.e.Open(host.Page("Activity")) }

func menuButton(text string, menu func() []*fyne.MenuItem) *widgets.Button {
	b := widgets.NewMenuButton(text, "", menu)
	b.Quiet = true
	return b
}

func (p *Page) choice(button *widgets.Button, words string, set func(*protocol.AuditListParams)) *fyne.MenuItem {
	return fyne.NewMenuItem(words, func() {
		set(&p.params)
		button.SetText(words)
		p.Load()
	})
}

func (p *Page) kinds() []*fyne.MenuItem {
	type kind struct{ words, kind string }
	return lists.Map([]kind{
		{"Everything", ""},
		{"Calls", protocol.AuditCall},
		{"Rules created", protocol.AuditRuleMade},
		{"Rules changed", protocol.AuditRuleChanged},
		{"Rules deleted", protocol.AuditRuleDeleted},
		{"Permissions revoked", protocol.AuditGrantWithdrawn},
		{"Approval modes", protocol.AuditMode},
		{"Runs", protocol.AuditRun},
	}, func(k kind) *fyne.MenuItem {
		return p.choice(p.kind, k.words, func(a *protocol.AuditListParams) { a.Kind = k.kind })
	})
}

func (p *Page) times() []*fyne.MenuItem {
	any := p.choice(p.since, "Any time", func(a *protocol.AuditListParams) { a.After = 0 })
	last := func(words string, d time.Duration) *fyne.MenuItem {
		return p.choice(p.since, words, func(a *protocol.AuditListParams) { a.After = p.now().Add(-d).UnixMilli() })
	}
	const day = 24 * time.Hour
	return []*fyne.MenuItem{
		any, last("Last hour", time.Hour), last("Last day", day), last("Last week", 7*day), last("Last 30 days", 30*day),
	}
}

// maxChats is the maximum number of chats in the menu, the most recent ones.
const maxChats = 20

func (p *Page) machines() []*fyne.MenuItem {
	all := p.choice(p.node, "All machines", func(a *protocol.AuditListParams) { a.Node = "" })
	return append([]*fyne.MenuItem{all}, lists.Map(p.e.Feed.View().Machines, func(n protocol.NodeInfo) *fyne.MenuItem {
		name, _ := wording.Reveal(n.DisplayName())
		return p.choice(p.node, name, func(a *protocol.AuditListParams) { a.Node = n.ID })
	})...)
}

func (p *Page) chats() []*fyne.MenuItem {
	all := p.choice(p.chat, "All chats", func(a *protocol.AuditListParams) { a.SessionKey = "" })
	list := p.e.Feed.View().Sessions.List
	list = list[:min(len(list), maxChats)]
	return append([]*fyne.MenuItem{all}, lists.Map(list, func(s protocol.SessionEntry) *fyne.MenuItem {
		title, _ := wording.Reveal(feed.TitleOf(s))
		return p.choice(p.chat, title, func(a *protocol.AuditListParams) { a.SessionKey = s.SessionKey })
	})...)
}
