package app

import (
	"fmt"
	"maps"

	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// sectionHeading is a section's heading. It is reused, because the list is redrawn often.
type sectionHeading struct {
	box   fyne.CanvasObject
	badge *widgets.Badge
}

func (b *sidebar) heading(title string, count int) fyne.CanvasObject {
	h := b.headings[title]
	if h == nil {
		h = &sectionHeading{badge: widgets.NewBadge(0)}
		h.box = widgets.NewSection(title, h.badge)
		if title == machinesHead {
			add := widgets.NewQuietButton("", "plus", b.ui.nav.addMachine)
			add.Muted = true
			h.box = widgets.NewSection(title, widgets.Inset(-6, -6, -6, 0, add)) // no higher than the text
		}
		b.headings[title] = h
	}
	h.badge.Set(count)
	return h.box
}

// row is one row of the list, or a heading.
type row struct {
	heading string
	count   int // shown beside the heading
	item    widgets.SidebarItem
	tap     func()
	menu    func(fyne.Position)
}

// machinesHead is the heading above the machines.
const machinesHead = "MACHINES"

func (b *sidebar) show() {
	v := b.ui.view
	var rows []row
	if v.Needs() > 0 {
		rows = append(rows, row{heading: "NEEDS YOU", count: v.Needs()})
	}
	for _, r := range v.Pairing.Requests {
		item := widgets.SidebarItem{Icon: "needsyou", Color: style.ColorNeedsYou, Title: state.RequestTitle(r)}
		rows = append(rows, row{item: item, tap: func() { b.ui.pairing.review(r.ID) }})
	}
	for _, a := range v.Approvals {
		item := widgets.SidebarItem{Icon: "needsyou", Color: style.ColorNeedsYou, Title: v.QuestionLine(a)}
		rows = append(rows, row{item: item, tap: func() { b.ui.approvals.review(a.ID) }})
	}
	if b.query != "" {
		rows = append(rows, b.resultRows(v)...)
	} else {
		rows = append(rows, b.chatRows(v, b.ui.main.key)...)
	}
	b.draw(append(rows, b.machineRowsOf(v)...)) // the machines come last: see machineAt
	b.showLinks(v)
}

func (b *sidebar) resultRows(v state.View) []row {
	rows := []row{{heading: "RESULTS"}}
	for i, e := range b.results {
		// Enter opens the highlighted chat
		rows = append(rows, b.chatRow(e, v, i == max(b.highlighted, 0)))
	}
	if len(b.results) == 0 && b.complete {
		rows = append(rows, row{item: widgets.SidebarItem{Title: "No results", Muted: true}})
	}
	return append(rows, row{item: widgets.SidebarItem{Icon: "search", Title: "Search all messages"}, tap: func() { b.ui.nav.search(b.query) }})
}

// chatRows are the newest chats, and the chat with this key.
func (b *sidebar) chatRows(v state.View, key protocol.SessionKey) []row {
	u := b.ui
	rows := []row{{heading: "CHATS"}}
	listed := false
	for i, e := range v.Sessions {
		if i == b.maxChats {
			item := widgets.SidebarItem{Icon: "down", Title: state.Plural(len(v.Sessions)-i, "older chat", "older chats"), Muted: true}
			rows = append(rows, row{item: item, tap: func() {
				b.maxChats += chatsShown
				b.show()
			}})
			break
		}
		listed = listed || e.SessionKey == key
		rows = append(rows, b.chatRow(e, v, e.SessionKey == key && u.nav.title == ""))
	}
	if e, known := v.Session(key); !listed && !known && key != "" && v.Loaded {
		rows = append(rows, b.chatRow(e, v, u.nav.title == ""))
	}
	return rows
}

func (b *sidebar) machineRowsOf(v state.View) []row {
	var rows []row
	if v.Loaded {
		rows = append(rows, row{heading: machinesHead})
	}
	b.machines = b.machines[:0]
	for _, n := range v.Nodes {
		b.machines = append(b.machines, n.ID)
		item := widgets.SidebarItem{Icon: "online", Color: b.ui.machines.Color(string(n.ID)), Title: state.NameOf(n)}
		if n.Local && !v.Remote {
			item.Title += " (this)"
		} else if n.PingMs > 0 && !n.Local {
			item.Detail = state.PresenceText(v, n, b.now())
		}
		if !n.Online {
			item.Icon, item.Color, item.Muted, item.Detail = "offline", style.ColorMuted, true, state.OfflineText(n, b.now())
		}
		item.Selected = b.ui.nav.title == machinesTitle && b.ui.nav.machineID == n.ID
		rows = append(rows, row{item: item, tap: func() { b.ui.nav.openMachine(n.ID) }})
	}
	return rows
}

func (b *sidebar) showLinks(v state.View) {
	for _, link := range b.pages {
		item := link.Item()
		item.Selected = item.Title == b.ui.nav.title
		switch item.Title {
		case inboxTitle:
			item.Count = v.Needs()
		case channelsTitle:
			item.Count = v.AccessRequests
		case transfersTitle:
			item.Detail = ""
			if n := len(v.Transfers); n > 0 {
				item.Detail = fmt.Sprint(n)
			}
		}
		if item != link.Item() {
			link.Set(item)
		}
	}
}

func (b *sidebar) chatRow(e protocol.SessionEntry, v state.View, selected bool) row {
	item := widgets.SidebarItem{Title: state.TitleOf(e), Selected: selected}
	for _, r := range v.Runs {
		if r.SessionKey == e.SessionKey && !r.Over() {
			item.Detail = "working"
		}
	}
	if item.Unread = b.ui.unread.has(e); item.Unread && item.Detail == "" {
		item.Detail = "new"
	}
	for _, a := range v.Approvals {
		if a.SessionKey == e.SessionKey {
			item.Count++
			item.Detail = ""
		}
	}
	return row{item: item, tap: func() { b.choose(e.SessionKey) }, menu: func(at fyne.Position) { b.ui.chats.menu(e, at) }}
}

func (b *sidebar) draw(lines []row) {
	var objects, shelf []fyne.CanvasObject
	into := &objects
	b.rowsInUse = 0
	for _, l := range lines {
		if l.heading != "" {
			if l.heading == machinesHead {
				into = &shelf
			}
			*into = append(*into, b.heading(l.heading, l.count))
			continue
		}
		if b.rowsInUse == len(b.pool) {
			b.pool = append(b.pool, widgets.NewSidebarRow(widgets.SidebarItem{}, nil))
		}
		row := b.pool[b.rowsInUse]
		b.rowsInUse++
		if row.Item() != l.item {
			row.Set(l.item)
		}
		row.OnTap, row.OnMenu = l.tap, l.menu
		*into = append(*into, row)
	}
	b.rows.Objects, b.machineRows.Objects = objects, shelf
	b.middle.Layout.Layout(b.middle.Objects, b.middle.Size())
	b.rows.Refresh()
	b.machineRows.Refresh()
}

// machineAt returns the machine whose row is at a position of the canvas.
func (b *sidebar) machineAt(at fyne.Position) (protocol.NodeID, bool) {
	driver := fyne.CurrentApp().Driver()
	if b.ui.main.narrow && !b.ui.main.drawer.Visible() {
		return "", false // the rows are not visible
	}
	shelf := b.middle.Objects[1]
	if from := driver.AbsolutePositionForObject(shelf).Y; at.Y < from || at.Y >= from+shelf.Size().Height {
		return "", false // rows that are scrolled out of view may overlap other content
	}
	for i, id := range b.machines {
		row := b.pool[b.rowsInUse-len(b.machines)+i]
		from, size := driver.AbsolutePositionForObject(row), row.Size()
		if at.X >= from.X && at.X < from.X+size.Width && at.Y >= from.Y && at.Y < from.Y+size.Height {
			return id, true
		}
	}
	return "", false
}

// unread tracks the chats with messages that the person has not seen yet.
type unread struct {
	prefs *prefs
	// time of the last seen activity per chat; nil until the first view. Never changed in place
	seen map[protocol.SessionKey]int64
}

// update processes a view: visible chats become read. At the very first start all chats do.
func (u *unread) update(v state.View, isVisible func(protocol.SessionKey) bool) {
	if !v.Loaded {
		return
	}
	if u.seen == nil {
		u.seen = u.prefs.get().Seen
	}
	first := u.seen == nil
	next := make(map[protocol.SessionKey]int64, len(v.Sessions)) // drops deleted chats
	for _, e := range v.Sessions {
		at, known := u.seen[e.SessionKey]
		if first || isVisible(e.SessionKey) {
			at, known = max(at, e.LastActiveAt), true
		}
		if known {
			next[e.SessionKey] = at
		}
	}
	if u.seen == nil || !maps.Equal(next, u.seen) {
		u.seen = next
		u.prefs.update(func(r *preferences) { r.Seen = next })
	}
}

func (u *unread) has(e protocol.SessionEntry) bool {
	return u.seen != nil && e.MessageCount > 0 && e.LastActiveAt > u.seen[e.SessionKey]
}
