package app

import (
	"fmt"
	"maps"
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/inbox"
	"fairlead/app/machine"
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
		switch title {
		case chatsHead:
			more := widgets.NewQuietButton("", "more", nil)
			more.OnTap = func() { widgets.ShowMenu(more, b.listMenu()) }
			h.box = widgets.Row(0, 0, widgets.NewSection(title, h.badge), widgets.Inset(10, 0, -3, 0, more))
		case machinesHead:
			add := widgets.NewQuietButton("", "plus", b.ui.nav.addMachine)
			add.Muted = true
			h.box = widgets.NewTapArea(widgets.NewSection(title, widgets.Inset(-6, -6, -6, 0, add)), func() { b.ui.nav.openMachine("") }) // no higher than the text
		case needsHead:
			h.box = widgets.NewTapArea(widgets.NewSection(title, h.badge), b.ui.questions.openPage)
		default:
			h.box = widgets.NewSection(title, h.badge)
		}
		b.headings[title] = h
	}
	h.badge.Set(count)
	return h.box
}

// groupHeading returns the heading of a group of chats, such as Today.
func (b *sidebar) groupHeading(title string) fyne.CanvasObject {
	o := b.groups[title]
	if o == nil {
		t := widgets.NewText(title, style.ColorMuted, style.SizeSmall)
		t.Ellipsis = true
		o = widgets.Inset(style.Gap, style.Inside, 0, style.Inside, t)
		b.groups[title] = o
	}
	return o
}

// row is one row of the list, or a heading.
type row struct {
	heading string
	count   int  // shown beside the heading
	isGroup bool // the heading is that of a group of chats
	item    widgets.SidebarItem
	tap     func()
	menu    func(fyne.Position)

	id   string                 // unique among the rows of the list
	chat *protocol.SessionEntry // of the row of a chat; its item is made when it is visible
	hit  *protocol.SearchHit    // the chat's message that a search found
}

// Headings of the sections. Those of the questions and of the machines open their pages.
const (
	needsHead    = "NEEDS YOU"
	chatsHead    = "CHATS"
	machinesHead = "MACHINES"
)

func (b *sidebar) show() {
	v := b.ui.view()
	// icons that are not visible when the theme changes keep their old colour
	if now := [2]any{style.Color(style.ColorText), style.Size("text")}; now != b.look {
		b.look = now
		clear(b.headings)
		clear(b.groups)
	}
	rows := b.rows[:0]
	if v.Needs() > 0 {
		rows = append(rows, row{heading: needsHead, count: v.Needs()})
	}
	words := inbox.Words(v, b.now())
	for _, g := range inbox.Groups(v) {
		item := widgets.SidebarItem{Icon: "needsyou", Color: style.ColorNeedsYou, Title: words(g.Question).Line}
		if n := len(g.All); n > 1 {
			item.Detail = fmt.Sprintf("×%d", n)
		}
		rows = append(rows, row{item: item, tap: func() { b.ui.questions.review(g.ID) }})
	}
	if b.query != "" {
		rows = append(rows, b.resultRows(v)...)
	} else {
		rows = b.appendChats(rows, v, b.ui.main.conversation.key)
	}
	b.draw(append(rows, b.machineRowsOf(v)...)) // the machines come last: see machineAt
	b.showLinks(v)
}

func (b *sidebar) machineRowsOf(v feed.View) []row {
	var rows []row
	if v.Status.Loaded {
		rows = append(rows, row{heading: machinesHead})
	}
	b.machines = b.machines[:0]
	for _, n := range v.Machines {
		b.machines = append(b.machines, n.ID)
		item := widgets.SidebarItem{Icon: "online", Color: b.ui.machines.Color(string(n.ID)), Title: feed.NameOf(n)}
		if n.Local && !v.Status.Remote {
			item.Title += " (this)"
		} else if n.PingMs > 0 && !n.Local {
			item.Detail = machine.Presence(v, n, b.now())
		}
		if !n.Online {
			item.Icon, item.Color, item.Muted, item.Detail = "offline", style.ColorMuted, true, machine.Offline(n, b.now())
		}
		item.Selected = b.ui.nav.title == machinesTitle && b.ui.nav.machineID == n.ID
		rows = append(rows, row{item: item, tap: func() { b.ui.nav.openMachine(n.ID) }})
	}
	return rows
}

