package app

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/bind"
	"fairlead/app/chatwindow"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/memory"
	"fairlead/app/messages"
	"fairlead/app/native"
	"fairlead/app/preferences"
	"fairlead/app/settings"
	"fairlead/app/shortcuts"
	"fairlead/app/sidebar"
	"fairlead/app/welcome"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// window is the main window: a chat or a page, with the sidebar beside it.
type window struct {
	ui           *ui
	conversation *chatwindow.Frame // the chat that is shown

	sidebar *sidebar.Sidebar
	side    *fyne.Container // the sidebar's place beside the chat
	drawer  *fyne.Container // holds the sidebar over the chat in a narrow window
	// beforeDrawer had the focus when the drawer was opened; nil for none.
	beforeDrawer fyne.Focusable
	menuButton   *widgets.Button // opens the drawer
	body         *fyne.Container
	first        *welcome.Page
	firstRun     bool // the first-run page is shown
	narrow       bool // the sidebar is in the drawer
	visible      bool
	releases     memory.Releases // while it is hidden
	closesHidden bool            // see hide; not where the place of the new window cannot be set
	place        native.Place    // of the window that was closed
	bar          *widgets.Rect   // of another computer; nil for the own one
}

func newWindow(u *ui) *window {
	w := &window{ui: u, visible: true, releases: memory.NewReleases(u.backend.ReleaseMemory), place: u.backend.Prefs.Get().Place, closesHidden: runtime.GOOS != "windows" && runtime.GOOS != "darwin"}
	u.main = w
	w.conversation = u.chats.NewFrame(native.NewWindow(u.app, u.mainTitle(), nil), dropTargets{w})
	w.conversation.IsVisible = func() bool { return w.showsChat(w.conversation.Page.Key()) }
	w.sidebar = sidebar.New(u.ctx, u.env(), sidebar.Options{
		Title: cmp.Or(u.backend.GatewayName(), "Fairlead"), Links: u.links(), Unread: u.unread, Chats: u.chats, Leave: w.leaveSidebar,
	})
	w.side = container.NewStack(w.sidebar.Content)
	w.menuButton = widgets.NewIconButton("menu", "Sidebar", w.toggleDrawer)
	w.drawer = container.NewStack()
	w.drawer.Hide()
	w.first = welcome.New(u.ctx, u.env(), settings.Models{Feed: u.backend.Feed}, welcomeWindow{w})
	w.first.Box.Hide()
	u.nav.box = container.NewStack()
	u.nav.box.Hide()
	u.messages = messages.New(w.conversation.Page.Pane, w.messagePlace, func() { w.body.Refresh() }, w.first.Box, u.nav.box)
	w.conversation.Messages, u.status = u.messages, messages.NewStatus(u.messages, u.backend, u.backend.Feed)
	w.body = container.New(&windowLayout{w}, w.conversation.Page.Pane, w.first.Box, u.nav.box, w.side, w.drawer, u.messages.Box, w.conversation.Drops.Mark.Box)
	w.fill()
	return w
}

// messagePlace is what the window shows, for its messages.
func (w *window) messagePlace() messages.Place {
	if page := w.ui.nav.title; page != "" {
		return messages.Place{Page: page}
	}
	return messages.Place{Chat: w.conversation.Page.Key()}
}

func (u *ui) mainTitle() string {
	if name := u.backend.GatewayName(); name != "" {
		return name + " – Fairlead"
	}
	return "Fairlead"
}

// content returns the body, with a bar in the colour of the computer that the window controls, if
// that is another one.
func (w *window) content() fyne.CanvasObject {
	if w.bar == nil {
		w.bar = w.ui.newBar()
	}
	return belowBar(w.bar, w.body)
}

const barHeight = 4

// newBar returns a bar in the colour of the computer that the windows control; nil for the own one.
func (u *ui) newBar() *widgets.Rect {
	name := u.backend.GatewayName()
	if name == "" {
		return nil
	}
	if local, ok := u.view().Machines.Local(); ok {
		name = string(local.ID)
	}
	bar := widgets.NewRect(u.machines.Color(name), "", 0)
	bar.SetMinSize(fyne.NewSize(0, barHeight))
	return bar
}

