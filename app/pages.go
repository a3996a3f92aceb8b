package app

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/channels"
	"fairlead/app/files"
	"fairlead/app/nodes"
	"fairlead/app/schedule"
	"fairlead/app/search"
	"fairlead/app/skills"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/transfers"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// page is a view that replaces the chat in the main window. It is created when it is opened and
// dropped when it is left, so that hidden pages cost nothing.
type page struct {
	icon, title string
	// open creates the view. Its background work ends with ctx.
	open func(ctx context.Context) fyne.CanvasObject
}

// pages are the pages listed at the bottom of the sidebar, in this order.
func (s *shell) pages() []page {
	return []page{
		s.inboxPage(), s.rulesPage(), s.auditPage(),
		{"machine", machinesTitle, func(ctx context.Context) fyne.CanvasObject {
			id := s.machine
			p := nodes.New(ctx, s.b.state, nodes.Handlers{Machines: &s.machines, Copy: s.app.Clipboard().SetContent, Say: s.say, Undo: s.offerUndo, Send: s.sendFiles, Browse: s.browse, Opened: func(id protocol.NodeID) {
				s.machine = id
				s.sidebar.show(s.view, s.key)
			}})
			p.Open(id)
			s.dropOn, s.pageBack = p.At, p.Back
			return p.Box
		}},
		{"folder", filesTitle, func(ctx context.Context) fyne.CanvasObject {
			last := s.b.prefs.get()
			p := files.NewPair(ctx, s.b.state, files.Handlers{
				Say: s.say, Undo: s.offerUndo, Copy: s.app.Clipboard().SetContent, Fetch: s.fetch,
				Place: func(id protocol.NodeID) { s.place = id }, Open: s.opener(), Drop: s.droppedFiles, Send: s.sendBetween,
				Two: last.FilesTwo, Right: last.FilesRight, Paired: func(two bool, right protocol.NodeID) {
					s.b.prefs.update(func(r *remembered) { r.FilesTwo, r.FilesRight = two, right })
				},
				Sort: last.Files, Sorted: func(by state.FileSort) { s.b.prefs.update(func(r *remembered) { r.Files = by }) },
			})
			s.files, s.pageBack = p, p.Back
			if file := s.file; file != "" {
				s.file = ""
				p.OpenAt(file)
				return p.Box
			}
			p.Open(s.place)
			return p.Box
		}},
		{"transfer", transfersTitle, func(ctx context.Context) fyne.CanvasObject {
			p := transfers.New(ctx, s.b.state, transfers.Handlers{Say: s.say, Undo: s.offerUndo, Reveal: s.reveal, Send: func() { s.sendFiles("") }})
			s.pageBack = p.Back
			return p.Box
		}},
		{"calendar", "Schedule", func(ctx context.Context) fyne.CanvasObject {
			p := schedule.New(ctx, s.b.state, schedule.Handlers{OpenChat: s.open, Undo: s.offerUndo})
			s.pageBack = p.Back
			return p.Box
		}},
		{"skill", "Skills", func(ctx context.Context) fyne.CanvasObject {
			p := skills.New(ctx, s.b.state, skills.Handlers{
				Edit: s.editFile, Folder: s.editFile, OpenURL: s.openURL, Copy: s.app.Clipboard().SetContent, Undo: s.offerUndo, Say: s.say,
			})
			s.pageBack = p.Back
			return p.Box
		}},
		{"channel", channelsTitle, func(ctx context.Context) fyne.CanvasObject {
			p := channels.New(ctx, s.b.state, channels.Handlers{Undo: s.offerUndo, Say: s.say})
			s.pageBack = p.Back
			return p.Box
		}},
	}
}

// Titles of pages that other parts of the program open, too.
const (
	machinesTitle  = "Machines"
	transfersTitle = "Transfers"
	filesTitle     = "Files"
	channelsTitle  = "Channels"
	searchTitle    = "Search"
	archivesTitle  = "Earlier conversations"
)

// browse shows the files of a machine.
func (s *shell) browse(id protocol.NodeID) {
	s.place = id
	s.openNamed(filesTitle)
}

// editFile opens one of the agent's own files or folders in the editor.
func (s *shell) editFile(path string) {
	s.file = path
	s.openNamed(filesTitle)
}

// searchFor shows the messages that contain a text.
func (s *shell) searchFor(query string) {
	var p *search.Page
	s.openPage(page{"search", searchTitle, func(ctx context.Context) fyne.CanvasObject {
		p = search.New(ctx, s.b.state, search.Handlers{Open: s.openHit})
		p.Ask(query)
		return p.Box
	}})
	s.window.Canvas().Focus(p.Field)
}

// openMachine shows a machine on the page of machines; an empty ID shows all.
func (s *shell) openMachine(id protocol.NodeID) {
	s.machine = id
	s.openNamed(machinesTitle)
}

// openNamed opens the page with a title.
func (s *shell) openNamed(title string) {
	for _, p := range s.pages() {
		if p.title == title {
			s.openPage(p)
		}
	}
}

// openPage replaces the chat by a page.
func (s *shell) openPage(p page) {
	s.endFirstRun()
	s.leavePage()
	s.window.Canvas().Unfocus() // the composer is hidden now
	ctx, cancel := context.WithCancel(s.ctx)
	s.pageTitle, s.pageEnd = p.title, cancel
	s.pageMenu = widgets.NewQuiet("", "menu", s.toggleDrawer)
	s.pageHead = widgets.Inset(style.Group, 0, 0, style.Inside, container.NewVBox(widgets.Row(0, -1, s.pageMenu)))
	s.pageBox.Objects = []fyne.CanvasObject{widgets.NewRect("background", "", 0), p.open(ctx), s.pageHead}
	s.closeDrawer()
	s.arrange()
	s.sidebar.show(s.view, s.key)
	if p.title == inboxTitle {
		s.inbox.Focus(s.window.Canvas())
	}
}

// leavePage shows the chat again.
func (s *shell) leavePage() {
	if s.pageEnd == nil {
		return
	}
	s.pageEnd()
	s.pageEnd, s.pageTitle, s.pageBack, s.dropOn, s.files = nil, "", nil, nil, nil
	s.pageBox.Objects = nil
	s.arrange()
}

// arrangePage shows the open page, if any, and reports whether there is one. The drawer's button is
// visible in narrow windows only.
func (s *shell) arrangePage() bool {
	if s.pageEnd == nil {
		s.pageBox.Hide()
		return false
	}
	if s.narrow {
		widgets.LeadPages(s.pageMenu.MinSize().AddWidthHeight(2*style.Inside, 0))
		s.pageHead.Show()
	} else {
		widgets.LeadPages(fyne.Size{})
		s.pageHead.Hide()
	}
	s.pageBox.Show()
	return true
}
