package app

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/backend"
	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/machine"
	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/app/window"
	"fairlead/gateway/protocol"
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
	u := newUI(t.Context(), a, b, testPlatform())
	t.Cleanup(func() { u.main.Chat.Window.Close() }) // the present one
	t.Cleanup(b.Feed.Close)
	return u
}

// testPlatform is a system whose windows open as they come.
func testPlatform() platform {
	return platform{mode: style.System, showQuietly: fyne.Window.Show, isInFront: func(reported bool) bool { return reported }}
}

// send writes and sends a message in the main window.
func (u *ui) send(text string) {
	page := u.main.Chat.Page
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

func lines(w *window.Window) string {
	var out []string
	var items []widgets.SidebarItem
	for i, r := range w.Sidebar.List.Rows() {
		if r.Heading == nil {
			items = append(items, w.Sidebar.List.Item(i))
		}
	}
	widgettest.Visit(w.Sidebar.Content, func(o fyne.CanvasObject) {
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
	if got := lines(u.main); got != want {
		t.Errorf("sidebar:\n%s\nwant:\n%s", got, want)
	}
	pagetest.Shot(t, u.main.Chat.Window, "shell-light")
	u.settings.setTheme(style.Dark, 1)
	pagetest.Shot(t, u.main.Chat.Window, "shell-dark")
}

func TestOnlyVisibleRowsOfThousandsOfChatsAreDrawn(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	for i := range 5000 {
		v.Sessions.List = append(v.Sessions.List, protocol.SessionEntry{SessionKey: protocol.SessionKey(fmt.Sprintf("agent:main:n%d", i)), Title: fmt.Sprint("Chat ", i)})
	}
	u.update(v)
	drawn := func() string { return test.RenderObjectToMarkup(u.main.Sidebar.List) }
	if n := strings.Count(drawn(), ">Chat "); n < 5 || n > 40 {
		t.Errorf("%d rows of chats are drawn; want at least 5", n)
	}
	u.main.Chat.Window.Canvas().Focus(u.main.Sidebar.List)
	u.main.Sidebar.List.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	if got := drawn(); !strings.Contains(got, ">Chat 4999<") || strings.Contains(got, ">Chat 1<") {
		t.Errorf("the End key does not show the last chat:\n%s", got)
	}
	u.main.Sidebar.Search.SetText("chat 49")
	if got := drawn(); !strings.Contains(got, "RESULTS") || !strings.Contains(got, ">Chat 49<") {
		t.Errorf("the search results do not start at the top:\n%s", got)
	}
	for range 30 {
		u.main.Sidebar.Search.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	}
	if got := drawn(); strings.Contains(got, "RESULTS") || !strings.Contains(got, ">"+u.main.Sidebar.List.Item(31).Title+"<") {
		t.Errorf("the highlighted result is not in view:\n%s", got)
	}
}

func TestQuestionWindowClosesWithItsQuestion(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	if u.places.questions.window == nil || u.places.questions.window.Title() != "Fairlead wants to run a command" {
		t.Fatal("no window for the question")
	}
	v := sample()
	v.Questions.Pending = nil
	q := approval("q", protocol.MainSession)
	q.State, q.AnsweredBy = protocol.QuestionAllowed, "phone"
	v.Questions.Closed = []feed.Closed{{Question: q}}
	u.update(v)
	if u.places.questions.window != nil {
		t.Error("the window stays")
	}
	if !u.main.Chat.Messages.Toast.Visible() {
		t.Error("nobody says that the question was answered elsewhere")
	}
	u.update(sample())
	if u.places.questions.window == nil {
		t.Error("the next question opens no window")
	}
}

func TestAMessageCoversNoQuestion(t *testing.T) {
	u := newTestUI(t)
	u.main.Chat.Window.Resize(fyne.NewSize(520, 640))
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
	u.places.questions.window.Close() // the test driver treats the last window as the window of every object
	u.main.Chat.Page.Show(chat)
	u.main.Chat.Messages.Show("Sending a file with a name that takes some room to the machine that is called server")
	pagetest.Shot(t, u.main.Chat.Window, "shell-toast-over-questions")
	place := fyne.CurrentApp().Driver().AbsolutePositionForObject
	view := widgettest.Find(u.main.Chat.Page.Pane, func(*transcript.View) bool { return true })
	end := func() float32 { return place(view).Y + view.Size().Height }
	covered := func(when string) {
		t.Helper()
		if toast := place(u.main.Chat.Messages.Toast).Y; toast < end() {
			t.Errorf("%s: the message covers the transcript from %v to %v", when, toast, end())
		}
	}
	covered("at first")
	u.main.Chat.Page.Pane.SetDraft("a\nb\nc\nd") // the composer grows
	u.tick(time.Now())
	covered("after a move")
	shown := end()
	u.main.Chat.Messages.Toast.Close()
	if end() <= shown {
		t.Error("the transcript does not get the place of a closed message back")
	}
}

func TestDraftsStayWithTheirChats(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.Chat.Page.Pane.SetDraft("half a thought")
	u.main.Open("agent:main:2")
	if u.main.Chat.Page.Pane.Draft() != "" {
		t.Errorf("the draft went along: %q, want nothing", u.main.Chat.Page.Pane.Draft())
	}
	u.main.Open(protocol.MainSession)
	if u.main.Chat.Page.Pane.Draft() != "half a thought" {
		t.Errorf(`the draft is lost: %q, want "half a thought"`, u.main.Chat.Page.Pane.Draft())
	}
	if got := u.backend.Prefs.Get().Chat; got != protocol.MainSession {
		t.Errorf("the last chat is remembered as %q, want %q", got, protocol.MainSession)
	}
}

func TestFirstPageDisappearsOnceTheChatBegins(t *testing.T) {
	a := pagetest.App(t)
	b := newTestBackend(t, "")
	u := newUI(t.Context(), a, b, testPlatform())
	defer u.main.Chat.Window.Close()
	defer b.Feed.Close()
	if pagetest.VisibleButton(u.main.Chat.Window.Content(), "Start now") == nil || u.main.Chat.Page.Pane.Visible() {
		t.Fatal("a new person does not see the first page")
	}
	pagetest.Shot(t, u.main.Chat.Window, "shell-first")
	test.Tap(pagetest.Button(t, u.main.Chat.Window.Content(), "Start now"))
	if pagetest.VisibleButton(u.main.Chat.Window.Content(), "Start now") != nil || !u.main.Chat.Page.Pane.Visible() || !b.Prefs.Get().FirstRunDone {
		t.Error("the page stays")
	}
	if u.main.Chat.Window.Canvas().Focused() != u.main.Chat.Page.Pane.Composer() {
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
	if !u.main.Chat.Messages.Banner.Visible() || u.main.Chat.Messages.Toast.Visible() {
		t.Errorf("banner %v, message %v; want true and false", u.main.Chat.Messages.Banner.Visible(), u.main.Chat.Messages.Toast.Visible())
	}
	v.Notice = &protocol.Notice{At: 8, Text: "Something else."}
	u.update(v)
	if !u.main.Chat.Messages.Toast.Visible() {
		t.Error("another message is not shown")
	}
}

func TestBannerGrowsWithItsProblem(t *testing.T) {
	u := newTestUI(t)
	for _, v := range []feed.View{{Status: feed.Status{Problem: "The port is taken"}}, {Status: feed.Status{Problem: strings.Repeat("The port is taken. ", 30)}}} {
		u.update(v)
		if has, wants := u.main.Chat.Messages.Banner.Size().Height, u.main.Chat.Messages.Banner.MinSize().Height; has < wants {
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
	pagetest.Shows(t, u.main.Chat.Window.Content(), "The key for “Anthropic” is missing.", "may be locked", "/data/secrets.json")
	pagetest.Shot(t, u.main.Chat.Window, "shell-locked")
	u.main.Chat.Messages.Toast.Close()
	u.update(v)
	if u.main.Chat.Messages.Toast.Visible() {
		t.Error("it is said again and again")
	}
}

func TestGatewayProblemsAreReported(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Questions.Pending = nil
	v.Status.Connected, v.Status.Loaded, v.Status.Problem = false, false, "The disk is full"
	u.update(v)
	if !u.main.Chat.Messages.Banner.Visible() {
		t.Error("a lost connection is not said")
	}
	pagetest.Shot(t, u.main.Chat.Window, "shell-offline")
	v.Status.Connected, v.Status.Loaded, v.Status.Problem = true, true, ""
	u.update(v)
	if u.main.Chat.Messages.Banner.Visible() {
		t.Error("the problem stays after its end")
	}
	v.Notice = &protocol.Notice{Level: "info", Text: "Hello", At: 7}
	u.update(v)
	if !u.main.Chat.Messages.Toast.Visible() {
		t.Error("a notice is not shown")
	}
	u.tick(time.Now().Add(time.Minute))
	if u.main.Chat.Messages.Toast.Visible() {
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
	u.main.Chats.OpenWindow("agent:main:2")
	c := u.main.Chats.Own["agent:main:2"]
	if c == nil || c.Window.Title() != "Photos on the NAS – Fairlead" {
		t.Fatalf("torn off: %+v", c)
	}
	v := sample()
	v.Sessions.List[1].Title = "Photos"
	u.update(v)
	if c.Window.Title() != "Photos – Fairlead" {
		t.Errorf(`title: got %q, want "Photos – Fairlead"`, c.Window.Title())
	}
	if u.main.Chat.Page.Key() != protocol.MainSession {
		t.Error("the main window changed its chat")
	}
	u.main.Chats.OpenWindow("agent:main:2")
	if len(u.main.Chats.Own) != 1 {
		t.Error("one chat has two windows")
	}
	c.Window.Close()
	if len(u.main.Chats.Own) != 0 {
		t.Error("a closed window is kept")
	}
}

func TestDetachedWindowShowsItsOwnMessages(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.Chats.OpenWindow("agent:main:2")
	c := u.main.Chats.Own["agent:main:2"]
	u.main.Chats.At(c.Window).Messages.Show("Your message was not sent")
	if !c.Messages.Toast.Visible() || u.main.Chat.Messages.Toast.Visible() {
		t.Errorf("said there: %t, in the main window: %t; want true and false", c.Messages.Toast.Visible(), u.main.Chat.Messages.Toast.Visible())
	}
	if c.Messages.Toast.Size().Height == 0 {
		t.Error("it has no place")
	}
	pagetest.Shot(t, c.Window, "torn-toast")
	u.tick(time.Now().Add(time.Minute))
	if c.Messages.Toast.Visible() {
		t.Error("it stays for ever")
	}
	u.main.Chats.At(u.main.Chat.Window).Messages.Show("Saved")
	if !u.main.Chat.Messages.Toast.Visible() {
		t.Error("the main window does not say its own")
	}
}

func TestMainChatFollowsTheGateway(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Sessions.List, v.Questions.Pending = v.Sessions.List[1:], nil
	v.Status.MainSession = "agent:work:team"
	u.update(v)
	if u.main.Chat.Page.Key() != "agent:work:team" || u.backend.Prefs.Get().Chat != u.main.Chat.Page.Key() || !strings.Contains(lines(u.main), "Main chat") {
		t.Errorf("shows %q, remembered %q, sidebar:\n%s\nwant \"agent:work:team\", %q and one with \"Main chat\"", u.main.Chat.Page.Key(), u.backend.Prefs.Get().Chat, lines(u.main), u.main.Chat.Page.Key())
	}
	u.main.Open("agent:main:2")
	v.Status.MainSession = "agent:main:other"
	u.update(v)
	if u.main.Chat.Page.Key() != "agent:main:2" {
		t.Errorf("the chat that the person chose was left for %q", u.main.Chat.Page.Key())
	}
	if got := u.main.MainChat(); got != "agent:main:other" {
		t.Errorf(`main chat %q, want "agent:main:other"`, got)
	}
}
