// Package window is the main window: a chat, or a page in its place, with the sidebar beside it.
package window

import (
	"cmp"
	"context"
	"runtime"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/bind"
	"fairlead/app/chatwindow"
	"fairlead/app/feed"
	"fairlead/app/memory"
	"fairlead/app/messages"
	"fairlead/app/native"
	"fairlead/app/preferences"
	"fairlead/app/shortcuts"
	"fairlead/app/sidebar"
	"fairlead/app/welcome"
	"fairlead/app/widgets"
)

// Program is the program around the window.
type Program interface {
	// Save stores drafts, and sizes and places of windows.
	Save()
	Quit()
}

// Options are what the program gives the window.
type Options struct {
	chatwindow.Options // of the windows of chats; Main is the window itself
	Program            Program
	Name               string // of a remote gateway; empty for that of this computer
	Links              []sidebar.Link
	Models             welcome.Models
	Release            func() // releases memory
	// Keys are the keys of the window.
	Keys func(*Window) []shortcuts.Binding
}

// Window is the main window. It belongs to the GUI thread.
type Window struct {
	Chat    *chatwindow.Frame // the chat that is shown, also while a page hides it
	Chats   *chatwindow.Windows
	Sidebar *sidebar.Sidebar
	Pages   *Pages
	Screen  *Screen
	// HasTray hides the window instead of quitting when it is closed: the tray can show it again.
	HasTray bool

	ctx        context.Context
	o          Options
	side       *side
	menuButton *widgets.Button // opens the drawer, in a chat
	layout     *layout
	body       *fyne.Container
	first      *welcome.Page
	isFirstRun bool // the page of the first start is shown, unless another page hides it
}

// New creates the window, which works until ctx ends. It is on the screen after Show.
func New(ctx context.Context, o Options) *Window {
	w := &Window{ctx: ctx, o: o}
	title := "Fairlead"
	if o.Name != "" {
		title = o.Name + " – Fairlead"
	}
	w.o.Main = mainChat{w}
	w.Chats = chatwindow.New(ctx, w.o.Options)
	w.Sidebar = sidebar.New(ctx, o.Env(nil), sidebar.Options{
		Title: cmp.Or(o.Name, "Fairlead"), Links: o.Links, Unread: o.Unread, Chats: w.Chats.Actions, Leave: w.leaveSidebar,
	})
	w.side = newSide(w.Sidebar, w.restoreFocus, w.canvas)
	w.menuButton = widgets.NewIconButton("menu", "Sidebar", w.side.toggle)
	w.Pages = newPages(ctx, w.side, w.canvas, w.changePage)
	targets := &drops{sender: o.Sender, side: w.side, pages: w.Pages}
	w.Chat = w.Chats.NewFrame(native.NewWindow(o.App, title, nil), targets)
	targets.chat = w.Chat.Page.Pane
	w.Chat.IsVisible = func() bool { return w.ShowsChat(w.Chat.Page.Key()) }
	w.Screen = &Screen{
		app: o.App, prefs: o.Prefs, title: title, frame: w.Chat, isVisible: true, releases: memory.NewReleases(o.Release), place: o.Prefs.Get().Place,
		closesHidden: runtime.GOOS != "windows" && runtime.GOOS != "darwin",
	}
	w.first = welcome.New(ctx, o.Env(nil), o.Models, func() {
		w.EndFirstRun()
		w.Chat.FocusComposer()
	})
	w.first.Box.Hide()
	w.Chat.Messages = messages.New(w.Chat.Page.Pane, w.messagePlace, func() { w.body.Refresh() }, w.first.Box, w.Pages.box)
	w.layout = &layout{narrowed: w.arrange, laidOut: w.Chat.Messages.LayOut}
	w.body = container.New(w.layout, w.Chat.Page.Pane, w.first.Box, w.Pages.box, w.side.box, w.side.drawer, w.Chat.Messages.Box, w.Chat.Drops.Mark.Box)
	w.Chat.Bar = o.Bars.New()
	w.fill()
	return w
}

func (w *Window) canvas() fyne.Canvas { return w.Chat.Window.Canvas() }

// messagePlace is what the window shows, for its messages.
func (w *Window) messagePlace() messages.Place {
	if page := w.Pages.Title(); page != "" {
		return messages.Place{Page: page}
	}
	return messages.Place{Chat: w.Chat.Page.Key()}
}

