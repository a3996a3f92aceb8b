package app

import (
	"cmp"
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/approve"
	"fairlead/app/bind"
	"fairlead/app/files"
	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// shell is the main window and what opens beside it. It belongs to the GUI thread.
type shell struct {
	*conversation // of the main window
	torn          map[protocol.SessionKey]*conversation

	ctx      context.Context
	app      fyne.App
	b        *backend
	machines look.Machines
	hasTray  bool
	visible  bool
	// showQuietly opens a window without taking the keyboard.
	showQuietly func(fyne.Window)
	running     bool // values are watched

	sidebar  *sidebar
	drawer   *fyne.Container // the sidebar over the chat, in a narrow window
	menu     *widgets.Button
	toast    *widgets.Toast
	banner   *widgets.ErrorBox
	body     *fyne.Container
	firstRun bool
	first    *firstPage
	narrow   bool

	pageBox   *fyne.Container // the page that is shown instead of the chat
	pageHead  fyne.CanvasObject
	pageMenu  *widgets.Button
	pageTitle string             // empty while there is none
	pageEnd   context.CancelFunc // nil while there is none
	machine   protocol.NodeID    // that the page of machines shows; empty is all
	file      string             // that the page of files opens with
	files     *files.Pair        // the page of files, while it is shown
	place     protocol.NodeID    // whose files the page of files shows; empty is the agent's own
	// dropOn is the machine at a place of the page, for what is dropped there; nil where there are none.
	dropOn func(fyne.Position) protocol.NodeID

	view     state.View
	noticeAt int64
	approval fyne.Window
	dialog   *approve.Dialog
	wanted   protocol.ApprovalID // to review when the view has it
	inbox    *approve.Inbox      // nil while its page is not open
	notes    notes
	settings fyne.Window
}

// Sizes of the main window (LOOK).
var (
	defaultSize = fyne.NewSize(1120, 760)
)

// sidebarWidth is that of the sidebar, which grows with the text: the names in it must not be cut off.
func sidebarWidth() float32 {
	const normal, most = 240, 360
	return min(max(normal, normal*look.Size("text")/14), most)
}

func newShell(ctx context.Context, a fyne.App, b *backend) *shell {
	s := &shell{ctx: ctx, app: a, b: b, torn: make(map[protocol.SessionKey]*conversation), showQuietly: fyne.Window.Show}
	title := "Fairlead"
	if name := b.f.joined(); name != "" {
		title = name + " – Fairlead"
	}
	w := a.NewWindow(title)
	w.SetMaster()
	s.conversation = newConversation(s, w)
	s.sidebar = newSidebar(s)
	s.toast = widgets.NewToast()
	s.banner = widgets.NewErrorBox(widgets.Problem{}, func() {})
	s.banner.Hide()
	s.menu = widgets.NewQuiet("", "menu", s.toggleDrawer)
	s.drawer = container.NewStack()
	s.drawer.Hide()
	s.first = newFirstPage(s)
	s.first.box.Hide()
	foot := container.New(&toastLayout{}, s.toast, s.banner)
	s.pageBox = container.NewStack()
	s.pageBox.Hide()
	s.body = container.New(&shellLayout{s}, s.sidebar.box, s.pane, s.first.box, s.pageBox, s.drawer, foot)
	s.window.SetContent(container.NewStack(widgets.NewRect("background", "", 0), s.body))
	last := b.prefs.get()
	s.window.Resize(sizeOr(last.Width, last.Height, defaultSize))
	s.window.SetPadded(false)
	s.window.CenterOnScreen()
	s.window.SetCloseIntercept(s.closeWindow)
	s.shortcuts()
	s.visible = true
	s.setFirstRun(!last.Begun && b.f.join == "") // another gateway has its own person
	s.open(cmp.Or(last.Chat, protocol.MainSession))
	return s
}

// run lets the window follow what happens.
func (s *shell) run() {
	s.running = true
	bind.Watch(s.ctx, s.b.state.Value, s.update)
	bind.Every(s.ctx, 200*time.Millisecond, s.tick)
	s.watch()
}

// shortcut adds a key of a window, pressed with Ctrl (on macOS with Command).
func shortcut(w fyne.Window, key fyne.KeyName, f func()) {
	w.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}, func(fyne.Shortcut) { f() })
}

