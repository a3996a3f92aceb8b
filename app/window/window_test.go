package window

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/chat"
	"fairlead/app/chatwindow"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/memory"
	"fairlead/app/native"
	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/send"
	"fairlead/app/shortcuts"
	"fairlead/app/sidebar"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// testHost is a program that opens chats in its window, and records what else is asked of it.
type testHost struct {
	pagetest.Host
	window *Window
}

// Open implements [host.Host].
func (h *testHost) Open(to host.Target) {
	if c, ok := to.(host.Chat); ok {
		h.window.Open(c.Key)
		return
	}
	h.Host.Open(to)
}

// Save implements [Program].
func (h *testHost) Save() { h.window.Screen.SaveSize() }

// Quit implements [Program].
func (h *testHost) Quit() { h.Did = append(h.Did, "quit") }

// newTestWindow creates the window of a gateway with two chats.
func newTestWindow(t *testing.T) *Window {
	t.Helper()
	ctx, app := pagetest.Start(t, style.Light)
	h := &testHost{}
	prefs := preferences.Open(t.TempDir(), slog.New(slog.DiscardHandler))
	t.Cleanup(prefs.Close)
	machines := &style.Machines{}
	env := func(fyne.Window) host.Env {
		return host.Env{Host: h, Feed: app.Feed, Chats: app.Chats, Machines: machines, Drafts: &unsaved.Store{}, Prefs: prefs}
	}
	app.Feed.Update(func(v *feed.View) {
		v.Status.Loaded = true
		v.Sessions.List = []protocol.SessionEntry{{SessionKey: protocol.MainSession, Title: "Refactor the parser"}, {SessionKey: "agent:main:2", Title: "Photos on the NAS"}}
		v.Machines = []protocol.NodeInfo{{ID: "laptop", Online: true, Local: true}, {ID: "nas", LastSeenAt: time.Now().AddDate(0, 0, -1).UnixMilli()}}
	}, app.Feed.All()...)
	window := func() fyne.Window { return h.window.Chat.Window }
	h.window = New(ctx, Options{
		Options: chatwindow.Options{
			App: fyne.CurrentApp(), Feed: app.Feed, Prefs: prefs, Drafts: chat.NewDrafts(preferences.Drafts{Store: prefs}, nil, nil), Unread: sidebar.NewUnread(nil, func(map[protocol.SessionKey]int64) {}),
			Sender: send.New(ctx, env(nil), nil, window, func() bool { return false }), Env: env, Bars: chatwindow.Bars{Env: env(nil)},
		},
		Program: h, Release: func() {}, Links: []sidebar.Link{{Icon: "folder", Title: "Files"}, {Icon: "transfer", Title: "Transfers"}, {Icon: "calendar", Title: "Schedule"}, {Icon: "activity", Title: "Activity"}, {Icon: "settings", Title: "Settings"}},
		Keys: func(*Window) []shortcuts.Binding { return nil },
	})
	t.Cleanup(func() { window().Close() }) // the present one
	h.window.Open(protocol.MainSession)
	return h.window
}

// testView is a page with one object.
type testView struct {
	content fyne.CanvasObject
	back    func() bool
}

func (v testView) Content() fyne.CanvasObject { return v.content }
func (v testView) Back() bool                 { return v.back() }

// openView opens a page in a window.
func openView(w *Window, content fyne.CanvasObject, back func() bool) {
	w.Pages.Open(host.Entry{Title: "A page", New: func(context.Context) host.View { return testView{content, back} }}, nil)
}

// pressEscape presses Escape; a field passes it to the window.
func pressEscape(w *Window) { w.canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape}) }

func TestNarrowWindowHasADrawer(t *testing.T) {
	w := newTestWindow(t)
	w.Chat.Window.Resize(fyne.NewSize(560, 700))
	if w.side.box.Visible() || w.side.drawer.Visible() {
		t.Error("the sidebar stands in a narrow window")
	}
	test.Tap(w.menuButton)
	if !w.side.drawer.Visible() {
		t.Error("the menu button does not open the drawer")
	}
	pagetest.Shot(t, w.Chat.Window, "shell-drawer")
	w.Sidebar.Choose("agent:main:2")
	if w.side.drawer.Visible() || w.Chat.Page.Key() != "agent:main:2" {
		t.Errorf(`after choosing a chat: drawer %v, chat %s; want false and "agent:main:2"`, w.side.drawer.Visible(), w.Chat.Page.Key())
	}
	w.Chat.Window.Resize(fyne.NewSize(1120, 760))
	if !w.side.box.Visible() {
		t.Error("the sidebar does not come back")
	}
}

func TestSearchInTheDrawerTakesTheKeyboard(t *testing.T) {
	w := newTestWindow(t)
	w.Chat.Window.Resize(fyne.NewSize(500, 700))
	w.FocusSearch()
	if !w.side.drawer.Visible() || w.Chat.Window.Canvas().Focused() != fyne.Focusable(w.Sidebar.Search) {
		t.Errorf("the drawer is shown: %t, the keyboard goes to %T; want true and %T", w.side.drawer.Visible(), w.Chat.Window.Canvas().Focused(), fyne.Focusable(w.Sidebar.Search))
	}
}

func TestClosingHidesTheWindowOnlyWithATray(t *testing.T) {
	w := newTestWindow(t)
	w.HasTray = true
	w.Close()
	if w.Screen.isVisible {
		t.Error("the window is not hidden")
	}
	w.Show()
	if !w.Screen.isVisible {
		t.Error("the tray does not show it again")
	}
}

