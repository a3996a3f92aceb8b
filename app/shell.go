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
	"fairlead/app/chat"
	"fairlead/app/look"
	"fairlead/app/settings"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway"
	"fairlead/gateway/protocol"
)

// shell is the main window and what opens beside it. It belongs to the GUI thread.
type shell struct {
	ctx      context.Context
	app      fyne.App
	b        *backend
	machines look.Machines
	window   fyne.Window
	hasTray  bool
	visible  bool
	running  bool // values are watched

	sidebar  *sidebar
	drawer   *fyne.Container // the sidebar over the chat, in a narrow window
	menu     *widgets.Button
	pane     *chat.Pane
	toast    *widgets.Toast
	banner   *widgets.ErrorBox
	body     *fyne.Container
	firstRun bool
	first    *firstPage
	narrow   bool

	view     state.View
	key      protocol.SessionKey // of the chat that is shown
	chat     *state.Chat
	chatView state.ChatView
	stopChat context.CancelFunc
	drafts   map[protocol.SessionKey]string // typed and not sent
	noticeAt int64
	approval fyne.Window
	dialog   *approve.Dialog
	settings fyne.Window
}

// Sizes of the main window (LOOK).
var (
	defaultSize = fyne.NewSize(1120, 760)
	sidebarSize = float32(240)
)

func newShell(ctx context.Context, a fyne.App, b *backend) *shell {
	s := &shell{ctx: ctx, app: a, b: b, drafts: make(map[protocol.SessionKey]string)}
	s.window = a.NewWindow("Fairlead")
	s.window.SetMaster()
	s.sidebar = newSidebar(s)
	s.pane = chat.New(s.handlers(), &s.machines)
	s.toast = widgets.NewToast()
	s.banner = widgets.NewErrorBox(widgets.Problem{}, func() {})
	s.banner.Hide()
	s.menu = widgets.NewQuiet("", "menu", s.toggleDrawer)
	s.drawer = container.NewStack()
	s.drawer.Hide()
	s.first = newFirstPage(s)
	s.first.box.Hide()
	foot := container.New(&toastLayout{}, s.toast, s.banner)
	s.body = container.New(&shellLayout{s}, s.sidebar.box, s.pane, s.first.box, s.drawer, foot)
	s.window.SetContent(container.NewStack(widgets.NewRect("background", "", 0), s.body))
	last := b.prefs.get()
	s.window.Resize(sizeOr(last.Width, last.Height, defaultSize))
	s.window.SetPadded(false)
	s.window.CenterOnScreen()
	s.window.SetCloseIntercept(s.closeWindow)
	s.window.SetOnDropped(func(_ fyne.Position, uris []fyne.URI) {
		var paths []string
		for _, u := range uris {
			paths = append(paths, u.Path())
		}
		s.pane.AddFiles(paths)
	})
	s.shortcuts()
	s.visible = true
	s.setFirstRun(!last.Begun)
	s.open(cmp.Or(last.Chat, protocol.MainSession))
	return s
}

// run lets the window follow what happens.
func (s *shell) run() {
	s.running = true
	bind.Watch(s.ctx, s.b.state.Value, s.update)
	bind.Every(s.ctx, 200*time.Millisecond, s.tick)
	s.watchChat()
}

// watchChat follows the chat that is shown, until another is.
func (s *shell) watchChat() {
	if s.stopChat != nil {
		s.stopChat()
	}
	if !s.running {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.stopChat = cancel
	bind.Watch(ctx, s.chat.Value, s.showChat)
}

func (s *shell) showChat(v state.ChatView) {
	s.chatView = v
	s.showPane()
}

// shortcut adds a key of a window, pressed with Ctrl (on macOS with Command).
func shortcut(w fyne.Window, key fyne.KeyName, f func()) {
	w.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}, func(fyne.Shortcut) { f() })
}

// shortcuts are the window's keys.
func (s *shell) shortcuts() {
	shortcut(s.window, fyne.KeyN, s.newChat)
	shortcut(s.window, fyne.KeyK, s.focusSearch)
	shortcut(s.window, fyne.KeyComma, s.openSettings)
	shortcut(s.window, fyne.KeyW, s.closeWindow)
	shortcut(s.window, fyne.KeyQ, s.quit)
	shortcut(s.window, fyne.KeyPeriod, func() { s.pane.Stop() })
	s.window.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
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
	s.view = v
	s.sidebar.show(v, s.key)
	s.showPane()
	s.showProblems(v)
	s.showApprovals(v)
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
		s.banner.Set(widgets.Problem{What: "No connection to the gateway at " + s.b.f.join + ".", Do: v.Problem})
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
	if key == "" || key == s.key {
		return
	}
	s.drafts[s.key] = s.pane.Draft()
	s.b.state.Forget(s.key)
	s.key = key
	s.b.prefs.update(func(r *remembered) { r.Chat = key })
	s.chatView = state.ChatView{Key: key, Loading: true}
	s.sidebar.show(s.view, key)
	s.chat = s.b.state.Chat(key)
	s.watchChat()
	s.showPane()
	s.pane.SetDraft(s.drafts[key])
	s.focusComposer()
}

