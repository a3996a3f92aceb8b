package app

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"fairlead/app/backend"
	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/machine"
	"fairlead/app/memory"
	"fairlead/app/native"
	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
	"fairlead/tray"
)

// newTestBackend creates a backend with its own folders and without a listener; join is the URL of
// a remote gateway or empty.
func newTestBackend(t testing.TB, join string) *backend.Backend {
	t.Helper()
	home := t.TempDir()
	t.Setenv("FAIRLEAD_HOME", home)
	t.Setenv("FAIRLEAD_SECRETS", "file")
	b := backend.New(backend.Options{Home: home, Join: join, Listen: "none", Workspace: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(b.Prefs.Close)
	return b
}

// newTestUI creates the main window without a gateway: the test sets its views.
func newTestUI(t *testing.T) *ui {
	t.Helper()
	return newUIOf(t, "")
}

// newRemoteUI is newTestUI for the windows of another computer.
func newRemoteUI(t *testing.T) *ui {
	t.Helper()
	return newUIOf(t, "ws://nas/ws")
}

func newUIOf(t *testing.T, join string) *ui {
	t.Helper()
	a := pagetest.App(t)
	a.Settings().SetTheme(style.New(style.Light, 1))
	b := newTestBackend(t, join)
	b.Prefs.Update(func(r *preferences.Preferences) { r.FirstRunDone = true })
	u := newUI(t.Context(), a, b)
	t.Cleanup(func() { u.main.conversation.Window.Close() }) // the present one
	t.Cleanup(b.Feed.Close)
	return u
}

// send writes and sends a message in the main window.
func (u *ui) send(text string) {
	page := u.main.conversation.Page
	page.Pane.SetDraft(text)
	page.Pane.Composer().TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
}

// know makes a view what is known about the gateway.
func (u *ui) know(v feed.View) {
	u.backend.Feed.Update(func(now *feed.View) { *now = v }, u.backend.Feed.All()...)
}

// update makes a view what is known about the gateway, and draws all parts.
func (u *ui) update(v feed.View) {
	u.know(v)
	u.parts.nameMachines(v)
	for _, p := range u.parts.all() {
		p.show(v)
	}
}

func sample() feed.View {
	return feed.View{
		Status: feed.Status{
			Connected: true, Loaded: true,
			Status: protocol.Status{Model: protocol.ModelRef{Provider: "operator", ID: "built-in"}},
		},
		Sessions:  feed.Sessions{List: []protocol.SessionEntry{{SessionKey: protocol.MainSession, Title: "Refactor the parser"}, {SessionKey: "agent:main:2", Title: "Photos on the NAS"}}},
		Machines:  []protocol.NodeInfo{{ID: "laptop", Online: true, Local: true}, {ID: "nas", LastSeenAt: time.Now().AddDate(0, 0, -1).UnixMilli()}},
		Runs:      feed.Runs{List: []protocol.RunInfo{{RunID: "r", SessionKey: "agent:main:2", State: protocol.RunThinking}}},
		Questions: feed.Questions{Pending: []protocol.Question{approval("q", protocol.MainSession)}},
	}
}

func approval(id string, key protocol.SessionKey) protocol.Question {
	return protocol.Question{
		ID: protocol.QuestionID(id), Kind: protocol.AskCall, State: protocol.QuestionPending, SessionKey: key, Node: "laptop", Tool: "Bash",
		Args: []byte(`{"command":"make -j4"}`), Effect: protocol.EffectExec, Why: "No rule allows: make -j4", Choices: []string{protocol.ScopeOnce}, Hash: "h",
	}
}

func (w *window) lines() string {
	var out []string
	var items []widgets.SidebarItem
	for i, r := range w.sidebar.List.Rows() {
		if r.Heading == nil {
			items = append(items, w.sidebar.List.Item(i))
		}
	}
	widgettest.Visit(w.sidebar.Content, func(o fyne.CanvasObject) {
		if r, ok := o.(*widgets.SidebarRow); ok && (r.Item().Icon == "online" || r.Item().Icon == "offline") {
			items = append(items, r.Item())
		}
	})
	for _, i := range items {
		line := strings.TrimSpace(i.Title + " " + i.Detail)
		if i.Dot {
			line += " ●"
		}
		if i.Checked {
			line = "✓ " + line
		}
		if i.Selected {
			line = "> " + line
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestSidebarListsQuestionsChatsAndMachines(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	want := "Run make -j4 on laptop\n> Refactor the parser ●\nPhotos on the NAS working\nlaptop (this)\nnas yesterday"
	if got := u.main.lines(); got != want {
		t.Errorf("sidebar:\n%s\nwant:\n%s", got, want)
	}
	pagetest.Shot(t, u.main.conversation.Window, "shell-light")
	u.setTheme(style.Dark, 1)
	pagetest.Shot(t, u.main.conversation.Window, "shell-dark")
}

func TestOnlyVisibleRowsOfThousandsOfChatsAreDrawn(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	for i := range 5000 {
		v.Sessions.List = append(v.Sessions.List, protocol.SessionEntry{SessionKey: protocol.SessionKey(fmt.Sprintf("agent:main:n%d", i)), Title: fmt.Sprint("Chat ", i)})
	}
	u.update(v)
	drawn := func() string { return test.RenderObjectToMarkup(u.main.sidebar.List) }
	if n := strings.Count(drawn(), ">Chat "); n < 5 || n > 40 {
		t.Errorf("%d rows of chats are drawn", n)
	}
	u.main.conversation.Window.Canvas().Focus(u.main.sidebar.List)
	u.main.sidebar.List.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	if got := drawn(); !strings.Contains(got, ">Chat 4999<") || strings.Contains(got, ">Chat 1<") {
		t.Errorf("the End key does not show the last chat:\n%s", got)
	}
	u.main.sidebar.Search.SetText("chat 49")
	if got := drawn(); !strings.Contains(got, "RESULTS") || !strings.Contains(got, ">Chat 49<") {
		t.Errorf("the search results do not start at the top:\n%s", got)
	}
	for range 30 {
		u.main.sidebar.Search.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	}
	if got := drawn(); strings.Contains(got, "RESULTS") || !strings.Contains(got, ">"+u.main.sidebar.List.Item(31).Title+"<") {
		t.Errorf("the highlighted result is not in view:\n%s", got)
	}
}

func TestNarrowWindowHasADrawer(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.conversation.Window.Resize(fyne.NewSize(560, 700))
	if u.main.side.Visible() || u.main.drawer.Visible() {
		t.Error("the sidebar stands in a narrow window")
	}
	test.Tap(u.main.menuButton)
	if !u.main.drawer.Visible() {
		t.Error("the menu button does not open the drawer")
	}
	pagetest.Shot(t, u.main.conversation.Window, "shell-drawer")
	u.main.sidebar.Choose("agent:main:2")
	if u.main.drawer.Visible() || u.main.conversation.Page.Key() != "agent:main:2" {
		t.Errorf("after choosing a chat: drawer %v, chat %s", u.main.drawer.Visible(), u.main.conversation.Page.Key())
	}
	u.main.conversation.Window.Resize(fyne.NewSize(1120, 760))
	if !u.main.side.Visible() {
		t.Error("the sidebar does not come back")
	}
}

func TestSearchInTheDrawerTakesTheKeyboard(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.conversation.Window.Resize(fyne.NewSize(500, 700))
	u.main.focusSearch()
	if !u.main.drawer.Visible() || u.main.conversation.Window.Canvas().Focused() != fyne.Focusable(u.main.sidebar.Search) {
		t.Errorf("the drawer is shown: %t, the keyboard goes to %T", u.main.drawer.Visible(), u.main.conversation.Window.Canvas().Focused())
	}
}

func TestQuestionWindowClosesWithItsQuestion(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	if u.questions.window == nil || u.questions.window.Title() != "Fairlead wants to run a command" {
		t.Fatal("no window for the question")
	}
	v := sample()
	v.Questions.Pending = nil
	q := approval("q", protocol.MainSession)
	q.State, q.AnsweredBy = protocol.QuestionAllowed, "phone"
	v.Questions.Closed = []feed.Closed{{Question: q}}
	u.update(v)
	if u.questions.window != nil {
		t.Error("the window stays")
	}
	if !u.messages.Toast.Visible() {
		t.Error("nobody says that the question was answered elsewhere")
	}
	u.update(sample())
	if u.questions.window == nil {
		t.Error("the next question opens no window")
	}
}

func TestAMessageCoversNoQuestion(t *testing.T) {
	u := newTestUI(t)
	u.main.conversation.Window.Resize(fyne.NewSize(520, 640))
	v := sample()
	v.Questions.Pending = nil
	v.Runs.List = []protocol.RunInfo{{RunID: "r", SessionKey: protocol.MainSession, State: protocol.RunTools}}
	for _, id := range []string{"a", "b"} {
		q := approval(id, protocol.MainSession)
		q.CallID, q.RunID = protocol.CallID(id), "r"
		v.Questions.Pending = append(v.Questions.Pending, q)
		v.Calls = append(v.Calls, protocol.CallInfo{CallID: q.CallID, RunID: "r", SessionKey: q.SessionKey, Node: q.Node, Tool: q.Tool, Args: q.Args, State: protocol.CallWaiting, ApprovalID: q.ID})
	}
	chat := chats.Messages{Key: protocol.MainSession}
	for i := range 20 {
		chat.List = append(chat.List, protocol.Message{ID: protocol.MessageID(fmt.Sprint(i)), Seq: int64(i + 1), Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("Something was said.")}})
	}
	u.update(v)
	u.questions.window.Close() // the test driver treats the last window as the window of every object
	u.main.conversation.Page.Show(chat)
	u.messages.Show("Sending a file with a name that takes some room to the machine that is called server")
	pagetest.Shot(t, u.main.conversation.Window, "shell-toast-over-questions")
	place := fyne.CurrentApp().Driver().AbsolutePositionForObject
	view := widgettest.Find(u.main.conversation.Page.Pane, func(*transcript.View) bool { return true })
	end := func() float32 { return place(view).Y + view.Size().Height }
	covered := func(when string) {
		t.Helper()
		if toast := place(u.messages.Toast).Y; toast < end() {
			t.Errorf("%s: the message covers the transcript from %v to %v", when, toast, end())
		}
	}
	covered("at first")
	u.main.conversation.Page.Pane.SetDraft("a\nb\nc\nd") // the composer grows
	u.tick(time.Now())
	covered("after a move")
	shown := end()
	u.messages.Toast.Close()
	if end() <= shown {
		t.Error("the transcript does not get the place of a closed message back")
	}
}

func TestClosingHidesTheWindowOnlyWithATray(t *testing.T) {
	u := newTestUI(t)
	u.hasTray = true
	u.main.close()
	if u.main.visible {
		t.Error("the window is not hidden")
	}
	u.runTrayItem(tray.Item{Do: tray.ActionOpen})
	if !u.main.visible {
		t.Error("the tray does not show it again")
	}
}

func TestHiddenWindowReturnsWithItsContent(t *testing.T) {
	u := newTestUI(t)
	u.main.closesHidden = true // as on Linux
	u.update(sample())
	u.hasTray = true
	u.main.conversation.Page.Pane.SetDraft("half a thought")
	u.main.conversation.FocusComposer()
	u.main.conversation.Window.Resize(fyne.NewSize(900, 700))
	before := u.main.conversation.Window
	u.main.close()
	u.main.show()
	if u.main.conversation.Window == before {
		t.Fatal("the hidden window still exists")
	}
	if got := u.main.conversation.Window.Canvas().Size(); got.Width != 900 || got.Height != 700 {
		t.Errorf("the size is %v, want 900 × 700", got)
	}
	if got := u.main.conversation.Page.Pane.Draft(); got != "half a thought" {
		t.Errorf("the draft is %q", got)
	}
	test.Type(u.main.conversation.Window.Canvas().Focused(), " more")
	if got := u.main.conversation.Page.Pane.Draft(); !strings.Contains(got, " more") {
		t.Errorf("typing does not reach the composer: %q", got)
	}
}

func TestMemoryIsReleasedWhileTheWindowIsHidden(t *testing.T) {
	u := newTestUI(t)
	u.hasTray = true
	released := 0
	u.main.releases = memory.NewReleases(func() { released++ })
	u.main.close()
	now := time.Now()
	u.tick(now)
	u.tick(now.Add(2 * native.RendererAge))
	if released != 2 {
		t.Errorf("memory was released %d times, want 2", released)
	}
	u.main.show()
	u.main.close()
	u.main.show()
	u.tick(now.Add(4 * native.RendererAge))
	if released != 2 {
		t.Errorf("memory was released %d times while the window is visible, want 0", released-2)
	}
}

func TestWindowWithAnOpenDialogIsOnlyHidden(t *testing.T) {
	u := newTestUI(t)
	u.main.closesHidden = true
	u.hasTray = true
	dialog := canvas.NewRectangle(nil)
	u.main.conversation.Window.Canvas().Overlays().Add(dialog)
	u.main.close()
	u.main.show()
	if u.main.conversation.Window.Canvas().Overlays().Top() != dialog {
		t.Error("the dialog is lost")
	}
}

func TestDraftsStayWithTheirChats(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.conversation.Page.Pane.SetDraft("half a thought")
	u.main.open("agent:main:2")
	if u.main.conversation.Page.Pane.Draft() != "" {
		t.Errorf("the draft went along: %q", u.main.conversation.Page.Pane.Draft())
	}
	u.main.open(protocol.MainSession)
	if u.main.conversation.Page.Pane.Draft() != "half a thought" {
		t.Errorf("the draft is lost: %q", u.main.conversation.Page.Pane.Draft())
	}
	if got := u.backend.Prefs.Get().Chat; got != protocol.MainSession {
		t.Errorf("the last chat is remembered as %q", got)
	}
}

func TestFirstPageDisappearsOnceTheChatBegins(t *testing.T) {
	a := pagetest.App(t)
	b := newTestBackend(t, "")
	u := newUI(t.Context(), a, b)
	defer u.main.conversation.Window.Close()
	defer b.Feed.Close()
	if !u.main.first.Box.Visible() || u.main.conversation.Page.Pane.Visible() {
		t.Fatal("a new person does not see the first page")
	}
	pagetest.Shot(t, u.main.conversation.Window, "shell-first")
	test.Tap(pagetest.Button(t, u.main.first.Box, "Start now"))
	if u.main.first.Box.Visible() || !u.main.conversation.Page.Pane.Visible() || !b.Prefs.Get().FirstRunDone {
		t.Error("the page stays")
	}
	if u.main.conversation.Window.Canvas().Focused() != u.main.conversation.Page.Pane.Composer() {
		t.Error("the person cannot type at once")
	}
}

func TestFullDiskIsReportedOnce(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Questions.Pending = nil
	v.Status.Paused, v.Status.Storage = true, "The disk is full."
	v.Notice = &protocol.Notice{At: 7, Text: "The disk is full. The agent is paused."}
	u.update(v)
	if !u.messages.Banner.Visible() || u.messages.Toast.Visible() {
		t.Errorf("banner %v, message %v", u.messages.Banner.Visible(), u.messages.Toast.Visible())
	}
	v.Notice = &protocol.Notice{At: 8, Text: "Something else."}
	u.update(v)
	if !u.messages.Toast.Visible() {
		t.Error("another message is not shown")
	}
}

func TestBannerGrowsWithItsProblem(t *testing.T) {
	u := newTestUI(t)
	for _, v := range []feed.View{{Status: feed.Status{Problem: "The port is taken"}}, {Status: feed.Status{Problem: strings.Repeat("The port is taken. ", 30)}}} {
		u.update(v)
		if has, wants := u.messages.Banner.Size().Height, u.messages.Banner.MinSize().Height; has < wants {
			t.Errorf("%q: its box is %v high and wants %v", v.Status.Problem, has, wants)
		}
	}
}

func TestMissingKeysAreReported(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Questions.Pending = nil
	v.Status.SecretStore, v.Status.Missing = "/data/secrets.json", []string{"apiKeys.anthropic"}
	u.update(v)
	pagetest.Shows(t, u.main.body, "The key for “Anthropic” is missing.", "may be locked", "/data/secrets.json")
	pagetest.Shot(t, u.main.conversation.Window, "shell-locked")
	u.messages.Toast.Close()
	u.update(v)
	if u.messages.Toast.Visible() {
		t.Error("it is said again and again")
	}
}

func TestGatewayProblemsAreReported(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Questions.Pending = nil
	v.Status.Connected, v.Status.Loaded, v.Status.Problem = false, false, "The disk is full"
	u.update(v)
	if !u.messages.Banner.Visible() {
		t.Error("a lost connection is not said")
	}
	pagetest.Shot(t, u.main.conversation.Window, "shell-offline")
	v.Status.Connected, v.Status.Loaded, v.Status.Problem = true, true, ""
	u.update(v)
	if u.messages.Banner.Visible() {
		t.Error("the problem stays after its end")
	}
	v.Notice = &protocol.Notice{Level: "info", Text: "Hello", At: 7}
	u.update(v)
	if !u.messages.Toast.Visible() {
		t.Error("a notice is not shown")
	}
	u.tick(time.Now().Add(time.Minute))
	if u.messages.Toast.Visible() {
		t.Error("a notice stays for ever")
	}
}

func TestTimesInTheSidebar(t *testing.T) {
	now := time.Date(2026, 5, 3, 12, 0, 0, 0, time.Local)
	for before, want := range map[time.Duration]string{
		4 * time.Second: "offline", 20 * time.Minute: "20 min ago", 3 * time.Hour: "3 h ago", 30 * time.Hour: "yesterday", 90 * time.Hour: "4 days ago",
	} {
		if got := machine.Offline(protocol.NodeInfo{LastSeenAt: now.Add(-before).UnixMilli()}, now); got != want {
			t.Errorf("%s before: %q, want %q", before, got, want)
		}
	}
}

func TestDetachedChatHasItsOwnWindow(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.chats.OpenWindow("agent:main:2")
	c := u.chats.Own["agent:main:2"]
	if c == nil || c.Window.Title() != "Photos on the NAS – Fairlead" {
		t.Fatalf("torn off: %+v", c)
	}
	v := sample()
	v.Sessions.List[1].Title = "Photos"
	u.update(v)
	if c.Window.Title() != "Photos – Fairlead" {
		t.Errorf(`title: got %q, want "Photos – Fairlead"`, c.Window.Title())
	}
	if u.main.conversation.Page.Key() != protocol.MainSession {
		t.Error("the main window changed its chat")
	}
	u.chats.OpenWindow("agent:main:2")
	if len(u.chats.Own) != 1 {
		t.Error("one chat has two windows")
	}
	c.Window.Close()
	if len(u.chats.Own) != 0 {
		t.Error("a closed window is kept")
	}
}

func TestDetachedWindowShowsItsOwnMessages(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.chats.OpenWindow("agent:main:2")
	c := u.chats.Own["agent:main:2"]
	u.chats.At(c.Window).Messages.Show("Your message was not sent")
	if !c.Messages.Toast.Visible() || u.messages.Toast.Visible() {
		t.Errorf("said there: %t, in the main window: %t", c.Messages.Toast.Visible(), u.messages.Toast.Visible())
	}
	if c.Messages.Toast.Size().Height == 0 {
		t.Error("it has no place")
	}
	pagetest.Shot(t, c.Window, "torn-toast")
	u.tick(time.Now().Add(time.Minute))
	if c.Messages.Toast.Visible() {
		t.Error("it stays for ever")
	}
	u.chats.At(u.main.conversation.Window).Messages.Show("Saved")
	if !u.messages.Toast.Visible() {
		t.Error("the main window does not say its own")
	}
}

func TestMainChatFollowsTheGateway(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Sessions.List, v.Questions.Pending = v.Sessions.List[1:], nil
	v.Status.MainSession = "agent:work:team"
	u.update(v)
	if u.main.conversation.Page.Key() != "agent:work:team" || u.backend.Prefs.Get().Chat != u.main.conversation.Page.Key() || !strings.Contains(u.main.lines(), "Main chat") {
		t.Errorf("shows %q, remembered %q, sidebar:\n%s", u.main.conversation.Page.Key(), u.backend.Prefs.Get().Chat, u.main.lines())
	}
	u.main.open("agent:main:2")
	v.Status.MainSession = "agent:main:other"
	u.update(v)
	if u.main.conversation.Page.Key() != "agent:main:2" {
		t.Errorf("the chat that the person chose was left for %q", u.main.conversation.Page.Key())
	}
	if got := u.main.mainChat(); got != "agent:main:other" {
		t.Errorf("main chat %q", got)
	}
}
