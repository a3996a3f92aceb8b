package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/approve"
	"fairlead/app/bind"
	"fairlead/app/files"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// shell is the main window and everything that opens beside it. It belongs to the GUI thread.
type shell struct {
	*conversation // the chat of the main window
	torn          map[protocol.SessionKey]*conversation

	ctx      context.Context
	app      fyne.App
	b        *backend
	machines style.Machines
	hasTray  bool
	visible  bool
	// showQuietly opens a window without taking the keyboard focus.
	showQuietly func(fyne.Window)
	running     bool // set while the shell watches the gateway's values
	uiTurn      int  // number of the latest request for theme and text size

	sidebar *sidebar
	drawer  *fyne.Container // holds the sidebar over the chat in a narrow window
	// beforeDrawer had the focus when the drawer was opened; nil for none.
	beforeDrawer fyne.Focusable
	menu         *widgets.Button
	toast        *widgets.Toast
	undos        []*widgets.Toast // offers to undo, oldest first
	banner       *widgets.ErrorBox
	foot         *fyne.Container // container of undos, toast and banner
	body         *fyne.Container
	firstRun     bool
	first        *firstPage
	narrow       bool

	pageBox   *fyne.Container // container of the page that replaces the chat
	pageHead  fyne.CanvasObject
	pageMenu  *widgets.Button
	pageTitle string             // empty without a page
	pageEnd   context.CancelFunc // cancels the page's context; nil without a page
	machine   protocol.NodeID    // machine of the machines page; empty for all
	file      string             // file that the files page opens with
	files     *files.Pair        // the files page, while it is open
	place     protocol.NodeID    // machine of the files page; empty for the agent's own files
	// goes from a detail view of the page back to its list; nil without a detail view
	pageBack func() bool
	// dropOn returns the machine at a position of the page, as the target of dropped files; nil if
	// the page has none.
	dropOn func(fyne.Position) protocol.NodeID

	keys     map[fyne.Window]fyne.Focusable // focused object of each window at the last tick
	minute   time.Time                      // minute of the last tick
	view     state.View
	unread   unread
	drafts   drafts
	noticeAt int64
	approval fyne.Window
	dialog   *approve.Dialog
	wanted   protocol.ApprovalID // approval to open once the view has it
	inbox    *approve.Inbox      // nil while its page is closed
	notes    notes
	missing  string // missing secrets of the last notice
	settings fyne.Window
	invite   func(link string)  // shows an invitation in the settings window
	find     func(query string) // searches in the settings window
}

func newShell(ctx context.Context, a fyne.App, b *backend) *shell {
	s := &shell{ctx: ctx, app: a, b: b, torn: make(map[protocol.SessionKey]*conversation), unread: unread{prefs: b.prefs}, drafts: newDrafts(b.prefs), showQuietly: fyne.Window.Show}
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
	s.foot = container.New(&toastLayout{s.pane.Questions}, s.toast, s.banner)
	s.pageBox = container.NewStack()
	s.pageBox.Hide()
	s.body = container.New(&shellLayout{s}, s.pane, s.first.box, s.pageBox, s.sidebar.box, s.drawer, s.foot)
	s.window.SetContent(s.body) // the toolkit draws the background
	last := b.prefs.get()
	s.window.Resize(sizeOr(last.Width, last.Height, defaultSize))
	s.window.SetPadded(false)
	s.window.CenterOnScreen()
	s.window.SetCloseIntercept(s.closeWindow)
	s.shortcuts()
	s.visible = true
	s.setFirstRun(!last.Begun && b.f.join == "") // the first-run page is for the local gateway only
	s.open(cmp.Or(last.Chat, protocol.MainSession))
	return s
}

// run starts following the gateway's state.
func (s *shell) run() {
	s.running = true
	bind.Watch(s.ctx, s.b.state.Value, s.update)
	bind.Every(s.ctx, 200*time.Millisecond, s.tick)
	s.watch()
}