// showPane puts the chat's state together.
func (s *shell) showPane() {
	st := chat.StateOf(s.view, s.chatView)
	if st.Session.Title == "" {
		st.Session.Title = state.TitleOf(st.Session)
	}
	for _, m := range s.view.Models {
		st.Models = append(st.Models, chat.Model{Ref: m.Ref, Name: m.Name})
	}
	s.pane.Update(st)
}

func (s *shell) tick(now time.Time) {
	s.pane.Tick(now)
	was := s.toast.Visible()
	s.toast.Tick(now)
	if was != s.toast.Visible() {
		s.body.Refresh()
	}
	if s.dialog != nil {
		s.dialog.Tick(now)
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

// focusComposer gives the keyboard to the field for messages, also when it was never drawn.
func (s *shell) focusComposer() { s.window.Canvas().Focus(s.pane.Composer()) }

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
	case state.TrayPause:
		s.b.state.Pause(!s.view.Status.Paused)
	case state.TraySettings:
		s.openSettings()
	case state.TrayQuit:
		s.quit()
	}
}

// showApprovals opens the dialog when a question comes, and closes it when none is left.
func (s *shell) showApprovals(v state.View) {
	if len(v.Approvals) == 0 {
		if s.approval != nil {
			s.approval.Close()
			s.approval, s.dialog = nil, nil
			if n := len(v.Closed); n > 0 && !v.Closed[n-1].Here {
				s.say("The question was answered elsewhere: " + state.Ended(v.Closed[n-1].Approval) + ".")
			}
		}
		return
	}
	if s.approval == nil {
		s.openApproval(v)
	} else {
		s.dialog.Update(v.Approvals, v.Closed)
	}
	s.approval.SetTitle(state.QuestionTitle(s.dialog.Current()))
}

func (s *shell) openApproval(v state.View) {
	w := s.app.NewWindow("Fairlead needs you")
	s.approval = w
	s.dialog = approve.New(approve.Handlers{Answer: s.b.state.Answer, Shown: s.b.state.Shown}, &s.machines, w.Canvas())
	w.SetPadded(false)
	w.SetContent(s.dialog)
	s.dialog.Update(v.Approvals, nil)
	w.Resize(fyne.NewSize(approve.Width, s.dialog.Height()))
	w.SetCloseIntercept(func() { s.dialog.Close() })
	w.CenterOnScreen()
	w.Show()
	s.dialog.OnScreen(true)
}

// review brings a question to the front.
func (s *shell) review(id protocol.ApprovalID) {
	if s.approval == nil {
		return
	}
	s.dialog.Select(id)
	s.approval.Show()
	s.approval.RequestFocus()
}

func (s *shell) openSettings() {
	if s.settings != nil {
		s.settings.Show()
		s.settings.RequestFocus()
		return
	}
	w := s.app.NewWindow("Settings – Fairlead")
	ctx, cancel := context.WithCancel(s.ctx)
	h := settings.Handlers{OpenURL: s.openURL, OpenPath: s.openPath, Theme: s.setTheme, Copy: s.app.Clipboard().SetContent,
		PickFolder: func(done func(string)) { pickFolder(w, done) }}
	if s.b.f.join == "" {
		h.Local = local{s.b}
	}
	w.SetContent(settings.New(ctx, s.b.state, h, gateway.Version))
	w.SetPadded(false)
	last := s.b.prefs.get()
	w.Resize(sizeOr(last.SettingsWidth, last.SettingsHeight, fyne.NewSize(860, 640)))
	w.SetCloseIntercept(func() {
		size := w.Canvas().Size()
		s.b.prefs.update(func(r *remembered) { r.SettingsWidth, r.SettingsHeight = size.Width, size.Height })
		w.Close()
	})
	w.SetOnClosed(func() { cancel(); s.settings = nil })
	shortcut(w, fyne.KeyW, func() { w.Close() })
	shortcut(w, fyne.KeyQ, s.quit)
	w.CenterOnScreen()
	s.settings = w
	w.Show()
}
