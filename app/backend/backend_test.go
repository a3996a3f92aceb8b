package backend

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/app/chat"
	"fairlead/app/feed"
	"fairlead/app/inbox"
	"fairlead/gateway/protocol"
	"fairlead/tray"
)

// newTestBackend creates a backend with its own folders and without a listener.
func newTestBackend(t testing.TB) *Backend {
	t.Helper()
	home := t.TempDir()
	t.Setenv("FAIRLEAD_HOME", home)
	t.Setenv("FAIRLEAD_SECRETS", "file")
	b := New(Options{Home: home, Listen: "none", Workspace: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	b.stopTimeout = 3 * time.Minute // work that continues after a test disturbs the next one
	t.Cleanup(b.Prefs.Close)
	return b
}

// await waits until the view satisfies a condition.
func await(t *testing.T, b *Backend, what string, ok func(feed.View) bool) feed.View {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for v := range b.Feed.Watch(b.Feed.All()...).Changes(ctx) {
		if ok(v) {
			return v
		}
	}
	t.Fatalf("%s did not happen; the view is %+v", what, b.Feed.View())
	return feed.View{}
}

func online(v feed.View) bool { return len(v.Machines) == 1 && v.Machines[0].Online }

func TestProgramServesItsWindowAndStopsInOrder(t *testing.T) {
	b := newTestBackend(t)
	b.Start()
	v := await(t, b, "a machine", online)
	if got := b.gatewayOptions("none").Node; got != v.Machines[0].ID {
		t.Errorf("the gateway is ready with the machine %q, want this computer's %q", got, v.Machines[0].ID)
	}
	history := b.Chats.Open(protocol.MainSession)
	if _, err := chat.NewModel(b.Feed, protocol.MainSession).Send(t.Context(), "!echo from the window", nil, ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	said := ""
	for v := range history.Value.Changes(ctx) {
		if n := len(v.List); n > 0 {
			if said = v.List[n-1].Content.Text(); strings.Contains(said, "from the window") && v.List[n-1].Role == protocol.RoleToolResult {
				break
			}
		}
	}
	if ctx.Err() != nil {
		t.Fatalf("no result; the last message is %q", said)
	}
	if !b.Stop() {
		t.Error("something goes on")
	}
	if _, err := os.Stat(filepath.Join(b.opts.Home, "fairlead.db")); err != nil {
		t.Error(err)
	}
}

func TestStopDoesNotWaitForHangingWork(t *testing.T) {
	b := newTestBackend(t)
	b.stopTimeout = time.Millisecond
	if b.Stop() { // it was never started, and so does not become ready
		t.Error("it waited for what does not come")
	}
}

func TestQuestionReachesTheWindowAndTheAnswerTheTool(t *testing.T) {
	b := newTestBackend(t)
	b.Start()
	defer b.Stop()
	await(t, b, "a machine", online)
	if _, err := chat.NewModel(b.Feed, protocol.MainSession).Send(t.Context(), "run echo asked", nil, ""); err != nil {
		t.Fatal(err)
	}
	v := await(t, b, "a question", func(v feed.View) bool { return len(v.Questions.Pending) == 1 })
	if c := tray.ContentOf(v, time.Now()); c.Icon != tray.NeedsYou || c.Needs != 1 {
		t.Errorf("tray: got %+v; want Icon NeedsYou and Needs 1", c)
	}
	inbox.NewModel(b.Feed).Answer([]protocol.Question{v.Questions.Pending[0]}, protocol.QuestionAnswerParams{Decision: protocol.DecisionDeny, Reason: "unavailable"})
	v = await(t, b, "the end of the question", func(v feed.View) bool { return len(v.Questions.Closed) == 1 })
	if c := v.Questions.Closed[0]; c.State != protocol.QuestionDenied || !c.AnsweredHere || c.Reason != "unavailable" {
		t.Errorf(`closed: got %+v; want State QuestionDenied, AnsweredHere and Reason "unavailable"`, c)
	}
	await(t, b, "the end of the run", func(v feed.View) bool { return !v.Working() })
}

func TestWorkspaceChangesWithoutARestart(t *testing.T) {
	b := newTestBackend(t)
	b.Start()
	defer b.Stop()
	await(t, b, "a machine", online)
	dir := t.TempDir()
	if err := b.setWorkspace(filepath.Join(dir, "missing")); err == nil {
		t.Error("a folder that does not exist was taken")
	}
	if err := b.setWorkspace(dir); err != nil {
		t.Fatal(err)
	}
	await(t, b, "the machine in the new folder", func(v feed.View) bool {
		return online(v) && v.Machines[0].Host != nil && v.Machines[0].Host.Workspace == dir
	})
	if (local{b}).Workspace() != dir || b.Prefs.Get().Workspace != dir {
		t.Error("the new folder is not remembered")
	}
	if token, err := (local{b}).Token(); err != nil || !strings.HasPrefix(token, "fl_") {
		t.Errorf(`token: got %q, %v; want no error and a text that begins with "fl_"`, token, err)
	}
}

func TestSecondWindowOnTheSameDataJoinsTheFirst(t *testing.T) {
	b := newTestBackend(t)
	b.Start()
	defer b.Stop()
	await(t, b, "a machine", online)
	second := New(b.opts)
	defer second.Prefs.Close()
	second.Start()
	<-second.ready
	if second.join == nil {
		t.Error("it does not join")
	}
	second.Stop()
}

func TestWindowJoinsARemoteGatewayWithItsToken(t *testing.T) {
	b := newTestBackend(t)
	b.opts.Listen = "127.0.0.1:0"
	b.Start()
	defer b.Stop()
	await(t, b, "a machine", online)
	token, err := (local{b}).Token()
	if err != nil {
		t.Fatal(err)
	}
	join := func(token string) *Backend {
		t.Setenv("FAIRLEAD_TOKEN", token)
		other := New(Options{Home: t.TempDir(), Join: b.gw.URL(), Log: slog.New(slog.DiscardHandler)})
		t.Cleanup(other.Prefs.Close)
		other.Start()
		return other
	}
	right := join(token)
	await(t, right, "the machine of the other gateway", online)
	right.Stop()
	wrong := join("fl_wrong")
	v := await(t, wrong, "the refusal", func(v feed.View) bool { return v.Status.Problem != "" })
	if !strings.Contains(v.Status.Problem, "rejected the token") {
		t.Errorf(`problem: got %q, want "rejected the token" in Status.Problem`, v.Status.Problem)
	}
	wrong.Stop()
}

func TestAddressInUseIsReportedAndReplaced(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := newTestBackend(t)
	b.opts.Listen = l.Addr().String()
	b.Start()
	defer b.Stop()
	v := await(t, b, "a machine", online)
	if v.Notice == nil || !strings.Contains(v.Notice.Text, b.opts.Listen) || v.Status.Listen == b.opts.Listen {
		t.Errorf("notice %+v, listening on %s", v.Notice, v.Status.Listen)
	}
}

func TestFailureToStartIsShown(t *testing.T) {
	b := newTestBackend(t)
	if err := os.WriteFile(filepath.Join(b.opts.Home, "fairlead.db"), []byte("this is no database, whatever its name says"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Start()
	defer b.Stop()
	v := await(t, b, "the failure", func(v feed.View) bool { return v.Status.Problem != "" })
	if v.Status.Connected {
		t.Error("connected to a gateway that did not start")
	}
	if _, err := chat.NewModel(b.Feed, "a").Send(t.Context(), "hello", nil, ""); err == nil {
		t.Error("a message was taken")
	}
	if err := os.Remove(filepath.Join(b.opts.Home, "fairlead.db")); err != nil {
		t.Fatal(err)
	}
	b.Retry()
	await(t, b, "the start at the second try", online)
}

func TestTheSystemStartsTheProgramWithItsDataFolder(t *testing.T) {
	b := newTestBackend(t)
	if p := (local{b}).program(); !slices.Equal(p.Args, []string{"--home", b.opts.Home}) || !slices.Equal(p.Login, []string{"--home", b.opts.Home, "--hidden"}) {
		t.Errorf("%q, at login %q", p.Args, p.Login)
	}
}