// belowBar returns a window's content below its bar, which may be nil.
func belowBar(bar *widgets.Rect, content fyne.CanvasObject) fyne.CanvasObject {
	if bar == nil {
		return content
	}
	return widgets.Border(bar, nil, nil, nil, content)
}

// fill gives the toolkit's window its content, size and keys.
func (w *window) fill() {
	w.conversation.Window.SetContent(w.content()) // the toolkit draws the background
	last := w.ui.backend.Prefs.Get()
	w.conversation.Window.Resize(last.Size(defaultSize))
	w.conversation.Window.SetPadded(false)
	if !w.place.Request(w.conversation.Window) {
		w.place.IsKnown = false
		w.conversation.Window.CenterOnScreen()
	}
	w.conversation.Window.SetCloseIntercept(w.close)
	if !w.closesHidden {
		w.conversation.Window.SetMaster() // gets the focus when a dialog closes; the program ends with it
	}
	w.addShortcuts()
}

// hide hides the window. On Linux, it closes the toolkit's window, and another one is shown the next
// time: a window that exists holds the memory of the graphics driver, 20 MB or more.
func (w *window) hide() {
	w.visible = false
	w.releases.Start(time.Now())
	old := w.conversation.Window
	if !w.closesHidden || old.Canvas().Overlays().Top() != nil {
		w.place = native.Place{}
		old.Hide()
		return
	}
	focused := old.Canvas().Focused()
	old.Canvas().Unfocus()
	w.place, _ = native.PlaceOf(old)
	w.conversation.Window = native.NewWindow(w.ui.app, w.ui.mainTitle(), nil) // before the other is closed: the toolkit ends without windows
	old.SetCloseIntercept(nil)
	old.Close()
	w.fill()
	w.conversation.Drops.Accept(w.conversation.Window)
	w.conversation.Window.Canvas().Focus(focused)
}

func (w *window) open(key protocol.SessionKey) {
	w.ui.nav.close()
	if key != "" && key != w.conversation.Page.Key() {
		w.switchTo(key)
	}
	w.updateSidebar() // also for the chat that was hidden by a page
	if key != "" {
		w.conversation.FocusComposer()
	}
}

// switchTo shows another chat, now and after the next start.
func (w *window) switchTo(key protocol.SessionKey) {
	if key.Schedule() == "" { // the next start opens a chat of the person
		w.ui.backend.Prefs.Update(func(r *preferences.Preferences) { r.Chat = key })
	}
	w.conversation.Page.Load(key)
	w.ui.messages.Move()
}

// mainChat is the chat that opens by default.
func (w *window) mainChat() protocol.SessionKey {
	return cmp.Or(w.ui.view().Status.MainSession, protocol.MainSession)
}

// defaultSize is the size of the main window at the first start.
var defaultSize = fyne.NewSize(1120, 760)

// show brings the window to the front.
func (w *window) show() {
	wasHidden := !w.visible
	w.visible = true
	w.releases.Cancel()
	w.conversation.Window.Show()
	if wasHidden {
		w.place.Restore(w.conversation.Window)
	}
	w.conversation.Window.RequestFocus()
	if w.ui.view().Status.Loaded {
		w.updateSidebar()
	}
}

// updateSidebar shows the present view in the sidebar; visible chats become read.
func (w *window) updateSidebar() {
	w.ui.unread.Update(w.ui.view(), w.showsChat)
	w.drawSidebar()
}

// drawSidebar shows in the sidebar what there is, and what the window shows.
func (w *window) drawSidebar() {
	at := sidebar.Place{Chat: w.conversation.Page.Key(), Page: w.ui.nav.title}
	if id, ok := w.ui.nav.at.(host.Machine); ok {
		at.Machine = protocol.NodeID(id)
	}
	w.sidebar.Show(at)
}