func TestHiddenWindowReturnsWithItsContent(t *testing.T) {
	w := newTestWindow(t)
	w.Screen.closesHidden = true // as on Linux
	w.HasTray = true
	w.Chat.Page.Pane.SetDraft("half a thought")
	w.Chat.FocusComposer()
	w.Chat.Window.Resize(fyne.NewSize(900, 700))
	before := w.Chat.Window
	w.Close()
	w.Show()
	if w.Chat.Window == before {
		t.Fatal("the hidden window still exists")
	}
	if got := w.Chat.Window.Canvas().Size(); got.Width != 900 || got.Height != 700 {
		t.Errorf("the size is %v, want 900 × 700", got)
	}
	if got := w.Chat.Page.Pane.Draft(); got != "half a thought" {
		t.Errorf(`the draft is %q, want "half a thought"`, got)
	}
	test.Type(w.Chat.Window.Canvas().Focused(), " more")
	if got := w.Chat.Page.Pane.Draft(); !strings.Contains(got, " more") {
		t.Errorf("typing does not reach the composer: %q", got)
	}
}

func TestMemoryIsReleasedWhileTheWindowIsHidden(t *testing.T) {
	w := newTestWindow(t)
	w.HasTray = true
	released := 0
	w.Screen.releases = memory.NewReleases(func() { released++ })
	w.Close()
	now := time.Now()
	w.Screen.Tick(now)
	w.Screen.Tick(now.Add(2 * native.RendererAge))
	if released != 2 {
		t.Errorf("memory was released %d times, want 2", released)
	}
	w.Show()
	w.Close()
	w.Show()
	w.Screen.Tick(now.Add(4 * native.RendererAge))
	if released != 2 {
		t.Errorf("memory was released %d times while the window is visible, want 0", released-2)
	}
}

func TestWindowWithAnOpenDialogIsOnlyHidden(t *testing.T) {
	w := newTestWindow(t)
	w.Screen.closesHidden = true
	w.HasTray = true
	dialog := canvas.NewRectangle(nil)
	w.Chat.Window.Canvas().Overlays().Add(dialog)
	w.Close()
	w.Show()
	if w.Chat.Window.Canvas().Overlays().Top() != dialog {
		t.Error("the dialog is lost")
	}
}

func TestAnOverlayIsClosedByKey(t *testing.T) {
	w := newTestWindow(t)
	c := w.Chat.Window.Canvas()
	w.HasTray = true
	for name, press := range map[string]func(){
		"Escape": func() { c.OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape}) },
		"Ctrl+W": w.CloseTop,
	} {
		t.Run(name, func(t *testing.T) {
			widget.ShowPopUp(widget.NewLabel("a popup"), c)
			if c.Overlays().Top() == nil {
				t.Fatal("no overlay")
			}
			press()
			if c.Overlays().Top() != nil || !w.Screen.isVisible {
				t.Errorf("%s: the overlay is open: %v, the window is shown: %v; want false and true", name, c.Overlays().Top() != nil, w.Screen.isVisible)
			}
		})
	}
}

func TestEscapeClosesAPopupBeforeItLeavesTheForm(t *testing.T) {
	w := newTestWindow(t)
	left := false
	openView(w, widgets.NewEntry(), func() bool { left = true; return true })
	c := w.Chat.Window.Canvas()
	widget.ShowPopUp(widget.NewLabel("a popup"), c)
	if pressEscape(w); c.Overlays().Top() != nil || left {
		t.Errorf("First Escape: the popup is open: %v, the form was left: %v", c.Overlays().Top() != nil, left)
	}
	if pressEscape(w); !left {
		t.Error("the second Escape does not leave the form")
	}
}

func TestEscapeClosesTheDrawerOverAFieldThatHadTheKeyboard(t *testing.T) {
	w := newTestWindow(t)
	w.Chat.Window.Resize(fyne.NewSize(520, 600))
	w.Chat.FocusComposer()
	w.side.toggle()
	if f := w.Chat.Window.Canvas().Focused(); f != fyne.Focusable(w.Sidebar.Search) {
		t.Errorf("%T under the drawer has the keyboard, want %T", f, fyne.Focusable(w.Sidebar.Search))
	}
	w.Sidebar.Search.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if w.side.drawer.Visible() || w.Chat.Window.Canvas().Focused() != fyne.Focusable(w.Chat.Page.Pane.Composer()) {
		t.Errorf("the drawer is open: %v, the keyboard is with %T; want false and %T", w.side.drawer.Visible(), w.Chat.Window.Canvas().Focused(), fyne.Focusable(w.Chat.Page.Pane.Composer()))
	}
}

func TestEscapeOnAPageNeverTypesIntoTheChatBehindIt(t *testing.T) {
	w := newTestWindow(t)
	left := 0
	openView(w, widget.NewLabel("one thing"), func() bool { left++; return left == 1 })
	for range 2 {
		w.Chat.Window.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape})
		if w.Chat.Window.Canvas().Focused() == fyne.Focusable(w.Chat.Page.Pane.Composer()) {
			t.Error("the composer has the keyboard, and nobody sees it")
		}
	}
	if left != 2 {
		t.Errorf("the page was asked %d times, want 2", left)
	}
}
