package sidebar

import (
	"fmt"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// sectionHeading is a section's heading. It is reused, because the list is redrawn often.
type sectionHeading struct {
	box   fyne.CanvasObject
	badge *widgets.Badge
}

func (b *Sidebar) heading(title string, count int) fyne.CanvasObject {
	h := b.headings[title]
	if h == nil {
		h = &sectionHeading{badge: widgets.NewBadge(0)}
		switch title {
		case chatsHead:
			more := widgets.NewIconButton("more", "Actions of the chats", nil)
			more.OnTap = func() { widgets.ShowMenu(more, b.listMenu()) }
			h.box = widgets.Row(0, 0, widgets.NewSection(title, h.badge), widgets.Inset(10, 0, -3, 0, more))
		case machinesHead:
			add := widgets.NewIconButton("plus", "Add a machine", func() { b.e.Open(host.NewMachine{}) })
			add.Muted = true
			h.box = widgets.NewTapArea(widgets.NewSection(title, widgets.Inset(-6, -6, -6, 0, add)), func() { b.e.Open(host.Machine("")) }) // no higher than the text
		case needsHead:
			h.box = widgets.NewTapArea(widgets.NewSection(title, h.badge), func() { b.e.Open(host.Question("")) })
		default:
			h.box = widgets.NewSection(title, h.badge)
		}
		b.headings[title] = h
	}
	h.badge.Set(count)
	return h.box
}

// groupHeading returns the heading of a group of chats, such as Today.
func (b *Sidebar) groupHeading(title string) fyne.CanvasObject {
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

	id   string                 // unique among the rows of the list
	chat *protocol.SessionEntry // of the row of a chat; its item is made when it is visible
	hit  *protocol.SearchHit    // the chat's message that a search found
}

// Show shows what there is, and the place that the window shows.
func (b *Sidebar) Show(at Place) {
	b.place = at
	b.draw()
}

func (b *Sidebar) draw() {
	v := b.e.Feed.View()
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
	for _, g := range question.Groups(v) {
		item := widgets.SidebarItem{Icon: "needsyou", Color: style.ColorNeedsYou, Title: question.WordsOf(g.Question, v, b.now()).Line}
		if n := len(g.All); n > 1 {
			item.Detail = fmt.Sprintf("×%d", n)
		}
		rows = append(rows, row{item: item, tap: func() { b.e.Open(host.Question(g.ID)) }})
	}
	if b.query != "" {
		rows = append(rows, b.resultRows(v)...)
	} else {
		rows = b.appendChats(rows, v)
	}
	b.setRows(rows)
	b.drawMachines(v)
	b.middle.Layout.Layout(b.middle.Objects, b.middle.Size())
	b.showLinks(v)
}

func (b *Sidebar) showLinks(v feed.View) {
	for i, link := range b.Links {
		item := link.Item()
		item.Selected = item.Title == b.place.Page
		if note := b.o.Links[i].Note; note != nil {
			item.Detail = note(v)
		}
		if item != link.Item() {
			link.Set(item)
		}
	}
}