// leaveSidebar closes the drawer, or moves the keyboard to what the window shows.
func (w *window) leaveSidebar() {
	if w.drawer.Visible() {
		w.toggleDrawer()
		return
	}
	w.restoreFocus()
}

// machineAt returns the machine whose row of the sidebar is at a position of the window, and the row.
func (w *window) machineAt(at fyne.Position) (protocol.NodeID, fyne.CanvasObject, bool) {
	if w.narrow && !w.drawer.Visible() {
		return "", nil, false // the rows are not visible
	}
	return w.sidebar.MachineAt(at)
}

// close hides the window if the program has a tray icon; otherwise it quits the program.
func (w *window) close() {
	w.ui.save()
	if w.ui.hasTray {
		w.hide()
		return
	}
	w.ui.Quit()
}

func (w *window) showsChat(key protocol.SessionKey) bool {
	return w.ui.chats.Own[key] != nil || w.visible && w.conversation.Page.Key() == key && w.ui.nav.title == "" && !w.firstRun
}

func (w *window) addShortcuts() {
	shortcuts.Register(w.conversation.Window, w.bindings())
	w.conversation.Window.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyF3 && w.ui.nav.files != nil {
			w.ui.nav.files.Toggle()
		}
		if e.Name == fyne.KeyF2 {
			w.ui.chats.Obey(w.conversation, &desktop.CustomShortcut{KeyName: fyne.KeyF2})
		}
		if e.Name == fyne.KeyEscape && !dismiss(w.conversation.Window.Canvas()) {
			if w.drawer.Visible() {
				w.toggleDrawer()
				return
			}
			if w.ui.nav.back == nil || !w.ui.nav.back() {
				w.restoreFocus()
			}
		}
	})
}

// closeByKey closes the top overlay, or else the window.
func (w *window) closeByKey() {
	if !dismiss(w.conversation.Window.Canvas()) {
		w.close()
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

// restoreFocus focuses the composer, or clears the focus if a page is shown instead of the chat.
func (w *window) restoreFocus() {
	if w.ui.nav.title != "" {
		w.conversation.Window.Canvas().Unfocus()
		return
	}
	w.conversation.FocusComposer()
}

func (w *window) focusSearch() {
	if w.narrow && !w.drawer.Visible() {
		w.toggleDrawer()
	}
	w.conversation.Window.Canvas().Focus(w.sidebar.Search)
}

// findInChat searches in the chat that is shown, or in all chats if a page is shown instead.
func (w *window) findInChat() {
	if w.ui.nav.title != "" || w.firstRun {
		w.ui.nav.search(w.sidebar.Search.Text)
		return
	}
	w.conversation.Page.Pane.Find()
}

// welcomeWindow is the main window as the page of the first start sees it.
type welcomeWindow struct{ w *window }

// Begin implements [welcome.Window].
func (x welcomeWindow) Begin() {
	x.w.endFirstRun()
	x.w.conversation.FocusComposer()
}

// Join implements [welcome.Window].
func (x welcomeWindow) Join(asMachine bool) { x.w.ui.settings.openJoin(asMachine) }

// Canvas implements [welcome.Window].
func (x welcomeWindow) Canvas() fyne.Canvas { return x.w.conversation.Window.Canvas() }

func (w *window) setFirstRun(on bool) {
	if !on {
		w.ui.backend.Prefs.Update(func(r *preferences.Preferences) { r.FirstRunDone = true })
	}
	if w.firstRun == on {
		return
	}
	w.firstRun = on
	w.arrange()
	if on && w.ui.view().Status.Loaded {
		w.first.Search()
	}
}

// endFirstRun stores that the first-run page is done.
func (w *window) endFirstRun() {
	if !w.firstRun {
		return
	}
	w.setFirstRun(false)
	bind.Run(w.ui.ctx, func(ctx context.Context) error {
		return feed.Set(ctx, w.ui.backend.Feed, "ui.firstRunDone", true)
	}, func(error) {}) // if this fails, the page is shown once more at the next start
}
