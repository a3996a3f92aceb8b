package app

import (
	"cmp"
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/backend"
	"fairlead/app/bind"
	"fairlead/app/chat"
	"fairlead/app/chatwindow"
	"fairlead/app/host"
	"fairlead/app/memory"
	"fairlead/app/messages"
	"fairlead/app/native"
	"fairlead/app/notifications"
	"fairlead/app/opener"
	"fairlead/app/pick"
	"fairlead/app/preferences"
	"fairlead/app/send"
	"fairlead/app/settings"
	"fairlead/app/shortcuts"
	"fairlead/app/sidebar"
	"fairlead/app/style"
	"fairlead/app/system"
	"fairlead/app/unsaved"
	"fairlead/app/wheel"
	"fairlead/app/widgets"
	"fairlead/app/window"
	"fairlead/gateway/protocol"
)

// ui is the user interface: it builds the windows, the pages and the notifications, and knows all of
// them. It belongs to the GUI thread.
type ui struct {
	ctx      context.Context
	app      fyne.App
	backend  *backend.Backend
	machines style.Machines
	unsaved  unsaved.Store
	drafts   *chat.Drafts
	unread   *sidebar.Unread

	places   places
	main     *window.Window
	pages    *pages
	parts    *parts
	settings *uiSettings
	notes    *notifications.Notifications
	targets  *targets
	tray     trayMenu

	hasFocus bool                           // a window of this program has the focus, as far as the toolkit reports it
	focused  map[fyne.Window]fyne.Focusable // focused object of each window at the last tick
	minute   time.Time                      // minute of the last tick
	wheels   wheel.Windows
	rest     memory.Rest
}

// platform is what the windows need of the system; tests have one of their own.
type platform struct {
	mode        style.Mode // of its colour scheme
	about       settings.About
	showQuietly func(fyne.Window) // opens a window without taking the keyboard focus
	// isInFront reports whether a window of this program has the focus; the toolkit may report so.
	isInFront func(reported bool) bool
}

func newUI(ctx context.Context, a fyne.App, b *backend.Backend, d platform) *ui {
	u := &ui{ctx: ctx, app: a, backend: b, drafts: loadDrafts(b.Prefs), unread: loadUnread(b.Prefs), wheels: wheel.Windows{}}
	last := b.Prefs.Get()
	env := u.env(nil)
	bars := chatwindow.Bars{Name: b.GatewayName(), Env: env}
	u.notes = notifications.New(ctx, b.Feed, frontWindows{pageHost{places: &u.places}, func() bool { return d.isInFront(u.hasFocus) }})
	picker := pick.New(ctx, a, b.Prefs, system.Ask, env.Say)
	sender := send.New(ctx, env, picker, func() fyne.Window { return u.main.Chat.Window }, func() bool { return u.main.Pages.Title() == transfersTitle })
	u.pages = &pages{
		env: env, backend: b, notes: u.notes, about: d.about, pairing: settings.NewPairing(ctx),
		window: func() *window.Window { return u.main },
		keys:   func() host.View { return shortcuts.New(env, keyGroups(), mainKeys(u.main, env, u.Quit)) },
	}
	u.main = window.New(ctx, window.Options{
		Options: chatwindow.Options{App: a, Feed: b.Feed, Prefs: b.Prefs, Drafts: u.drafts, Unread: u.unread, Sender: sender, Env: u.env, Bars: bars, Quit: u.Quit},
		Program: u, Name: b.GatewayName(), Links: u.pages.links(), Models: settings.Models{Feed: b.Feed}, Release: b.ReleaseMemory,
		Keys: func(w *window.Window) []shortcuts.Binding { return mainKeys(w, env, u.Quit) },
	})
	u.places = places{
		window: u.main, nav: &navigator{window: u.main, pages: u.pages.all()}, palette: paletteKey{ctx, env, u.main, u.pages},
		questions: &questions{ctx: ctx, app: a, env: env, bars: bars, showQuietly: d.showQuietly},
		opener:    opener.New(ctx, a, picker, u), picker: picker, sender: sender,
	}
	u.targets = &targets{app: a, showQuietly: d.showQuietly}
	u.settings = &uiSettings{ctx: ctx, app: a, feed: b.Feed, prefs: b.Prefs, own: d.mode, notes: u.notes, window: u.main, hasFirstRun: !b.IsRemote()}
	u.parts = &parts{
		ctx: ctx, feed: b.Feed, machines: &u.machines, window: u.main, questions: u.places.questions, notes: u.notes,
		status: messages.NewStatus(u.main.Chat.Messages, b, b.Feed), settings: u.settings,
	}
	u.tray = trayMenu{host: env, window: u.main, backend: b, quit: u.Quit}
	u.main.SetFirstRun(!last.FirstRunDone && !b.IsRemote()) // the first-run page is for the local gateway only
	u.main.Open(cmp.Or(last.Chat, protocol.MainSession))
	return u
}

