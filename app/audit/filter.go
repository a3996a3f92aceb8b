package audit

import (
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func pick(text string, menu func() []*fyne.MenuItem) *widgets.Button {
	b := widgets.NewQuietButton(text, "", nil)
	b.TrailingIcon = "down"
	b.OnTap = func() { widgets.ShowMenu(b, menu()) }
	return b
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
	add("Rules created", protocol.AuditRuleMade)
	add("Rules changed", protocol.AuditRuleChanged)
	add("Rules deleted", protocol.AuditRuleDeleted)
	add("Permissions revoked", protocol.AuditGrantWithdrawn)
	add("Approval modes", protocol.AuditMode)
	return items
}

func (p *Page) times() []*fyne.MenuItem {
	var items []*fyne.MenuItem
	for _, t := range []struct {
		words string
		d     time.Duration
	}{{"Any time", 0}, {"Last hour", time.Hour}, {"Last day", 24 * time.Hour}, {"Last week", 7 * 24 * time.Hour}, {"Last 30 days", 30 * 24 * time.Hour}} {
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

// maxChats is the maximum number of chats in the menu, the most recent ones.
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
	for _, n := range p.h.View().Nodes {
		name, _ := state.Reveal(state.NameOf(n))
		items = append(items, choose(name, n.ID))
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
	list := p.h.View().Sessions
	for _, s := range list[:min(len(list), maxChats)] {
		title, _ := state.Reveal(state.TitleOf(s))
		items = append(items, choose(title, s.SessionKey))
	}
	return items
}
