package app

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/app/chat"
	"fairlead/app/feed"
	"fairlead/app/inbox"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// newTestBackend creates a backend with its own folders and without a listener.
func newTestBackend(t testing.TB) *backend {
	t.Helper()
	home := t.TempDir()
	t.Setenv("FAIRLEAD_HOME", home)
	t.Setenv("FAIRLEAD_SECRETS", "file")
	b := newBackend(flags{listen: "none", workspace: t.TempDir()}, home, slog.New(slog.DiscardHandler))
	b.stopTimeout = 3 * time.Minute // work that continues after a test disturbs the next one
	t.Cleanup(b.prefs.close)
	return b
}

// await waits until the view satisfies a condition.
func await(t *testing.T, b *backend, what string, ok func(feed.View) bool) feed.View {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for v := range b.state.Watch(b.state.All()...).Changes(ctx) {
		if ok(v) {
			return v
		}
	}
	t.Fatalf("%s did not happen; the view is %+v", what, b.state.View())
	return feed.View{}
}

func online(v feed.View) bool { return len(v.Machines) == 1 && v.Machines[0].Online }

func TestProgramServesItsWindowAndStopsInOrder(t *testing.T) {
	b := newTestBackend(t)
	b.start()
	v := await(t, b, "a machine", online)
	if got := b.gatewayOptions("none").Node; got != v.Machines[0].ID {
		t.Errorf("the gateway is ready with the machine %q, want this computer's %q", got, v.Machines[0].ID)
	}
	history := b.state.Chats.Open(protocol.MainSession)
	if _, err := chat.NewModel(b.state.Feed, protocol.MainSession).Send(t.Context(), "!echo from the window", nil, ""); err != nil {
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
	if !b.stop() {
		t.Error("something goes on")
	}
	if _, err := os.Stat(filepath.Join(b.home, "fairlead.db")); err != nil {
		t.Error(err)
	}
}

func TestTheEndWaitsForNothingThatHangs(t *testing.T) {
	b := newTestBackend(t)
	b.stopTimeout = time.Millisecond
	if b.stop() { // it was never started, and so does not become ready
		t.Error("it waited for what does not come")
	}
}

func TestQuestionReachesTheWindowAndTheAnswerTheTool(t *testing.T) {
	b := newTestBackend(t)
	b.start()
	defer b.stop()
	await(t, b, "a machine", online)
	if _, err := chat.NewModel(b.state.Feed, protocol.MainSession).Send(t.Context(), "run echo asked", nil, ""); err != nil {
		t.Fatal(err)
	}
	v := await(t, b, "a question", func(v feed.View) bool { return len(v.Questions.Pending) == 1 })
	if tray := trayOf(v, time.Now()); tray.Icon != state.TrayNeedsYou || tray.Needs != 1 {
		t.Errorf("tray %+v", tray)
	}
	inbox.NewModel(b.state.Feed).Answer([]protocol.Question{v.Questions.Pending[0]}, protocol.QuestionAnswerParams{Decision: protocol.DecisionDeny, Reason: "unavailable"})
	v = await(t, b, "the end of the question", func(v feed.View) bool { return len(v.Questions.Closed) == 1 })
	if c := v.Questions.Closed[0]; c.State != protocol.QuestionDenied || !c.AnsweredHere || c.Reason != "unavailable" {
		t.Errorf("closed %+v", c)
	}
	await(t, b, "the end of the run", func(v feed.View) bool { return !v.Working() })
}

func TestWorkspaceChangesWithoutARestart(t *testing.T) {
	b := newTestBackend(t)
	b.start()
	defer b.stop()
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
	if (local{b}).Workspace() != dir || b.prefs.get().Workspace != dir {
		t.Error("the new folder is not remembered")
	}
	if token, err := (local{b}).Token(); err != nil || !strings.HasPrefix(token, "fl_") {
		t.Errorf("token %q, %v", token, err)
	}
}

func TestSecondWindowOnTheSameDataJoinsTheFirst(t *testing.T) {
	b := newTestBackend(t)
	b.start()
	defer b.stop()
	await(t, b, "a machine", online)
	second := newBackend(b.flags, b.home, slog.New(slog.DiscardHandler))
	defer second.prefs.close()
	second.start()
	<-second.ready
	if second.join == nil {
		t.Error("it does not join")
	}
	second.stop()
}

func TestWindowJoinsAGatewayElsewhereWithTheTokenItIsGiven(t *testing.T) {
	b := newTestBackend(t)
	b.flags.listen = "127.0.0.1:0"
	b.start()
	defer b.stop()
	await(t, b, "a machine", online)
	token, err := (local{b}).Token()
	if err != nil {
		t.Fatal(err)
	}
	join := func(token string) *backend {
		t.Setenv("FAIRLEAD_TOKEN", token)
		other := newBackend(flags{join: b.gw.URL()}, t.TempDir(), slog.New(slog.DiscardHandler))
		t.Cleanup(other.prefs.close)
		other.start()
		return other
	}
	right := join(token)
	await(t, right, "the machine of the other gateway", online)
	right.stop()
	wrong := join("fl_wrong")
	v := await(t, wrong, "the refusal", func(v feed.View) bool { return v.Status.Problem != "" })
	if !strings.Contains(v.Status.Problem, "rejected the token") {
		t.Errorf("problem %q", v.Status.Problem)
	}
	wrong.stop()
}

func TestTakenAddressIsSaidAndAnotherIsUsed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := newTestBackend(t)
	b.flags.listen = l.Addr().String()
	b.start()
	defer b.stop()
	v := await(t, b, "a machine", online)
	if v.Notice == nil || !strings.Contains(v.Notice.Text, b.flags.listen) || v.Status.Listen == b.flags.listen {
		t.Errorf("notice %+v, listening on %s", v.Notice, v.Status.Listen)
	}
}