// env returns what a page in a window gets; nil is the main window.
func (u *ui) env(w fyne.Window) host.Env {
	return host.Env{
		Host: pageHost{&u.places, u.app, w}, Feed: u.backend.Feed, Chats: u.backend.Chats, Machines: &u.machines, Drafts: &u.unsaved,
		Prefs: u.backend.Prefs,
	}
}

func (u *ui) run() {
	u.parts.watch()
	bind.Watch(u.ctx, u.backend.Gateways.Nodes.Targets.Question, u.targets.show)
	bind.Every(u.ctx, 200*time.Millisecond, u.tick)
	u.main.Chats.Watch()
}

func (u *ui) tick(now time.Time) {
	u.main.Chats.Tick(now)
	// the sidebar shows for how long machines have been offline
	if minute := now.Truncate(time.Minute); minute != u.minute {
		u.minute = minute
		u.main.DrawSidebar()
	}
	u.places.questions.tick(now)
	u.targets.tick(now)
	u.main.Screen.Tick(now)
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
	u.Save()
	native.Quit(u.app)
}

// Save stores drafts, and sizes and places of windows.
func (u *ui) Save() {
	u.saveDrafts()
	u.main.Screen.SavePlace()
}

// saveDrafts stores drafts and the sizes of windows. It also works after the toolkit's loop has ended,
// when the windows must not be asked for anything else: a signal ends it without [ui.Quit].
func (u *ui) saveDrafts() {
	u.main.Chats.Save()
	u.main.Screen.SaveSize()
}

// setFocused records whether a window of this program has the focus.
func (u *ui) setFocused(on bool) {
	u.hasFocus = on
	if on {
		u.notes.WithdrawAll()
	}
}

// openLink obeys a fairlead:// link, if there is one. The windows of another computer take no
// invitation.
func (u *ui) openLink(link string) {
	if _, isPage := settings.ParseLink(link); link != "" && (isPage || !u.backend.IsRemote()) {
		u.env(nil).Open(host.Link(link))
	}
}

// SayIn implements [opener.Windows].
func (u *ui) SayIn(w fyne.Window, text string) { u.main.Chats.At(w).Messages.Show(text) }

// BelowBar implements [opener.Windows].
func (u *ui) BelowBar(content fyne.CanvasObject) fyne.CanvasObject {
	return chatwindow.BelowBar(chatwindow.Bars{Name: u.backend.GatewayName(), Env: u.env(nil)}.New(), content)
}

// loadDrafts returns the drafts that were saved before the last restart.
func loadDrafts(p *preferences.Store) *chat.Drafts {
	saved := preferences.Drafts{Store: p}
	texts, pictures := saved.Load()
	return chat.NewDrafts(saved, texts, pictures)
}

// loadUnread returns which chats have something that the person has not seen.
func loadUnread(p *preferences.Store) *sidebar.Unread {
	return sidebar.NewUnread(p.Get().Seen, func(seen map[protocol.SessionKey]int64) {
		p.Update(func(r *preferences.Preferences) { r.Seen = seen })
	})
}