// shortcuts are the window's keys.
func (s *shell) shortcuts() {
	shortcut(s.window, fyne.KeyN, s.newChat)
	shortcut(s.window, fyne.KeyK, s.focusSearch)
	shortcut(s.window, fyne.KeyI, s.openInbox)
	shortcut(s.window, fyne.KeyL, func() {
		if s.files != nil {
			s.files.WritePath()
		}
	})
	shortcut(s.window, fyne.KeyF, func() { s.searchFor(s.sidebar.search.Text) })
	shortcut(s.window, fyne.KeyComma, s.openSettings)
	shortcut(s.window, fyne.KeyW, s.closeWindow)
	shortcut(s.window, fyne.KeyQ, s.quit)
	shortcut(s.window, fyne.KeyPeriod, func() { s.pane.Stop() })
	s.window.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyF3 && s.files != nil {
			s.files.Toggle()
		}
		if e.Name == fyne.KeyEscape {
			if s.drawer.Visible() {
				s.toggleDrawer()
				return
			}
			s.focusComposer()
		}
	})
}

// update takes a new view of the gateway in.
func (s *shell) update(v state.View) {
	if v.Loaded && !s.view.Loaded && s.firstRun {
		s.first.look()
	}
	changed := s.running && v.Config != s.view.Config
	s.view = v
	if changed {
		s.followUI()
	}
	if s.view.Moved(s.key) {
		s.turnTo(s.mainChat())
	}
	for _, n := range v.Nodes {
		s.machines.Choose(string(n.ID), n.Colour)
	}
	s.sidebar.show(v, s.key)
	s.draw()
	for _, c := range s.torn {
		c.draw()
	}
	s.showProblems(v)
	s.showApprovals(v)
	s.notify(v)
	if s.inbox != nil {
		s.inbox.Update(v)
	}
	if n := v.Notice; n != nil && n.At != s.noticeAt {
		s.noticeAt = n.At
		s.toast.Say(n.Text, nil, time.Now(), time.Now().Add(8*time.Second))
		s.body.Refresh()
	}
}

// showProblems says what is wrong with the whole program.
func (s *shell) showProblems(v state.View) {
	switch {
	case v.Status.Storage != "":
		s.banner.Set(widgets.Problem{What: v.Status.Storage, Do: "The agent is paused until that is mended.", Button: "Resume"})
		s.banner.OnButton = func() { s.b.state.Pause(false) }
	case !v.Loaded && v.Problem != "" && s.b.f.join == "":
		s.banner.Set(widgets.Problem{What: "The gateway did not start.", Do: v.Problem, Button: "Try again"})
		s.banner.OnButton = s.b.retry
	case !v.Loaded && v.Problem != "":
		s.banner.Set(widgets.Problem{What: "No connection to the gateway " + s.b.f.joined() + ".", Do: v.Problem})
	case !v.Connected && v.Problem != "" && s.b.f.join != "":
		s.banner.Set(widgets.Problem{What: "The connection to the gateway " + s.b.f.joined() + " is lost.", Do: "What is shown is how it was last. The chat says more."})
	default:
		if s.banner.Visible() {
			s.banner.Hide()
			s.body.Refresh()
		}
		return
	}
	if !s.banner.Visible() {
		s.banner.Show()
		s.body.Refresh()
	}
}

// open shows a chat.
func (s *shell) open(key protocol.SessionKey) {
	s.leavePage()
	if key == "" || key == s.key {
		s.sidebar.show(s.view, s.key)
		return
	}
	s.turnTo(key)
	s.sidebar.show(s.view, key)
	s.focusComposer()
}

