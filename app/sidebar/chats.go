package sidebar

import (
	"fmt"
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/widgets"
)

// connectList sets what the list does.
func (b *Sidebar) connectList() {
	b.List.Item = func(i int) widgets.SidebarItem { return b.itemOf(b.rows[i]) }
	b.List.OnTap = b.tap
	b.List.OnChoose = func(i int) { b.tap(i, 0) }
	b.List.OnMenu = b.openMenu
	b.List.OnMove = func(i int, extend bool) {
		if at := b.chatIndex(i); extend && at >= 0 {
			if b.chosen.Cursor() < 0 {
				b.chosen.One(at)
			}
			b.chosen.Range(at)
			b.List.Refresh()
		}
	}
	b.List.OnRune = func(r rune) {
		widgets.Focus(b.Search)
		b.Search.TypedRune(r)
	}
	b.List.OnKey = b.typedKey
	b.List.OnShortcut = b.typedShortcut
}

// setRows shows the rows of approvals and chats.
func (b *Sidebar) setRows(rows []row) {
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
	b.List.Set(lines)
}

// itemOf returns the item of a row.
func (b *Sidebar) itemOf(r row) widgets.SidebarItem {
	if r.chat == nil {
		return r.item
	}
	e, item := *r.chat, r.item
	item.Title = feed.TitleOf(e)
	item.Checked = b.chosen.HasPath(r.id)
	item.Dot = b.facts.asking[e.SessionKey]
	item.Unread = b.o.Unread.Has(e)
	item.Detail = chatNote(e, b.facts, item.Unread, b.filter)
	if r.hit != nil {
		item.Text = feed.HitText(*r.hit, hitLead, widgets.MarkStart, widgets.MarkEnd)
	}
	return item
}

// appendChats appends the chats of the present filter, in groups.
func (b *Sidebar) appendChats(rows []row, v feed.View) []row {
	b.facts = factsOf(v)
	selected := widgets.SidebarItem{Selected: true}
	before := len(rows)
	rows = append(rows, row{heading: filterHead(b.filter)})
	if b.filter != (chats.Filter{}) {
		item := widgets.SidebarItem{Icon: "back", Title: "All chats"}
		rows = append(rows, row{item: item, tap: func() { b.setFilter(chats.Filter{}) }})
	} else if e, known := v.Session(b.place.Chat); !known && b.place.Chat != "" && v.Status.Loaded {
		// without the actions on chats, because it is not stored
		item := widgets.SidebarItem{Title: feed.TitleOf(e), Selected: b.place.Page == ""}
		rows = append(rows, row{item: item, tap: func() { b.Choose(e.SessionKey) }})
	}
	groups := chats.Groups(v.Sessions.List, b.filter, b.now())
	for _, g := range groups {
		rows = append(rows, row{heading: g.Title, isGroup: true})
		for _, e := range g.Chats {
			r := row{chat: e}
			if e.SessionKey == b.place.Chat && b.place.Page == "" {
				r.item = selected
			}
			rows = append(rows, r)
		}
	}
	switch n := v.Sessions.List.Archived(); {
	case b.filter != (chats.Filter{}):
		if len(groups) == 0 {
			rows = append(rows, row{item: widgets.SidebarItem{Title: noChats(b.filter), Muted: true}})
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
func (b *Sidebar) resultRows(v feed.View) []row {
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
	return append(rows, row{item: all, tap: func() { b.e.Open(host.Search(b.query)) }})
}

// setFilter shows other chats.
func (b *Sidebar) setFilter(f chats.Filter) {
	b.filter = f
	b.chosen.None()
	b.List.SetCursor(-1)
	b.draw()
	b.List.ScrollToTop()
}

// tap opens a row; with Ctrl it selects or deselects the chat, with Shift all chats up to it.
func (b *Sidebar) tap(i int, keys fyne.KeyModifier) {
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
	widgets.Focus(b.List)
	b.List.SetCursor(i)
}

// openMatch opens a chat that a search found, at the message that matches.
func (b *Sidebar) openMatch(m chats.Match) {
	if m.Hit == nil {
		b.Choose(m.Chat.SessionKey)
		return
	}
	b.Search.SetText("")
	b.e.Open(host.Chat{Key: m.Chat.SessionKey, Hit: m.Hit})
}
