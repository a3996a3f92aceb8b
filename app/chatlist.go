package app

import (
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// chatFacts are what the rows of chats show in addition to the chats themselves.
type chatFacts struct {
	working, asking map[protocol.SessionKey]bool
}

func factsOf(v feed.View) chatFacts {
	f := chatFacts{working: make(map[protocol.SessionKey]bool), asking: make(map[protocol.SessionKey]bool)}
	for _, r := range v.Runs.List {
		if !r.Over() {
			f.working[r.SessionKey] = true
		}
	}
	for _, a := range v.Questions.Pending.OfCalls() {
		f.asking[a.SessionKey] = true
	}
	return f
}

// connectList sets what the list does.
func (b *sidebar) connectList() {
	b.list.Item = func(i int) widgets.SidebarItem { return b.itemOf(b.rows[i]) }
	b.list.OnTap = b.tap
	b.list.OnChoose = func(i int) { b.tap(i, 0) }
	b.list.OnMenu = b.openMenu
	b.list.OnMove = func(i int, extend bool) {
		if at := b.chatIndex(i); extend && at >= 0 {
			if b.chosen.Cursor() < 0 {
				b.chosen.One(at)
			}
			b.chosen.Range(at)
			b.list.Refresh()
		}
	}
	b.list.OnRune = func(r rune) {
		b.ui.main.conversation.window.Canvas().Focus(b.search)
		b.search.TypedRune(r)
	}
	b.list.OnKey = b.typedKey
	b.list.OnShortcut = b.typedShortcut
}

// setRows shows the rows of approvals and chats.
func (b *sidebar) setRows(rows []row) {
	lines := make([]widgets.ListRow, len(rows))
	keys := make([]string, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		switch {
		case r.heading != "":
			lines[i].Heading = b.heading(r.heading, r.count)
			if r.isGroup {
				lines[i].Heading = b.groupHeading(r.heading)
			}
		case r.chat != nil:
			r.id = string(r.chat.SessionKey)
			keys = append(keys, r.id)
		default:
			r.id = "\x00" + r.item.Title // no key of a chat
		}
		lines[i].ID, lines[i].Tall = r.id, r.hit != nil
	}
	b.rows = rows
	if !slices.Equal(keys, b.keys) {
		b.keys = keys
		b.chosen.Set(keys)
	}
	b.list.Set(lines)
}

// itemOf returns the item of a row.
func (b *sidebar) itemOf(r row) widgets.SidebarItem {
	if r.chat == nil {
		return r.item
	}
	e, item := *r.chat, r.item
	item.Title = feed.TitleOf(e)
	item.Checked = b.chosen.HasPath(r.id)
	item.Dot = b.facts.asking[e.SessionKey]
	item.Unread = b.ui.unread.has(e)
	switch {
	case item.Dot:
	case b.facts.working[e.SessionKey]:
		item.Detail = "working"
	case item.Unread:
		item.Detail = "new"
	case e.Archived && !b.filter.Archived:
		item.Detail = "archived"
	case len(e.Tags) > 0 && b.filter.Tag == "":
		item.Detail = e.Tags[0]
	}
	if r.hit != nil {
		item.Text = feed.HitText(*r.hit, hitLead, widgets.MarkStart, widgets.MarkEnd)
	}
	return item
}

// appendChats appends the chats of the present filter, in groups.
func (b *sidebar) appendChats(rows []row, v feed.View, key protocol.SessionKey) []row {
	b.facts = factsOf(v)
	selected := widgets.SidebarItem{Selected: true}
	head := chatsHead
	switch {
	case b.filter.Archived:
		head = "ARCHIVED"
	case b.filter.Tag != "":
		head = strings.ToUpper(b.filter.Tag)
	}
	before := len(rows)
	rows = append(rows, row{heading: head})
	if b.filter != (chats.Filter{}) {
		item := widgets.SidebarItem{Icon: "back", Title: "All chats"}
		rows = append(rows, row{item: item, tap: func() { b.setFilter(chats.Filter{}) }})
	} else if e, known := v.Session(key); !known && key != "" && v.Status.Loaded {
		// without the actions on chats, because it is not stored
		item := widgets.SidebarItem{Title: feed.TitleOf(e), Selected: b.ui.nav.title == ""}
		rows = append(rows, row{item: item, tap: func() { b.choose(key) }})
	}
	groups := chats.Groups(v.Sessions.List, b.filter, b.now())
	for _, g := range groups {
		rows = append(rows, row{heading: g.Title, isGroup: true})
		for _, e := range g.Chats {
			r := row{chat: e}
			if e.SessionKey == key && b.ui.nav.title == "" {
				r.item = selected
			}
			rows = append(rows, r)
		}
	}
	switch n := v.Sessions.List.Archived(); {
	case b.filter != (chats.Filter{}):
		if len(groups) == 0 {
			text := widgets.Choose(b.filter.Archived, "No archived chats", "No chats with this tag")
			rows = append(rows, row{item: widgets.SidebarItem{Title: text, Muted: true}})
		}
	case n > 0:
		item := widgets.SidebarItem{Icon: "archive", Title: "Archived", Detail: fmt.Sprint(n), Muted: true}
		rows = append(rows, row{item: item, tap: func() { b.setFilter(chats.Filter{Archived: true}) }})
	}
	if len(rows) == before+1 {
		return rows[:before] // no heading without chats
	}
	return rows
}

// hitLead is the number of characters that a result shows before the first match.
const hitLead = 12

// resultRows are the search results.
func (b *sidebar) resultRows(v feed.View) []row {
	b.facts = factsOf(v)
	rows := []row{{heading: "RESULTS"}}
	for i := range b.results {
		// Enter opens the highlighted chat
		item := widgets.SidebarItem{Selected: i == max(b.highlighted, 0)}
		rows = append(rows, row{chat: &b.results[i].Chat, hit: b.results[i].Hit, item: item})
	}
	if len(b.results) == 0 && b.complete {
		rows = append(rows, row{item: widgets.SidebarItem{Title: "No results", Muted: true}})
	}
	all := widgets.SidebarItem{Icon: "search", Title: "Search all messages"}
	return append(rows, row{item: all, tap: func() { b.ui.nav.search(b.query) }})
}

// setFilter shows other chats.
func (b *sidebar) setFilter(f chats.Filter) {
	b.filter = f
	b.chosen.None()
	b.list.SetCursor(-1)
	b.show()
	b.list.ScrollToTop()
}

// tap opens a row; with Ctrl it selects or deselects the chat, with Shift all chats up to it.
func (b *sidebar) tap(i int, keys fyne.KeyModifier) {
	r, at := b.rows[i], b.chatIndex(i)
	switch {
	case r.chat == nil:
		widgets.Call(r.tap)
		return
	case keys&fyne.KeyModifierShortcutDefault != 0:
		b.chosen.Toggle(at)
	case keys&fyne.KeyModifierShift != 0:
		b.chosen.Range(at)
	default:
		b.chosen.One(at) // a range begins there
		b.chosen.None()
		b.openMatch(chats.Match{Chat: *r.chat, Hit: r.hit})
		return
	}
	b.ui.main.conversation.window.Canvas().Focus(b.list)
	b.list.SetCursor(i)
}

// openMatch opens a chat that a search found, at the message that matches.
func (b *sidebar) openMatch(m chats.Match) {
	if m.Hit == nil {
		b.choose(m.Chat.SessionKey)
		return
	}
	b.search.SetText("")
	b.ui.main.endFirstRun()
	b.ui.nav.openHit(*m.Hit)
	b.ui.main.closeDrawer()
}