// turnTo shows another chat, now and after the next start.
func (s *shell) turnTo(key protocol.SessionKey) {
	s.b.prefs.update(func(r *remembered) { r.Chat = key })
	s.turn(key)
}

// mainChat is the chat that opens when no other is chosen.
func (s *shell) mainChat() protocol.SessionKey {
	return cmp.Or(s.view.Status.MainSession, protocol.MainSession)
}

func (s *shell) tick(now time.Time) {
	s.pane.Tick(now)
	for _, c := range s.torn {
		c.pane.Tick(now)
	}
	was := s.toast.Visible()
	s.toast.Tick(now)
	if was != s.toast.Visible() {
		s.body.Refresh()
	}
	if s.dialog != nil {
		s.dialog.Tick(now)
	}
	if s.inbox != nil {
		s.inbox.Tick(now)
	}
}

func (s *shell) newChat() {
	bind.Go(s.ctx, s.b.state.NewChat, func(key protocol.SessionKey, err error) {
		if err != nil {
			s.say("No new chat: " + err.Error())
			return
		}
		s.open(key)
	})
	s.endFirstRun()
	if s.drawer.Visible() {
		s.toggleDrawer()
	}
}

func (s *shell) focusSearch() {
	if s.narrow && !s.drawer.Visible() {
		s.toggleDrawer()
	}
	s.window.Canvas().Focus(s.sidebar.search)
}

// show brings the window to the front.
func (s *shell) show() {
	s.visible = true
	s.window.Show()
	s.window.RequestFocus()
}

// closeWindow hides the window when the tray keeps the program alive; without a tray it ends it.
func (s *shell) closeWindow() {
	s.remember()
	if s.hasTray {
		s.visible = false
		s.window.Hide()
		s.b.wg.Go(giveBack)
		return
	}
	s.quit()
}

func (s *shell) quit() {
	s.remember()
	s.app.Quit()
}

// remember keeps the window's size for the next start.
func (s *shell) remember() {
	if size := s.window.Canvas().Size(); s.visible && size.Width > 100 {
		s.b.prefs.update(func(r *remembered) { r.Width, r.Height = size.Width, size.Height })
	}
}

func sizeOr(width, height float32, other fyne.Size) fyne.Size {
	if width < 100 || height < 100 {
		return other
	}
	return fyne.NewSize(width, height)
}

// activated is called when one of the windows came to the front.
func (s *shell) activated() {
	if s.dialog != nil {
		s.dialog.Activated()
	}
}

func (s *shell) setTheme(mode look.Mode, scale float32) {
	last := s.b.prefs.get()
	s.b.prefs.update(func(r *remembered) { r.Theme, r.TextSize = string(mode), scale })
	if last.Theme != string(mode) || last.TextSize != scale {
		s.app.Settings().SetTheme(look.New(mode, scale))
	}
}

func (s *shell) trayDo(i state.TrayItem) {
	switch i.Do {
	case state.TrayOpen:
		s.show()
	case state.TrayNew:
		s.show()
		s.newChat()
	case state.TrayChat:
		s.show()
		s.open(i.Key)
	case state.TrayReview:
		s.review(i.ID)
	case state.TrayNeeds:
		s.show()
		s.openInbox()
	case state.TrayMode:
		s.b.state.SetMode(i.Key, state.ModeChoices[i.Mode])
	case state.TrayPause:
		s.b.state.Pause(!s.view.Status.Paused)
	case state.TrayTransfers:
		s.show()
		s.openNamed(transfersTitle)
	case state.TrayGateway:
		if err := s.b.elsewhere.Open(i.Gateway); err != nil {
			s.show()
			s.say("No window was opened: " + err.Error())
		}
	case state.TraySettings:
		s.openSettings()
	case state.TrayQuit:
		s.quit()
	}
}
