package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/chats"
	"fairlead/app/lists"
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
	list        *widgets.RowList // of approvals and chats, or of search results
	rows        []row            // of the list
	keys        []string         // of the chats in the list
	chosen      lists.Selection  // the chats that were selected together, by key
	filter      chats.Filter
	machineRows *fyne.Container // rows of machines
	middle      *fyne.Container // contains the list and the machines
	pool        []*widgets.SidebarRow
	rowsInUse   int // number of pooled rows in use
	headings    map[string]*sectionHeading
	groups      map[string]fyne.CanvasObject // headings of groups of chats
	look        [2]any                       // text colour and size of the headings
	facts       chatFacts                    // of the last view
	results     []chats.Match                // search results
	query       string
	stop        func() // cancels the latest search
	complete    bool   // the search is complete
	now         func() time.Time
	highlighted int
	links       []*widgets.SidebarRow // at the bottom

	machines []protocol.NodeID // machines of the last rows
}

func newSidebar(u *ui) *sidebar {
	b := &sidebar{
		ui: u, list: widgets.NewRowList(), machineRows: container.NewVBox(),
		headings: make(map[string]*sectionHeading), groups: make(map[string]fyne.CanvasObject), highlighted: -1, stop: func() {}, now: time.Now,
	}
	b.connectList()
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
			b.openMatch(b.results[max(b.highlighted, 0)])
		}
	}
	b.search.OnMove = func(by int) {
		switch n := len(b.results); {
		case n > 0:
			b.highlighted = min(max(max(b.highlighted, 0)+by, 0), n-1)
			b.show()
			b.list.Reveal(slices.IndexFunc(b.rows, func(r row) bool { return r.item.Selected }))
		case by > 0:
			u.main.conversation.window.Canvas().Focus(b.list)
		}
	}
	foot := container.New(linksLayout{}) // two columns, to leave the height to the chats
	for _, p := range (fixedPages{u, u.nav}).foot() {
		b.links = append(b.links, widgets.NewSidebarLink(widgets.SidebarItem{Icon: p.icon, Title: p.title}, func() { u.nav.open(p) }))
	}
	b.links = append(b.links, widgets.NewSidebarLink(widgets.SidebarItem{Icon: "settings", Title: settingsTitle}, u.settings.open))
	for _, l := range b.links {
		foot.Add(l)
	}
	head := widgets.Inset(style.Group, style.Inside, style.Inside, style.Inside, container.NewVBox(
		widgets.Inset(0, style.Inside, style.Inside, style.Inside, name), newChat, b.search))
	machines := widgets.NewVScroll(widgets.Inset(0, style.Inside, 0, style.Inside, b.machineRows))
	b.middle = container.New(sectionsLayout{b.list, b.machineRows}, widgets.Inset(0, 0, 0, style.Inside, b.list), machines)
	b.inner = container.NewStack(widgets.NewBackground(style.ColorSidebar, "", 0), widgets.Border(head, container.NewVBox(widgets.HLine(), widgets.Inset(style.Inside, style.Gap, style.Inside, style.Inside, foot)), nil, nil, b.middle))
	b.box = container.NewStack(b.inner)
	return b
}

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
	b.results = chats.MatchTitles(b.ui.view().Sessions.List, b.query) // at once; those with matching messages follow
	b.show()
	b.list.ScrollToTop()
	if b.query == "" {
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
		return b.ui.backend.state.Chats.Search(ctx, query, func(list []chats.Match, all bool) {
			bind.Do(ctx, func() {
				b.results, b.complete = list, all
				b.show()
			})
		})
	}, func(error) {})
}
