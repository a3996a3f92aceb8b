package app

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/archive"
	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/files"
	"fairlead/app/host"
	"fairlead/app/search"
	"fairlead/app/shortcuts"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// navigator opens the pages that replace the chat in the main window.
type navigator struct {
	ui         *ui
	box        *fyne.Container   // container of the page
	view       fyne.CanvasObject // the page
	head       *fyne.Container   // over the page: the buttons before its title
	menuButton *widgets.Button
	backButton *widgets.Button    // to the list in whose place the page stands
	title      string             // empty without a page
	cancel     context.CancelFunc // cancels the page's context; nil without a page

	at    host.Target // what the page shows of its kind, such as a machine; nil for its start
	files *files.Pair // the files page, while it is open
	// back goes from a detail view of the page to its list; nil without a detail view
	back func() bool
	// dropTarget returns the machine at a position of the page, for dropped files; may be nil.
	dropTarget func(fyne.Position) protocol.NodeID
	// focus gives the page the keyboard once it is visible; nil leaves that to the page.
	focus func(fyne.Canvas)
}

// page is a view that replaces the chat in the main window. It exists only while it is open.
type page struct {
	icon, title string
	// open creates the view at a target, which is nil for the start of the page, and returns the
	// navigator's back. Its work ends with ctx.
	open func(ctx context.Context, at host.Target) (view fyne.CanvasObject, back func() bool)
}

// Titles of pages that other parts of the program open, too.
const (
	machinesTitle  = "Machines"
	transfersTitle = string(host.Transfers)
	filesTitle     = "Files"
	activityTitle  = "Activity"
	settingsTitle  = "Settings"
	searchTitle    = "Search"
	archivesTitle  = "Earlier conversations"
)

func (n *navigator) search(query string) {
	var p *search.Page
	back := n.wayBack()
	n.open(page{"search", searchTitle, func(ctx context.Context, _ host.Target) (fyne.CanvasObject, func() bool) {
		p = search.New(ctx, n.ui.env(), back)
		p.Search(query)
		return p.Box, called(back)
	}})
	n.ui.main.conversation.Window.Canvas().Focus(p.Field)
}

// wayBack returns a function that shows the present page again, or the chat if the page has no place
// in the sidebar.
func (n *navigator) wayBack() func() {
	title, at := n.title, n.at
	return func() {
		n.close()
		n.openAt(title, at)
		n.ui.main.drawSidebar()
		n.ui.main.restoreFocus()
	}
}

// called makes a page's back of a function that always goes back.
func called(back func()) func() bool {
	return func() bool {
		back()
		return true
	}
}

// openTitled opens the page with a title, which may be one of the settings.
func (n *navigator) openTitled(title string) { n.openAt(title, nil) }

// openAt opens the page with a title, which may be one of the settings, at a target.
func (n *navigator) openAt(title string, to host.Target) {
	for _, p := range (fixedPages{n.ui, n}).all() {
		if p.title == title {
			n.openPage(p, to)
			return
		}
	}
	switch title {
	case "":
	case settingsTitle:
		n.ui.settings.open()
	case shortcuts.Title:
		n.openShortcuts()
	default:
		n.ui.settings.openPage(title, to)
	}
}

// open replaces the chat by a page.
func (n *navigator) open(p page) { n.openPage(p, nil) }

// openPage is open at a target.
func (n *navigator) openPage(p page, at host.Target) {
	if p.title != settingsTitle { // the first page leads there, and stays until something is connected
		n.ui.main.endFirstRun()
	}
	n.close()
	n.ui.main.conversation.Window.Canvas().Unfocus() // the composer is hidden now
	ctx, cancel := context.WithCancel(n.ui.ctx)
	n.title, n.at, n.cancel = p.title, at, cancel
	n.menuButton = widgets.NewIconButton("menu", "Sidebar", n.ui.main.toggleDrawer)
	n.backButton = widgets.NewQuietButton("Back", "back", func() { n.back() })
	n.backButton.Hide()
	n.head = widgets.Row(style.Gap, -1, n.menuButton, n.backButton)
	n.view, n.back = p.open(ctx, at)
	n.box.Objects = []fyne.CanvasObject{widgets.NewRect("background", "", 0), n.view, widgets.Inset(style.Group, 0, 0, style.Inside, container.NewVBox(n.head))}
	n.ui.main.closeDrawer()
	n.ui.main.arrange()
	n.ui.main.drawSidebar()
	n.ui.messages.Move()
	if n.focus != nil {
		n.focus(n.ui.main.conversation.Window.Canvas())
	}
}

// close shows the chat again.
func (n *navigator) close() {
	if n.cancel == nil {
		return
	}
	n.cancel()
	n.at = nil
	n.cancel, n.title, n.view, n.back, n.dropTarget, n.files, n.focus, n.ui.settings.page = nil, "", nil, nil, nil, nil, nil, nil
	n.box.Objects = nil
	n.ui.main.arrange()
	n.ui.messages.Move()
}

// showWayBack shows or hides the way back from the page to the list in whose place it stands.
func (n *navigator) showWayBack(on bool) {
	if n.backButton.Visible() != on {
		widgets.SetVisible(n.backButton, on)
		if n.view != nil {
			n.ui.main.arrange()
		}
	}
}

// arrange shows the open page, if there is one. The drawer's button is for narrow windows only.
func (n *navigator) arrange() bool {
	if n.cancel == nil {
		n.box.Hide()
		return false
	}
	hasBack := n.backButton.Visible()
	widgets.SetVisible(n.menuButton, n.ui.main.narrow)
	space := fyne.Size{}
	if n.ui.main.narrow || hasBack {
		space = n.head.MinSize().AddWidthHeight(2*style.Inside, 0)
	}
	widgets.ReserveTitleSpace(space, hasBack)
	n.box.Show()
	return true
}

// openHit opens a search result in its chat or in the chat's archive.
func (n *navigator) openHit(h protocol.SearchHit) {
	if h.Archived {
		n.openArchive(h.SessionKey, func(p *archive.Page) { p.OpenHit(h) })
		return
	}
	n.ui.main.open(h.SessionKey)
	n.ui.main.conversation.Page.RevealMessage(h.MessageID, h.Seq, feed.HitWord(h))
}

// openRun opens a chat at the beginning of a run.
func (n *navigator) openRun(key protocol.SessionKey, run protocol.RunID) {
	n.ui.main.open(key)
	n.ui.main.conversation.Page.RevealRun(run)
}

// openArchives shows the archived conversations of a chat in the main window.
func (n *navigator) openArchives(key protocol.SessionKey) {
	n.openArchive(key, (*archive.Page).Load)
	n.ui.main.conversation.Window.RequestFocus()
}

func (n *navigator) openArchive(key protocol.SessionKey, begin func(*archive.Page)) {
	n.open(page{"clock", archivesTitle, func(ctx context.Context, _ host.Target) (fyne.CanvasObject, func() bool) {
		p := archive.New(ctx, n.ui.env(), key)
		bind.Every(ctx, 200*time.Millisecond, p.Tick)
		begin(p)
		return p.Box, p.Back
	}})
}
