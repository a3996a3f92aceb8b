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

// shell is the main window and what opens beside it. It belongs to the GUI thread.
type shell struct {
	*conversation // of the main window
	torn          map[protocol.SessionKey]*conversation

	ctx      context.Context
	app      fyne.App
	b        *backend
	machines style.Machines
	hasTray  bool
	visible  bool
	// showQuietly opens a window without taking the keyboard.
	showQuietly func(fyne.Window)
	running     bool // values are watched
	uiTurn      int  // number of the newest reading of theme and text size

	sidebar *sidebar
	drawer  *fyne.Container // the sidebar over the chat, in a narrow window
	// beforeDrawer had the keyboard when the drawer was opened; nil is nothing.
	beforeDrawer fyne.Focusable
	menu         *widgets.Button
	toast        *widgets.Toast
	undos        []*widgets.Toast // offers to undo, oldest first
	banner       *widgets.ErrorBox
	foot         *fyne.Container // undos, toast and banner
	body         *fyne.Container
	firstRun     bool
	first        *firstPage
	narrow       bool

	pageBox   *fyne.Container // the page that is shown instead of the chat
	pageHead  fyne.CanvasObject
	pageMenu  *widgets.Button
	pageTitle string             // empty while there is none
	pageEnd   context.CancelFunc // nil while there is none
	machine   protocol.NodeID    // that the page of machines shows; empty is all
	file      string             // that the page of files opens with
	files     *files.Pair        // the page of files, while it is shown
	place     protocol.NodeID    // whose files the page of files shows; empty is the agent's own
	pageBack  func() bool        // leaves what the page shows of one thing for all of them; nil where there is no such way
	// dropOn is the machine at a place of the page, for what is dropped there; nil where there are none.
	dropOn func(fyne.Position) protocol.NodeID

	keys     map[fyne.Window]fyne.Focusable // what had the keyboard at the last tick
	minute   time.Time                      // of the last tick
	view     state.View
	unread   unread
	drafts   drafts
	noticeAt int64
	approval fyne.Window
	dialog   *approve.Dialog
	wanted   protocol.ApprovalID // to review when the view has it
	inbox    *approve.Inbox      // nil while its page is not open
	notes    notes
	missing  string // keys that are not there, as was said last
	settings fyne.Window
	invite   func(link string)  // shows an invitation in it
	find     func(query string) // shows settings in it
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
	s.window.SetContent(s.body) // the toolkit lays the ground
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
		if v.Status.Storage == "" || !strings.HasPrefix(n.Text, v.Status.Storage) { // the banner says it
			s.toast.Say(n.Text, nil, time.Now(), time.Now().Add(8*time.Second))
			s.body.Refresh()
		}
	}
}

// sayMissing says once which keys are not there.
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

// showProblems says what is wrong with the whole program.
func (s *shell) showProblems(v state.View) {
	switch {
	case v.Status.Storage != "":
		s.banner.Set(widgets.Problem{What: v.Status.Storage, Do: "The agent is paused until that is mended.", Button: "Resume"})
		s.banner.OnButton = func() { s.b.state.Pause(false) }
	case v.Updating != "":
		s.banner.Set(widgets.Problem{Fine: true, What: "Updating the store: " + v.Updating + ".", Do: "This takes a while once, after an update of the program. Your chats are safe; if it is interrupted, it goes on at the next start."})
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
	s.layFoot() // it may say more than before
}

func (s *shell) layFoot() { s.foot.Layout.Layout(s.foot.Objects, s.foot.Size()) }

// open shows a chat.
func (s *shell) open(key protocol.SessionKey) {
	s.leavePage()
	if key != "" && key != s.key {
		s.turnTo(key)
	}
	s.unread.look(s.view, s.eyes) // also of the chat that a page had hidden
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

// mainChat is the chat that opens when no other is chosen.
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
		s.layFoot() // what they must not cover may have moved
	}
	if minute := now.Truncate(time.Minute); minute != s.minute { // the sidebar says how long machines have been away
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

// followKeys scrolls what has the keyboard now into view, in every window.
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
	bind.Go(s.ctx, s.b.state.NewChat, func(key protocol.SessionKey, err error) {
		if err != nil {
			s.say("No new chat: " + err.Error())
			return
		}
		s.open(key)
	})
	s.endFirstRun()
	s.closeDrawer()
}