// fill gives the toolkit's window its content and keys.
func (w *Window) fill() {
	w.Screen.fill(chatwindow.BelowBar(w.Chat.Bar, w.body))
	w.Chat.Window.SetCloseIntercept(w.Close)
	shortcuts.Register(w.Chat.Window, w.o.Keys(w))
	w.canvas().SetOnTypedKey(w.typedKey)
}

// keyed is a page with keys of its own, which nothing on it has to be focused for.
type keyed interface{ TypedKey(*fyne.KeyEvent) }

// typedKey handles a key that nothing in the window has taken.
func (w *Window) typedKey(e *fyne.KeyEvent) {
	if p, ok := w.Pages.Page().(keyed); ok {
		p.TypedKey(e)
	}
	switch {
	case e.Name == fyne.KeyF2:
		w.Chats.Actions.Obey(w.Chat, &desktop.CustomShortcut{KeyName: fyne.KeyF2})
	case e.Name != fyne.KeyEscape || dismiss(w.canvas()):
	case w.side.drawer.Visible():
		w.side.toggle()
	case !w.Pages.back():
		w.restoreFocus()
	}
}

// dismiss closes the top overlay, such as a menu, and reports whether there was one.
func dismiss(c fyne.Canvas) bool {
	top := c.Overlays().Top()
	if top == nil {
		return false
	}
	top.Hide()
	c.Overlays().Remove(top)
	return true
}

// Show brings the window to the front.
func (w *Window) Show() {
	w.Screen.show()
	if w.o.Feed.View().Status.Loaded {
		w.UpdateSidebar()
	}
}

// Close hides the window if the program has a tray icon; otherwise it quits the program.
func (w *Window) Close() {
	w.o.Program.Save()
	if !w.HasTray {
		w.o.Program.Quit()
		return
	}
	focused := w.canvas().Focused()
	if w.Screen.hide() {
		w.fill()
		w.Chat.Drops.Accept(w.Chat.Window)
		w.canvas().Focus(focused)
	}
}

// CloseTop closes the top overlay, or else the window.
func (w *Window) CloseTop() {
	if !dismiss(w.canvas()) {
		w.Close()
	}
}

// changePage shows what is open now.
func (w *Window) changePage() {
	w.arrange()
	w.DrawSidebar()
	w.Chat.Messages.Move()
}

// arrange shows a page, the page of the first start or the chat, and the sidebar in its place.
func (w *Window) arrange() {
	w.side.setNarrow(w.layout.isNarrow)
	if w.layout.isNarrow {
		w.Chat.Page.Pane.SetLeading(w.menuButton)
	} else {
		w.Chat.Page.Pane.SetLeading(nil)
	}
	w.Pages.arrange()
	isChat := w.Pages.Page() == nil
	widgets.SetVisible(w.first.Box, isChat && w.isFirstRun)
	widgets.SetVisible(w.Chat.Page.Pane, isChat && !w.isFirstRun)
	w.body.Refresh()
}

// restoreFocus focuses the composer, or clears the focus if a page is shown instead of the chat.
func (w *Window) restoreFocus() {
	if w.Pages.Page() != nil {
		w.canvas().Unfocus()
		return
	}
	w.Chat.FocusComposer()
}

// IsFirstRun reports whether the window shows the page of the first start in place of the chat.
func (w *Window) IsFirstRun() bool { return w.isFirstRun }

// SetFirstRun shows or hides the page of the first start.
func (w *Window) SetFirstRun(on bool) {
	if !on {
		w.o.Prefs.Update(func(r *preferences.Preferences) { r.FirstRunDone = true })
	}
	if w.isFirstRun == on {
		return
	}
	w.isFirstRun = on
	w.arrange()
	w.SearchModels()
}

// SearchModels searches for models of this computer on the page of the first start, if that is shown.
func (w *Window) SearchModels() {
	if w.isFirstRun && w.o.Feed.View().Status.Loaded {
		w.first.Search()
	}
}

// EndFirstRun stores that the page of the first start is done.
func (w *Window) EndFirstRun() {
	if !w.isFirstRun {
		return
	}
	w.SetFirstRun(false)
	bind.Run(w.ctx, func(ctx context.Context) error {
		return feed.EndFirstRun(ctx, w.o.Feed)
	}, func(error) {}) // if this fails, the page is shown once more at the next start
}