// update applies a new view of the gateway.
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
		s.machines.Call(string(n.ID), n.Name)
	}
	s.unread.look(v, s.eyes)
	s.sidebar.show(v, s.key)
	s.draw()
	for _, c := range s.torn {
		c.draw()
	}
	s.showProblems(v)
	s.sayMissing(v)
	s.showApprovals(v)
	s.notify(v)
	s.tellTransfers(v)
	if s.inbox != nil {
		s.inbox.Update(v)
	}
	if n := v.Notice; n != nil && n.At != s.noticeAt {
		s.noticeAt = n.At
		// the banner already shows it
		if v.Status.Storage == "" || !strings.HasPrefix(n.Text, v.Status.Storage) {
			s.toast.Say(n.Text, nil, time.Now(), time.Now().Add(8*time.Second))
			s.body.Refresh()
		}
	}
}

// sayMissing shows a notice about missing secrets, once per change.
func (s *shell) sayMissing(v state.View) {
	missing := strings.Join(v.Status.Missing, " ")
	if missing == s.missing {
		return
	}
	s.missing = missing
	if missing != "" {
		s.toast.Say(state.MissingSecrets(v.Status)+" "+state.SecretsDo(v.Status), nil, time.Now(), time.Now().Add(time.Minute))
		s.body.Refresh()
	}
}

// showProblems shows problems of the whole program in the banner.
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
		return
	}
	s.layFoot() // the banner's height may have changed
}

func (s *shell) layFoot() { s.foot.Layout.Layout(s.foot.Objects, s.foot.Size()) }

// open opens a chat.
func (s *shell) open(key protocol.SessionKey) {
	s.leavePage()
	if key != "" && key != s.key {
		s.turnTo(key)
	}
	s.unread.look(s.view, s.eyes) // also for the chat that was hidden by a page
	s.sidebar.show(s.view, s.key)
	if key != "" {
		s.focusComposer()
	}
}

// turnTo shows another chat, now and after the next start.
func (s *shell) turnTo(key protocol.SessionKey) {
	s.b.prefs.update(func(r *remembered) { r.Chat = key })
	s.turn(key)
}

// mainChat is the chat that opens by default.
func (s *shell) mainChat() protocol.SessionKey {
	return cmp.Or(s.view.Status.MainSession, protocol.MainSession)
}

func (s *shell) tick(now time.Time) {
	s.pane.Tick(now)
	s.tickDraft(now)
	for _, c := range s.torn {
		c.pane.Tick(now)
		c.tickDraft(now)
		if c.toast.Visible() {
			c.toast.Tick(now)
			c.foot.Layout.Layout(c.foot.Objects, c.foot.Size())
		}
	}
	was, undos := s.toast.Visible(), s.tickUndos(now)
	s.toast.Tick(now)
	switch {
	case was != s.toast.Visible():
		s.body.Refresh()
	case was || undos || s.banner.Visible():
		s.layFoot() // the areas to keep free may have moved
	}
	// the sidebar shows for how long machines have been offline
	if minute := now.Truncate(time.Minute); minute != s.minute {
		s.minute = minute
		s.sidebar.show(s.view, s.key)
	}
	if s.dialog != nil {
		s.dialog.Tick(now)
	}
	if s.inbox != nil {
		s.inbox.Tick(now)
	}
	s.followKeys()
}

// followKeys scrolls the focused object of every window into view when the focus moved.
func (s *shell) followKeys() {
	has := make(map[fyne.Window]fyne.Focusable, len(s.keys))
	for _, w := range s.app.Driver().AllWindows() {
		f := w.Canvas().Focused()
		has[w] = f
		if o, ok := f.(fyne.CanvasObject); ok && f != s.keys[w] {
			widgets.Reveal(o)
		}
	}
	s.keys = has
}

func (s *shell) newChat() {
	bind.Go(s.ctx, s.b.state.Chats.Create, func(key protocol.SessionKey, err error) {
		if err != nil {
			s.say("No new chat: " + err.Error())
			return
		}
		s.open(key)
	})
	s.endFirstRun()
	s.closeDrawer()
}