func (b *sidebar) showLinks(v feed.View) {
	for _, link := range b.links {
		item := link.Item()
		item.Selected = item.Title == b.ui.nav.title
		switch item.Title {
		case settingsTitle:
			item.Count = v.AccessRequests() // of people on channels, which are a page of the settings
		case transfersTitle:
			item.Detail = ""
			if n := len(v.Transfers.List); n > 0 {
				item.Detail = fmt.Sprint(n)
			}
		}
		if item != link.Item() {
			link.Set(item)
		}
	}
}

// draw shows the rows: those of machines at the end below the others.
func (b *sidebar) draw(lines []row) {
	at := len(lines)
	for i, l := range lines {
		if l.heading == machinesHead {
			at = i
		}
	}
	b.setRows(lines[:at])
	var shelf []fyne.CanvasObject
	b.rowsInUse = 0
	for _, l := range lines[at:] {
		if l.heading != "" {
			shelf = append(shelf, b.heading(l.heading, l.count))
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
		shelf = append(shelf, row)
	}
	b.machineRows.Objects = shelf
	b.middle.Layout.Layout(b.middle.Objects, b.middle.Size())
	b.machineRows.Refresh()
}

// machineAt returns the machine whose row is at a position of the canvas, and the row.
func (b *sidebar) machineAt(at fyne.Position) (protocol.NodeID, fyne.CanvasObject, bool) {
	driver := fyne.CurrentApp().Driver()
	if b.ui.main.narrow && !b.ui.main.drawer.Visible() {
		return "", nil, false // the rows are not visible
	}
	shelf := b.middle.Objects[1]
	if from := driver.AbsolutePositionForObject(shelf).Y; at.Y < from || at.Y >= from+shelf.Size().Height {
		return "", nil, false // rows that are scrolled out of view may overlap other content
	}
	for i, id := range b.machines {
		row := b.pool[b.rowsInUse-len(b.machines)+i]
		from, size := driver.AbsolutePositionForObject(row), row.Size()
		if at.X >= from.X && at.X < from.X+size.Width && at.Y >= from.Y && at.Y < from.Y+size.Height {
			return id, row, true
		}
	}
	return "", nil, false
}

// unread tracks the chats with messages that the person has not seen yet.
type unread struct {
	prefs *prefs
	// time of the last seen activity per chat; nil until the first view. Never changed in place
	seen map[protocol.SessionKey]int64
	// runs whose answers another client has shown, so that their chats became read
	elsewhere map[protocol.RunID]bool
}

// readElsewhere returns until when chats are read because another client has shown their answers.
func (u *unread) readElsewhere(v feed.View) map[protocol.SessionKey]int64 {
	var read map[protocol.SessionKey]int64
	for _, r := range v.Runs.Ended {
		if u.elsewhere[r.RunID] || !state.ShownElsewhere(v, r) {
			continue
		}
		if u.elsewhere == nil {
			u.elsewhere = make(map[protocol.RunID]bool)
		}
		if read == nil {
			read = make(map[protocol.SessionKey]int64)
		}
		u.elsewhere[r.RunID], read[r.SessionKey] = true, r.EndedAt
	}
	return read
}

// update processes a view: visible chats become read. At the very first start all chats do.
func (u *unread) update(v feed.View, isVisible func(protocol.SessionKey) bool) {
	if !v.Status.Loaded || v.Sessions.Loading {
		return
	}
	if u.seen == nil {
		u.seen = u.prefs.get().Seen
	}
	first := u.seen == nil
	elsewhere := u.readElsewhere(v)
	isUnseen := func(e protocol.SessionEntry) bool {
		return isVisible(e.SessionKey) && u.seen[e.SessionKey] < e.LastActiveAt
	}
	if !first && elsewhere == nil && len(u.seen) <= len(v.Sessions.List) && !slices.ContainsFunc(v.Sessions.List, isUnseen) {
		return // as for most views, of which there are many while an answer arrives
	}
	next := make(map[protocol.SessionKey]int64, len(v.Sessions.List)) // drops deleted chats
	for _, e := range v.Sessions.List {
		at, known := u.seen[e.SessionKey]
		if first || isVisible(e.SessionKey) {
			at, known = max(at, e.LastActiveAt), true
		}
		if read := min(elsewhere[e.SessionKey], e.LastActiveAt); read > at {
			at, known = read, true
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

// mark marks chats as read or unread.
func (u *unread) mark(read bool, chats ...protocol.SessionEntry) {
	next := maps.Clone(u.seen)
	if next == nil {
		return // the first view has not arrived
	}
	for _, e := range chats {
		next[e.SessionKey] = widgets.Choose(read, e.LastActiveAt, e.LastActiveAt-1)
	}
	u.seen = next
	u.prefs.update(func(r *preferences) { r.Seen = next })
}
