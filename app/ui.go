package app

import (
	"cmp"
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/backend"
	"fairlead/app/bind"
	"fairlead/app/chat"
	"fairlead/app/chats"
	"fairlead/app/chatwindow"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/memory"
	"fairlead/app/messages"
	"fairlead/app/native"
	"fairlead/app/notifications"
	"fairlead/app/notify"
	"fairlead/app/opener"
	"fairlead/app/pick"
	"fairlead/app/preferences"
	"fairlead/app/send"
	"fairlead/app/settings"
	"fairlead/app/sidebar"
	"fairlead/app/style"
	"fairlead/app/system"
	"fairlead/app/unsaved"
	"fairlead/app/wheel"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
	"fairlead/tray"
)

// ui is the user interface: windows, tray menu, notifications. It belongs to the GUI thread.
type ui struct {
	ctx      context.Context
	app      fyne.App
	backend  *backend.Backend
	machines style.Machines
	parts    *parts
	unsaved  unsaved.Store
	unread   *sidebar.Unread
	drafts   *chat.Drafts
	wrap     host.Switch // outputs of commands wrap their lines

	main      *window
	nav       *navigator
	messages  *messages.Messages // of the main window
	status    *messages.Status
	chats     *chatwindow.Windows
	questions *questions
	settings  *settingsPage
	notes     *notifications.Notifications
	sender    *send.Sender
	opener    *opener.Opener
	picker    *pick.Picker

	systemMode style.Mode // replaces [style.System]
	hasTray    bool
	hasFocus   bool        // a window of this program has the focus, as far as the toolkit reports it
	isInFront  func() bool // reports whether a window of this program has the focus
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

func newUI(ctx context.Context, a fyne.App, b *backend.Backend) *ui {
	u := &ui{ctx: ctx, app: a, backend: b, systemMode: style.System, drafts: loadDrafts(b.Prefs), showQuietly: fyne.Window.Show, wheels: wheel.Windows{}}
	u.unread = sidebar.NewUnread(b.Prefs.Get().Seen, func(seen map[protocol.SessionKey]int64) {
		b.Prefs.Update(func(r *preferences.Preferences) { r.Seen = seen })
	})
	u.nav, u.questions, u.settings = &navigator{ui: u}, &questions{ui: u}, &settingsPage{ui: u, pairing: settings.NewPairing(ctx)}
	u.notes = notifications.New(ctx, b.Feed, frontWindows{pageHost{ui: u}})
	u.isInFront = func() bool { return u.hasFocus }
	u.parts = &parts{ui: u}
	u.wrap = host.Switch{On: b.Prefs.Get().WrapOutput, Save: func(on bool) {
		b.Prefs.Update(func(r *preferences.Preferences) { r.WrapOutput = on })
	}}
	u.picker = pick.New(ctx, a, pickMemory(b.Prefs), system.Ask, func(text string) { u.messages.Show(text) })
	u.opener = opener.New(ctx, a, u.picker, u)
	u.sender = send.New(ctx, u.env(), u.picker, func() fyne.Window { return u.main.conversation.Window }, func() bool { return u.nav.title == transfersTitle })
	u.chats = chatwindow.New(ctx, chatwindow.Options{
		Main: mainChats{u}, App: a, Feed: b.Feed, Prefs: b.Prefs, Drafts: u.drafts, Unread: u.unread, Sender: u.sender, Env: u.envIn, NewBar: u.newBar, Keys: u.ownKeys,
	})
	u.main = newWindow(u)
	last := b.Prefs.Get()
	u.main.setFirstRun(!last.FirstRunDone && !b.IsRemote()) // the first-run page is for the local gateway only
	u.main.open(cmp.Or(last.Chat, protocol.MainSession))
	return u
}

func (u *ui) run() {
	u.running = true
	u.parts.watch()
	bind.Every(u.ctx, 200*time.Millisecond, u.tick)
	u.chats.Watch()
}

// view returns what is known about the gateway.
func (u *ui) view() feed.View { return u.backend.Feed.View() }

func (u *ui) tick(now time.Time) {
	u.chats.Tick(now)
	// the sidebar shows for how long machines have been offline
	if minute := now.Truncate(time.Minute); minute != u.minute {
		u.minute = minute
		u.main.drawSidebar()
	}
	if u.questions.dialog != nil {
		u.questions.dialog.Tick(now)
	}
	u.main.releases.Tick(now)
	u.rest.Tick(now, memory.ProcessorTime, u.backend.ReleaseMemory)
	u.notes.Tick(now)
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

// Quit saves what is open and ends the program.
func (u *ui) Quit() {
	u.save()
	native.Quit(u.app)
}

// save stores drafts, and sizes and places of windows.
func (u *ui) save() {
	u.saveDrafts()
	if place, exists := native.PlaceOf(u.main.conversation.Window); exists && u.main.visible {
		u.backend.Prefs.Update(func(r *preferences.Preferences) { r.Place = place })
	}
}

// saveDrafts stores drafts and the sizes of windows. It also works after the toolkit's loop has ended,
// when the windows must not be asked for anything else: a signal ends it without [ui.Quit].
func (u *ui) saveDrafts() {
	u.chats.Save()
	if size := u.main.conversation.Window.Canvas().Size(); u.main.visible && size.Width > 100 {
		u.backend.Prefs.Update(func(r *preferences.Preferences) { r.Width, r.Height = size.Width, size.Height })
	}
}

func (u *ui) setTheme(mode style.Mode, scale float32) {
	last := u.backend.Prefs.Get()
	u.backend.Prefs.Update(func(r *preferences.Preferences) { r.Theme, r.TextSize = string(mode), scale })
	if cmp.Or(last.Theme, string(style.System)) != string(mode) || cmp.Or(last.TextSize, style.TextNormal) != scale {
		applyTheme(u.app, mode, u.systemMode, scale)
	}
}

func (u *ui) runTrayItem(i tray.Item) {
	switch i.Do {
	case tray.ActionOpen:
		u.main.show()
	case tray.ActionNew:
		u.main.show()
		u.chats.Create()
	case tray.ActionChat:
		u.main.show()
		u.main.open(i.Key)
	case tray.ActionReview:
		u.questions.review(i.Question)
	case tray.ActionNeeds:
		u.main.show()
		u.questions.openPage()
	case tray.ActionMode:
		u.backend.Chats.SetMode(i.Key, chats.ModeChoices[i.Mode])
	case tray.ActionPause:
		u.backend.Feed.Pause(!u.view().Status.Paused)
	case tray.ActionTransfers:
		u.main.show()
		u.nav.openTitled(transfersTitle)
	case tray.ActionMachine:
		u.main.show()
		u.nav.openAt(machinesTitle, host.Machine(i.Node))
	case tray.ActionGateway:
		if err := u.backend.Gateways.Open(i.Gateway); err != nil {
			u.main.show()
			u.messages.Show("The window could not be opened: " + err.Error())
		}
	case tray.ActionSettings:
		u.settings.open()
	case tray.ActionQuit:
		u.Quit()
	}
}

// setFocused records whether a window of this program has the focus.
func (u *ui) setFocused(on bool) {
	u.hasFocus = on
	if on {
		u.notes.WithdrawAll()
	}
}

// loadUI loads theme, text size, first run and notifications; only the first response shows the
// first-run page.
func (u *ui) loadUI() {
	u.themeRequest++
	turn := u.themeRequest
	bind.Go(u.ctx, func(ctx context.Context) (settings.UI, error) { return settings.ReadUI(ctx, u.backend.Feed) }, func(ui settings.UI, err error) {
		if err != nil || turn != u.themeRequest { // responses may arrive out of order
			return
		}
		u.setTheme(style.Mode(ui.Theme), ui.TextSize)
		if ui.FirstRunDone || !u.isUILoaded {
			u.main.setFirstRun(!ui.FirstRunDone && !u.backend.IsRemote())
		}
		u.isUILoaded = true
	})
	bind.Go(u.ctx, func(ctx context.Context) (notify.Settings, error) {
		return feed.ConfigAt[notify.Settings](ctx, u.backend.Feed, "notifications")
	}, func(s notify.Settings, err error) {
		if err == nil && turn == u.themeRequest { // an older gateway has none
			u.notes.Settings = s
		}
	})
}

// loadDrafts returns the drafts that were saved before the last restart.
func loadDrafts(p *preferences.Store) *chat.Drafts {
	saved := preferences.Drafts{Store: p}
	texts, pictures := saved.Load()
	return chat.NewDrafts(saved, texts, pictures)
}

// SayIn shows a message in a window.
func (u *ui) SayIn(w fyne.Window, text string) { u.chats.At(w).Messages.Show(text) }

// BelowBar returns the content of a new window, below the bar of another computer.
func (u *ui) BelowBar(content fyne.CanvasObject) fyne.CanvasObject {
	return belowBar(u.newBar(), content)
}
