package app

import (
	"cmp"
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/chat"
	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/memory"
	"fairlead/app/native"
	"fairlead/app/notify"
	"fairlead/app/pick"
	"fairlead/app/send"
	"fairlead/app/settings"
	"fairlead/app/sidebar"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/system"
	"fairlead/app/wheel"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// ui is the user interface: windows, tray menu, notifications. It belongs to the GUI thread.
type ui struct {
	ctx      context.Context
	app      fyne.App
	backend  *backend
	machines style.Machines
	parts    *parts
	unread   *sidebar.Unread
	drafts   *chat.Drafts
	wrap     host.Switch // outputs of commands wrap their lines

	main      *window
	nav       *navigator
	messages  *messages
	chats     *chatWindows
	questions *questions
	settings  *settingsPage
	notes     *notifications
	sender    *send.Sender
	opener    *opener
	picker    *pick.Picker

	systemMode style.Mode // replaces [style.System]
	hasTray    bool
	hasFocus   bool // a window of this program has the focus, as far as the toolkit reports it
	// showQuietly opens a window without taking the keyboard focus.
	showQuietly  func(fyne.Window)
	running      bool                           // set while the gateway's values are watched
	themeRequest int                            // number of the latest request for theme and text size
	isUILoaded   bool                           // a request was answered
	focused      map[fyne.Window]fyne.Focusable // focused object of each window at the last tick
	minute       time.Time                      // minute of the last tick
	wheels       wheel.Windows
	rest         memory.Rest
}

func newUI(ctx context.Context, a fyne.App, b *backend) *ui {
	u := &ui{ctx: ctx, app: a, backend: b, systemMode: style.System, drafts: loadDrafts(b), showQuietly: fyne.Window.Show, wheels: wheel.Windows{}}
	u.unread = sidebar.NewUnread(b.prefs.get().Seen, func(seen map[protocol.SessionKey]int64) {
		b.prefs.update(func(r *preferences) { r.Seen = seen })
	})
	u.chats = &chatWindows{ui: u, windows: make(map[protocol.SessionKey]*chatFrame)}
	u.nav, u.questions, u.settings = &navigator{ui: u}, &questions{ui: u}, &settingsPage{ui: u}
	u.notes, u.opener = newNotifications(u), &opener{u}
	u.messages, u.parts = newMessages(u), &parts{ui: u}
	u.wrap = host.Switch{On: b.prefs.get().WrapOutput, Save: func(on bool) {
		b.prefs.update(func(r *preferences) { r.WrapOutput = on })
	}}
	u.picker = pick.New(ctx, a, pickMemory(b.prefs), system.Ask, u.messages.show)
	u.sender = send.New(ctx, u.env(), u.picker, func() fyne.Window { return u.main.conversation.window }, func() bool { return u.nav.title == transfersTitle })
	u.main = newWindow(u)
	last := b.prefs.get()
	u.main.setFirstRun(!last.FirstRunDone && b.flags.join == "") // the first-run page is for the local gateway only
	u.main.open(cmp.Or(last.Chat, protocol.MainSession))
	return u
}

func (u *ui) run() {
	u.running = true
	u.parts.watch()
	bind.Every(u.ctx, 200*time.Millisecond, u.tick)
	u.main.conversation.page.Watch()
}

// view returns what is known about the gateway.
func (u *ui) view() feed.View { return u.backend.state.View() }

// request runs work off the GUI thread, then done on it; w shows an error after the text failed.
func request[R any](u *ui, w fyne.Window, failed string, work func(context.Context) (R, error), done func(R)) {
	bind.Go(u.ctx, work, func(r R, err error) {
		if err != nil {
			u.messages.showIn(w, failed+err.Error())
			return
		}
		done(r)
	})
}

func (u *ui) tick(now time.Time) {
	u.main.conversation.tick(now)
	for _, c := range u.chats.windows {
		c.tick(now)
	}
	was, undos := u.messages.toast.Visible(), u.messages.removeExpiredUndos(now)
	u.messages.toast.Tick(now)
	switch {
	case was != u.messages.toast.Visible():
		u.main.body.Refresh()
	case was || undos || u.messages.banner.Visible():
		u.messages.layout() // the areas to keep free may have moved
	}
	// the sidebar shows for how long machines have been offline
	if minute := now.Truncate(time.Minute); minute != u.minute {
		u.minute = minute
		u.main.drawSidebar()
	}
	if u.questions.dialog != nil {
		u.questions.dialog.Tick(now)
	}
	u.main.releases.Tick(now)
	u.rest.Tick(now, memory.ProcessorTime, u.backend.releaseMemory)
	u.notes.tick(now)
	u.revealFocused()
	u.wheels.Update(u.app.Driver().AllWindows())
}

// revealFocused scrolls the focused object of every window into view when the focus moved.
func (u *ui) revealFocused() {
	has := make(map[fyne.Window]fyne.Focusable, len(u.focused))
	for _, w := range u.app.Driver().AllWindows() {
		f := w.Canvas().Focused()
		has[w] = f
		if o, ok := f.(fyne.CanvasObject); ok && f != u.focused[w] {
			widgets.ScrollIntoView(o)
		}
	}
	u.focused = has
}

func (u *ui) quit() {
	u.save()
	native.Quit(u.app)
}

// save stores drafts, and sizes and places of windows.
func (u *ui) save() {
	u.saveDrafts()
	if place, exists := native.PlaceOf(u.main.conversation.window); exists && u.main.visible {
		u.backend.prefs.update(func(r *preferences) { r.Place = place })
	}
}

// saveDrafts stores drafts and the sizes of windows. It also works after the toolkit's loop has ended,
// when the windows must not be asked for anything else: a signal ends it without [ui.quit].
func (u *ui) saveDrafts() {
	u.main.conversation.page.SaveDraft()
	for _, c := range u.chats.windows {
		c.page.SaveDraft()
		c.saveSize()
	}
	if size := u.main.conversation.window.Canvas().Size(); u.main.visible && size.Width > 100 {
		u.backend.prefs.update(func(r *preferences) { r.Width, r.Height = size.Width, size.Height })
	}
}

func (u *ui) setTheme(mode style.Mode, scale float32) {
	last := u.backend.prefs.get()
	u.backend.prefs.update(func(r *preferences) { r.Theme, r.TextSize = string(mode), scale })
	if cmp.Or(last.Theme, string(style.System)) != string(mode) || cmp.Or(last.TextSize, style.TextNormal) != scale {
		applyTheme(u.app, mode, u.systemMode, scale)
	}
}

func (u *ui) runTrayItem(i state.TrayItem) {
	switch i.Do {
	case state.TrayOpen:
		u.main.show()
	case state.TrayNew:
		u.main.show()
		u.chats.Create()
	case state.TrayChat:
		u.main.show()
		u.main.open(i.Key)
	case state.TrayReview:
		u.questions.review(i.Question)
	case state.TrayNeeds:
		u.main.show()
		u.questions.openPage()
	case state.TrayMode:
		u.backend.state.Chats.SetMode(i.Key, chats.ModeChoices[i.Mode])
	case state.TrayPause:
		u.backend.state.Pause(!u.view().Status.Paused)
	case state.TrayTransfers:
		u.main.show()
		u.nav.openTitled(transfersTitle)
	case state.TrayMachine:
		u.main.show()
		u.nav.openMachine(i.Node)
	case state.TrayGateway:
		if err := u.backend.remote.Open(i.Gateway); err != nil {
			u.main.show()
			u.messages.show("The window could not be opened: " + err.Error())
		}
	case state.TraySettings:
		u.settings.open()
	case state.TrayQuit:
		u.quit()
	}
}

// setFocused records whether a window of this program has the focus.
func (u *ui) setFocused(on bool) {
	u.hasFocus = on
	if on {
		u.notes.withdrawAll()
	}
}

// loadUI loads theme, text size, first run and notifications; only the first response shows the
// first-run page.
func (u *ui) loadUI() {
	u.themeRequest++
	turn := u.themeRequest
	bind.Go(u.ctx, func(ctx context.Context) (settings.UI, error) { return settings.ReadUI(ctx, u.backend.state) }, func(ui settings.UI, err error) {
		if err != nil || turn != u.themeRequest { // responses may arrive out of order
			return
		}
		u.setTheme(style.Mode(ui.Theme), ui.TextSize)
		if ui.FirstRunDone || !u.isUILoaded {
			u.main.setFirstRun(!ui.FirstRunDone && u.backend.flags.join == "")
		}
		u.isUILoaded = true
	})
	bind.Go(u.ctx, func(ctx context.Context) (notify.Settings, error) {
		return feed.ConfigAt[notify.Settings](ctx, u.backend.state, "notifications")
	}, func(s notify.Settings, err error) {
		if err == nil && turn == u.themeRequest { // an older gateway has none
			u.notes.settings = s
		}
	})
}
