package app

import (
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// chatFacts are what the rows of chats show in addition to the chats themselves.
type chatFacts struct {
	working, asking map[protocol.SessionKey]bool
}

func factsOf(v state.View) chatFacts {
	f := chatFacts{working: make(map[protocol.SessionKey]bool), asking: make(map[protocol.SessionKey]bool)}
	for _, r := range v.Runs {
		if !r.Over() {
			f.working[r.SessionKey] = true
		}
	}
	for _, a := range v.Approvals {
		f.asking[a.SessionKey] = true
	}
	return f
}

// connectList sets what the list does.
func (b *sidebar) connectList() {
	b.list.Item = func(i int) widgets.SidebarItem { return b.itemOf(b.rows[i]) }
	b.list.OnTap = func(i int) { b.tap(i, widgets.KeyModifiers()) }
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
		b.ui.main.window.Canvas().Focus(b.search)
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
	item.Title = state.TitleOf(e)
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
		item.Text = state.HitText(*r.hit, hitLead, widgets.MarkStart, widgets.MarkEnd)
	}
	return item
}

// appendChats appends the chats of the present filter, in groups.
func (b *sidebar) appendChats(rows []row, v state.View, key protocol.SessionKey) []row {
	b.facts = factsOf(v)
	selected := widgets.SidebarItem{Selected: true}
	head := chatsHead
	switch {
	case b.filter.Archived:
		head = "ARCHIVED"
	case b.filter.Tag != "":
		head = strings.ToUpper(b.filter.Tag)
	}
	rows = append(rows, row{heading: head})
	if b.filter != (state.ChatFilter{}) {
		rows = append(rows, row{item: widgets.SidebarItem{Icon: "back", Title: "All chats"}, tap: func() { b.setFilter(state.ChatFilter{}) }})
	} else if e, known := v.Session(key); !known && key != "" && v.Loaded {
		// without the actions on chats, because it is not stored
		item := widgets.SidebarItem{Title: state.TitleOf(e), Selected: b.ui.nav.title == ""}
		rows = append(rows, row{item: item, tap: func() { b.choose(key) }})
	}
	groups := state.ChatGroups(v.Sessions, b.filter, b.now())
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
	switch n := v.ArchivedChats(); {
	case b.filter != (state.ChatFilter{}):
		if len(groups) == 0 {
			rows = append(rows, row{item: widgets.SidebarItem{Title: widgets.Choose(b.filter.Archived, "No archived chats", "No chats with this tag"), Muted: true}})
		}
	case n > 0:
		item := widgets.SidebarItem{Icon: "archive", Title: "Archived", Detail: fmt.Sprint(n), Muted: true}
		rows = append(rows, row{item: item, tap: func() { b.setFilter(state.ChatFilter{Archived: true}) }})
	}
	return rows
}

// hitLead is the number of characters that a result shows before the first match.
const hitLead = 12

// resultRows are the search results.
func (b *sidebar) resultRows(v state.View) []row {
	b.facts = factsOf(v)
	rows := []row{{heading: "RESULTS"}}
	for i := range b.results {
		// Enter opens the highlighted chat
		rows = append(rows, row{chat: &b.results[i].Chat, hit: b.results[i].Hit, item: widgets.SidebarItem{Selected: i == max(b.highlighted, 0)}})
	}
	if len(b.results) == 0 && b.complete {
		rows = append(rows, row{item: widgets.SidebarItem{Title: "No results", Muted: true}})
	}
	return append(rows, row{item: widgets.SidebarItem{Icon: "search", Title: "Search all messages"}, tap: func() { b.ui.nav.search(b.query) }})
}

// setFilter shows other chats.
func (b *sidebar) setFilter(f state.ChatFilter) {
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
		b.openMatch(state.ChatMatch{Chat: *r.chat, Hit: r.hit})
		return
	}
	b.ui.main.window.Canvas().Focus(b.list)
	b.list.SetCursor(i)
}

// openMatch opens a chat that a search found, at the message that matches.
func (b *sidebar) openMatch(m state.ChatMatch) {
	if m.Hit == nil {
		b.choose(m.Chat.SessionKey)
		return
	}
	b.search.SetText("")
	b.ui.main.endFirstRun()
	b.ui.nav.openHit(*m.Hit)
	b.ui.main.closeDrawer()
}

