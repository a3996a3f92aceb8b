// Package sidebar is the list at the left of the main window: pending questions, chats, machines and
// links to pages.
package sidebar

import (
	"context"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Sidebar is the list. It belongs to the GUI thread.
type Sidebar struct {
	Content fyne.CanvasObject
	Search  *widgets.SearchField
	List    *widgets.RowList      // of questions and chats, or of search results
	Links   []*widgets.SidebarRow // at the bottom

	ctx context.Context
	e   host.Env
	o   Options

	place       Place           // that the window shows
	rows        []row           // of the list
	keys        []string        // of the chats in the list
	chosen      lists.Selection // the chats that were selected together, by key
	filter      chats.Filter
	middle      *fyne.Container // contains the list and the machines
	machines    *machineRows
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
}

// Options are what the window gives a sidebar.
type Options struct {
	Title  string // of the program, or the name of its gateway
	Links  []Link
	Unread *Unread
	Chats  Actions
	Leave  func() // takes the keyboard after Escape in the empty search field
}

// Link opens a page by its title.
type Link struct {
	Icon, Title string
	// Note returns a text to show beside the title; nil for none.
	Note func(feed.View) string
}

// Actions are the actions on chats.
type Actions interface {
	// Create opens a new chat.
	Create()
	// Menu returns the actions on some chats. Those with a shortcut have it in the list, too.
	Menu([]protocol.SessionEntry) []*fyne.MenuItem
	// ListMenu returns the actions on all chats.
	ListMenu() []*fyne.MenuItem
}

// New creates the sidebar. ctx ends its searches.
func New(ctx context.Context, e host.Env, o Options) *Sidebar {
	b := &Sidebar{
		ctx: ctx, e: e, o: o, List: widgets.NewRowList(), machines: newMachineRows(),
		headings: make(map[string]*sectionHeading), groups: make(map[string]fyne.CanvasObject), highlighted: -1, stop: func() {}, now: time.Now,
	}
	b.connectList()
	b.connectSearch()
	name := widgets.NewHeading(o.Title, style.SizeTitle)
	name.Ellipsis = true
	newChat := widgets.NewSidebarRow(widgets.SidebarItem{Icon: "plus", Title: "New chat", Detail: widgets.ShortcutName("N", false)}, o.Chats.Create)
	foot := container.New(linksLayout{}) // two columns, to leave the height to the chats
	for _, l := range o.Links {
		link := widgets.NewSidebarLink(widgets.SidebarItem{Icon: l.Icon, Title: l.Title}, func() { e.Open(host.Page(l.Title)) })
		b.Links = append(b.Links, link)
		foot.Add(link)
	}
	head := widgets.Inset(style.Group, style.Inside, style.Inside, style.Inside, container.NewVBox(
		widgets.Inset(0, style.Inside, style.Inside, style.Inside, name), newChat, b.Search))
	b.middle = container.New(sectionsLayout{b.List, b.machines.box}, widgets.Inset(0, 0, 0, style.Inside, b.List), b.machines.scroller)
	b.Content = container.NewStack(widgets.NewBackground(style.ColorSidebar, "", 0), widgets.Border(head, container.NewVBox(widgets.HLine(), widgets.Inset(style.Inside, style.Inside, style.Inside, style.Inside, foot)), nil, nil, b.middle))
	return b
}

// connectSearch creates the search field.
func (b *Sidebar) connectSearch() {
	b.Search = widgets.NewSearchField("Search", widgets.ShortcutName("G", false))
	b.Search.OnChanged = b.find
	b.Search.OnCancel = func() {
		b.Search.SetText("")
		b.o.Leave()
	}
	b.Search.OnChoose = func() {
		if len(b.results) > 0 {
			b.openMatch(b.results[max(b.highlighted, 0)])
		}
	}
	b.Search.OnMove = func(by int) {
		switch n := len(b.results); {
		case n > 0:
			b.highlighted = min(max(max(b.highlighted, 0)+by, 0), n-1)
			b.draw()
			b.List.Reveal(slices.IndexFunc(b.rows, func(r row) bool { return r.item.Selected }))
		case by > 0:
			widgets.Focus(b.List)
		}
	}
}

// Choose opens a chat and ends the search.
func (b *Sidebar) Choose(key protocol.SessionKey) {
	b.Search.SetText("")
	b.e.Open(host.Chat{Key: key})
}

// find searches the titles and messages of all chats.
func (b *Sidebar) find(query string) {
	b.query, b.highlighted = strings.TrimSpace(query), -1
	b.stop()
	b.complete = false
	b.results = chats.MatchTitles(b.e.Feed.View().Sessions.List, b.query) // at once; those with matching messages follow
	b.draw()
	b.List.ScrollToTop()
	if b.query == "" {
		return
	}
	var ctx context.Context
	ctx, b.stop = context.WithCancel(b.ctx)
	bind.Run(ctx, func(ctx context.Context) error {
		timer := time.NewTimer(150 * time.Millisecond) // wait for a pause in typing
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return b.e.Chats.Search(ctx, query, func(list []chats.Match, all bool) {
			bind.Do(ctx, func() {
				b.results, b.complete = list, all
				b.draw()
			})
		})
	}, func(error) {})
}