func TestFailureToStartIsShown(t *testing.T) {
	b := newTestBackend(t)
	if err := os.WriteFile(filepath.Join(b.home, "fairlead.db"), []byte("this is no database, whatever its name says"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.start()
	defer b.stop()
	v := await(t, b, "the failure", func(v feed.View) bool { return v.Status.Problem != "" })
	if v.Status.Connected {
		t.Error("connected to a gateway that did not start")
	}
	if _, err := chat.NewModel(b.state.Feed, "a").Send(t.Context(), "hello", nil, ""); err == nil {
		t.Error("a message was taken")
	}
	if err := os.Remove(filepath.Join(b.home, "fairlead.db")); err != nil {
		t.Fatal(err)
	}
	b.retry()
	await(t, b, "the start at the second try", online)
}

func TestPrefsSurviveAndNeverStopTheStart(t *testing.T) {
	home := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	p := openPrefs(home, log)
	for i := range 100 {
		p.update(func(r *preferences) { r.Width = float32(i); r.Chat = "agent:main:x" })
	}
	p.close()
	p.update(func(r *preferences) { r.Width = 1 }) // after the end: ignored without harm
	p = openPrefs(home, log)
	if got := p.get(); got.Width != 99 || got.Chat != "agent:main:x" {
		t.Errorf("remembered %+v", got)
	}
	p.close()
	if err := os.WriteFile(filepath.Join(home, "windows.json"), []byte("{not json"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = openPrefs(home, log)
	defer p.close()
	if !reflect.DeepEqual(p.get(), preferences{}) {
		t.Errorf("a broken file gave %+v", p.get())
	}
}

func TestTheSystemStartsTheProgramWithItsDataFolder(t *testing.T) {
	b := newTestBackend(t)
	if p := (local{b}).program(); !slices.Equal(p.Args, []string{"--home", b.home}) || !slices.Equal(p.Login, []string{"--home", b.home, "--hidden"}) {
		t.Errorf("%q, at login %q", p.Args, p.Login)
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
	}{{"--help", 0}, {"--version", 0}, {"--nonsense", 2}, {"something", 2}} {
		t.Run(c.args, func(t *testing.T) {
			if got := Main(strings.Fields(c.args), ""); got != c.code {
				t.Errorf("%s: exit code %d, want %d", c.args, got, c.code)
			}
		})
	}
}
