package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// sidebar is the list at the left: pending approvals, chats, machines.
type sidebar struct {
	ui          *ui
	box         *fyne.Container // the sidebar's place beside the chat
	inner       fyne.CanvasObject
	search      *widgets.SearchField
	rows        *fyne.Container // rows of approvals and chats
	machineRows *fyne.Container // rows of machines
	middle      *fyne.Container // contains rows and shelf
	pool        []*widgets.SidebarRow
	rowsInUse   int // number of pooled rows in use
	headings    map[string]*sectionHeading
	maxChats    int                     // maximum number of chats shown
	results     []protocol.SessionEntry // search results
	query       string
	stop        func() // cancels the latest search
	complete    bool   // the search is complete
	now         func() time.Time
	highlighted int
	pages       []*widgets.SidebarRow

	machines []protocol.NodeID // machines of the last rows
}

func newSidebar(u *ui) *sidebar {
	b := &sidebar{ui: u, rows: container.NewVBox(), machineRows: container.NewVBox(), headings: make(map[string]*sectionHeading), maxChats: chatsShown, highlighted: -1, stop: func() {}, now: time.Now}
	name := widgets.NewHeading(cmp.Or(u.backend.flags.gatewayName(), "Fairlead"), style.SizeTitle)
	name.Ellipsis = true
	newChat := widgets.NewSidebarRow(widgets.SidebarItem{Icon: "plus", Title: "New chat", Detail: widgets.ShortcutName("N", false)}, u.chats.create)
	b.search = widgets.NewSearchField("Search", widgets.ShortcutName("K", false))
	b.search.OnChanged = b.find
	b.search.OnCancel = func() {
		b.search.SetText("")
		if u.main.drawer.Visible() {
			u.main.toggleDrawer()
			return
		}
		u.main.restoreFocus()
	}
	b.search.OnChoose = func() {
		if len(b.results) > 0 {
			b.choose(b.results[max(b.highlighted, 0)].SessionKey)
		}
	}
	b.search.OnMove = func(by int) {
		if n := len(b.results); n > 0 {
			b.highlighted = min(max(b.highlighted+by, 0), n-1)
			b.show()
		}
	}
	foot := container.New(linksLayout{}) // two columns, to leave the height to the chats
	for _, p := range u.nav.pages() {
		row := widgets.NewSidebarLink(widgets.SidebarItem{Icon: p.icon, Title: p.title}, func() {
			u.nav.machineID = "" // opened from here, the page shows all machines
			u.nav.open(p)
		})
		b.pages = append(b.pages, row)
		foot.Add(row)
	}
	foot.Add(widgets.NewSidebarLink(widgets.SidebarItem{Icon: "settings", Title: "Settings"}, u.settings.open))
	head := widgets.Inset(style.Group, style.Inside, style.Inside, style.Inside, container.NewVBox(
		widgets.Inset(0, style.Inside, style.Inside, style.Inside, name), newChat, b.search))
	part := func(rows fyne.CanvasObject) fyne.CanvasObject {
		return widgets.NewVScroll(widgets.Inset(0, style.Inside, 0, style.Inside, rows))
	}
	b.middle = container.New(sectionsLayout{b.rows, b.machineRows}, part(b.rows), part(b.machineRows))
	b.inner = container.NewStack(widgets.NewBackground(style.ColorSidebar, "", 0), widgets.Border(head, container.NewVBox(widgets.HLine(), widgets.Inset(style.Inside, style.Gap, style.Inside, style.Inside, foot)), nil, nil, b.middle))
	b.box = container.NewStack(b.inner)
	return b
}

// chatsShown is the number of chats listed at first, and the number added by each "more".
const chatsShown = 60

// choose opens a chat and closes the drawer.
func (b *sidebar) choose(key protocol.SessionKey) {
	b.search.SetText("")
	b.ui.main.endFirstRun()
	b.ui.main.open(key)
	b.ui.main.closeDrawer()
}

// find searches the titles and messages of all chats.
func (b *sidebar) find(query string) {
	b.query, b.highlighted = strings.TrimSpace(query), -1
	b.stop()
	b.complete = false
	if b.query == "" {
		b.results = nil
		b.show()
		return
	}
	var ctx context.Context
	ctx, b.stop = context.WithCancel(b.ui.ctx)
	bind.Run(ctx, func(ctx context.Context) error {
		timer := time.NewTimer(150 * time.Millisecond) // wait for a pause in typing
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return b.ui.backend.state.Chats.Search(ctx, query, func(list []protocol.SessionEntry, all bool) {
			bind.Do(ctx, func() {
				b.results, b.complete = list, all
				b.show()
			})
		})
	}, func(error) {})
}