// chatIndex returns the position of a row's chat among the chats of the list, or -1.
func (b *sidebar) chatIndex(i int) int {
	if i < 0 || b.rows[i].chat == nil {
		return -1
	}
	n := 0
	for _, r := range b.rows[:i] {
		if r.chat != nil {
			n++
		}
	}
	return n
}

// affected returns the chats that an action on a row applies to: the selected ones if it is one of
// them or has no chat, otherwise its own.
func (b *sidebar) affected(i int) (list []protocol.SessionEntry) {
	if i >= 0 && b.rows[i].chat != nil && !b.chosen.HasPath(b.rows[i].id) {
		return []protocol.SessionEntry{*b.rows[i].chat}
	}
	for _, r := range b.rows {
		if r.chat != nil && b.chosen.HasPath(r.id) {
			list = append(list, *r.chat)
		}
	}
	return list
}

// typedKey handles a key in the list, with the cursor on a row.
func (b *sidebar) typedKey(i int, e *fyne.KeyEvent) {
	chats, list := b.ui.chats, b.affected(i)
	switch {
	case e.Name == fyne.KeyEscape && len(b.affected(-1)) > 0:
		b.chosen.None()
		b.list.Refresh()
	case e.Name == fyne.KeyEscape:
		widgets.PassKey(b.list, e)
	case len(list) == 0:
	case e.Name == fyne.KeySpace:
		b.chosen.Toggle(b.chatIndex(i))
		b.list.Refresh()
	case e.Name == fyne.KeyDelete || e.Name == fyne.KeyBackspace:
		chats.delete(list)
	case e.Name == fyne.KeyF2:
		chats.rename(list[0].SessionKey)
	case e.Name == desktop.KeyMenu || e.Name == fyne.KeyF10 && widgets.KeyModifiers()&fyne.KeyModifierShift != 0:
		b.openMenu(i, b.list.RowPosition(i))
	}
}

// typedShortcut handles a shortcut in the list, and reports whether it is one of the list's.
func (b *sidebar) typedShortcut(i int, s fyne.Shortcut) bool {
	if _, all := s.(*fyne.ShortcutSelectAll); all {
		b.chosen.All()
		b.list.Refresh()
		return true
	}
	for _, a := range b.ui.chats.listActions(b.affected(i)) {
		if a.Shortcut != nil && s.ShortcutName() == a.Shortcut.ShortcutName() {
			widgets.Call(a.Action)
			return true
		}
	}
	return false
}

// openMenu opens the menu of a row's chat, or of all selected chats.
func (b *sidebar) openMenu(i int, at fyne.Position) {
	if list := b.affected(i); len(list) > 0 && b.rows[i].chat != nil {
		widgets.ShowMenuAt(b.list, at, b.ui.chats.menu(list))
	}
}

// listMenu returns the actions on the whole list.
func (b *sidebar) listMenu() []*fyne.MenuItem {
	u, v := b.ui, b.ui.view
	ask := menuItem("Next question", keyNextQuestion, u.chats.nextQuestion)
	ask.Disabled = len(v.Approvals) == 0
	next := menuItem("Next unread chat", keyNextUnread, func() { u.chats.openUnread(1) })
	last := menuItem("Previous unread chat", keyLastUnread, func() { u.chats.openUnread(-1) })
	read := menuItem("Mark all as read", nil, func() { u.chats.markRead(true, u.chats.unreadChats()...) })
	none := len(u.chats.unreadChats()) == 0
	next.Disabled, last.Disabled, read.Disabled = none, none, none
	items := []*fyne.MenuItem{
		menuItem("New chat", &desktop.CustomShortcut{KeyName: fyne.KeyN, Modifier: fyne.KeyModifierShortcutDefault}, u.chats.create),
		ask, next, last, read,
		menuItem("Select all", &desktop.CustomShortcut{KeyName: fyne.KeyA, Modifier: fyne.KeyModifierShortcutDefault}, func() {
			u.main.window.Canvas().Focus(b.list)
			b.chosen.All()
			b.list.Refresh()
		}),
		fyne.NewMenuItemSeparator(),
	}
	for _, t := range v.Tags() {
		items = append(items, menuItem(fmt.Sprintf("Tag “%s” (%d)", t.Name, t.Chats), nil, func() { b.setFilter(state.ChatFilter{Tag: t.Name}) }))
	}
	return append(items, menuItem(fmt.Sprintf("Archived chats (%d)", v.ArchivedChats()), nil, func() { b.setFilter(state.ChatFilter{Archived: true}) }))
}
