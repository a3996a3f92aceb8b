package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool/tooltest"
)

func TestPoliciesAreDueInThePersonsZone(t *testing.T) {
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	number := func(n int) *int { return &n }
	parse := func(s string) time.Time {
		at, err := time.ParseInLocation("2006-01-02 15:04:05", s, chicago)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	daily, idle := protocol.ResetPolicy{Mode: "daily"}, protocol.ResetPolicy{Mode: "idle", IdleMinutes: number(30)}
	six := protocol.ResetPolicy{Mode: "daily", AtHour: number(6)}
	two := protocol.ResetPolicy{Mode: "daily", AtHour: number(2)}
	for _, c := range []struct {
		p         protocol.ResetPolicy
		last, now string
		want      bool
	}{
		{protocol.ResetPolicy{Mode: "manual"}, "2020-01-01 00:00:00", "2026-01-01 00:00:00", false},
		{protocol.ResetPolicy{}, "2020-01-01 00:00:00", "2026-01-01 00:00:00", false},
		{daily, "2026-05-01 03:59:59", "2026-05-01 04:00:00", true},
		{daily, "2026-05-01 04:00:00", "2026-05-01 23:00:00", false},
		{daily, "2026-05-01 04:00:00", "2026-05-02 03:59:59", false},
		{daily, "2026-04-30 23:00:00", "2026-05-01 03:00:00", false},
		{daily, "2026-04-30 03:00:00", "2026-05-01 03:00:00", true},
		{six, "2026-05-01 05:00:00", "2026-05-01 05:59:59", false},
		{six, "2026-05-01 05:00:00", "2026-05-01 06:00:00", true},
		{two, "2026-03-08 01:59:00", "2026-03-08 03:30:00", true}, // two o'clock does not exist on that day
		{two, "2026-03-08 03:30:00", "2026-03-08 12:00:00", false},
		{idle, "2026-05-01 10:00:00", "2026-05-01 10:30:00", false},
		{idle, "2026-05-01 10:00:00", "2026-05-01 10:30:01", true},
		{protocol.ResetPolicy{Mode: "idle"}, "2026-05-01 10:00:00", "2026-05-01 11:00:00", false},
		{protocol.ResetPolicy{Mode: "idle"}, "2026-05-01 10:00:00", "2026-05-01 11:00:01", true},
	} {
		if got := isDue(c.p, parse(c.last), parse(c.now).UTC(), chicago); got != c.want {
			t.Errorf("%+v: %s, then %s: got due %v, want %v", c.p, c.last, c.now, got, c.want)
		}
	}
}

// TestADayBeginsOnceWhereTheClockIsTurnedAtMidnight covers time zones that skip or repeat the hour
// at which a day begins, west and east of Greenwich.
func TestADayBeginsOnceWhereTheClockIsTurnedAtMidnight(t *testing.T) {
	number := func(n int) *int { return &n }
	for _, c := range []struct {
		zone      string
		hour      int
		last, now string // UTC
		want      bool
	}{
		{"America/Havana", 0, "2026-03-08T04:30:00Z", "2026-03-08T05:30:00Z", true}, // 23:30, then 01:30: midnight does not exist
		{"America/Havana", 0, "2026-03-08T05:00:00Z", "2026-03-08T20:00:00Z", false},
		{"America/Havana", 0, "2026-03-08T04:30:00Z", "2026-03-08T04:59:59Z", false},
		{"America/Havana", 0, "2026-11-01T04:30:00Z", "2026-11-01T05:30:00Z", false}, // 00:30 twice
		{"America/Havana", 0, "2026-11-01T03:59:59Z", "2026-11-01T04:00:00Z", true},
		{"America/Santiago", 0, "2026-09-06T03:30:00Z", "2026-09-06T12:00:00Z", true},
		{"Africa/Cairo", 0, "2026-04-23T21:30:00Z", "2026-04-23T22:30:00Z", true},
		{"Africa/Cairo", 23, "2026-10-29T19:30:00Z", "2026-10-29T20:00:00Z", true}, // 23:00 occurs twice, the first one counts
		{"Africa/Cairo", 23, "2026-10-29T20:30:00Z", "2026-10-29T21:30:00Z", false},
		{"Australia/Lord_Howe", 2, "2026-10-03T15:29:00Z", "2026-10-03T15:30:00Z", true}, // 02:00 to 02:30 does not exist
		{"Australia/Lord_Howe", 2, "2026-10-03T15:30:00Z", "2026-10-03T15:45:00Z", false},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		last, _ := time.Parse(time.RFC3339, c.last)
		now, _ := time.Parse(time.RFC3339, c.now)
		if got := isDue(protocol.ResetPolicy{Mode: "daily", AtHour: number(c.hour)}, last, now, zone); got != c.want {
			t.Errorf("%s at %d: %s, then %s: got due %v, want %v", c.zone, c.hour, last.In(zone), now.In(zone), got, c.want)
		}
	}
	now := time.Now()
	if isDue(protocol.ResetPolicy{Mode: "idle", IdleMinutes: number(200_000_000)}, now.Add(-time.Second), now, time.UTC) {
		t.Error("a silence of 380 years is over after a second")
	}
}

func TestDueResetRetainsTheNewMessage(t *testing.T) {
	g := start(t, llmtest.Say("one"), llmtest.Say("two"))
	g.end(g.send("first").RunID)
	before, err := g.Get(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil || before.ResetPolicy.Mode != "manual" {
		t.Fatalf("got %+v, error %v, want manual", before, err)
	}
	mode, minutes := "idle", 0
	if _, err := g.Patch(t.Context(), protocol.SessionPatchParams{SessionKey: chat, ResetPolicy: &protocol.ResetPolicyPatch{Mode: &mode, IdleMinutes: &minutes}}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond) // zero minutes, exclusive
	g.end(g.send("second").RunID)
	g.check("user: second", "assistant: two")
	after, err := g.Get(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil || !slices.Equal(after.PreviousSessionIDs, []protocol.SessionID{before.SessionID}) || after.LastResetAt == 0 || *after.ResetPolicy.IdleMinutes != 0 {
		t.Errorf("got %+v, error %v, want a session after %s", after, err, before.SessionID)
	}
}

func TestAChatReturnsToTheDefaultResetPolicy(t *testing.T) {
	g := start(t)
	patch := func(mode string, minutes *int) error {
		_, err := g.Patch(t.Context(), protocol.SessionPatchParams{SessionKey: chat, ResetPolicy: &protocol.ResetPolicyPatch{Mode: &mode, IdleMinutes: minutes}})
		return err
	}
	is := func(mode string) {
		t.Helper()
		got, err := g.Get(t.Context(), protocol.SessionParams{SessionKey: chat})
		if err != nil || got.ResetPolicy.Mode != mode {
			t.Errorf("%+v %v, want %s", got.ResetPolicy, err, mode)
		}
	}
	five := 5
	if err := patch("idle", &five); err != nil {
		t.Fatal(err)
	}
	is("idle")
	if err := patch("", nil); err != nil {
		t.Fatal(err)
	}
	is("manual")
	g.set(func(c *config.Config) { c.Session.DefaultResetPolicy = protocol.ResetPolicy{Mode: "daily"} })
	is("daily")
	if err := patch("never", nil); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("an unknown policy: got error %v, want ErrBadRequest", err)
	}
}

// TestOwnCommandResetsADueChat: a command counts as activity, so it must reset a
// chat that is due; otherwise that day would have no reset.
func TestOwnCommandResetsADueChat(t *testing.T) {
	began, end := make(chan struct{}), make(chan struct{})
	g := startWith(t, &tooltest.Machine{Run: func(inv protocol.ToolInvoke, _ <-chan struct{}) (any, error) {
		if strings.Contains(string(inv.Args), "make") {
			close(began)
			<-end
		}
		return map[string]any{"output": "done"}, nil
	}}, llmtest.Say("one"), llmtest.Say("two"), llmtest.Say("three"))
	g.end(g.send("first").RunID)
	g.set(func(c *config.Config) {
		zero := 0
		c.Session.DefaultResetPolicy = protocol.ResetPolicy{Mode: "idle", IdleMinutes: &zero}
	})
	due := func() { time.Sleep(2 * time.Millisecond) } // zero minutes, exclusive
	due()
	g.end(g.send("!ls").RunID)
	g.check("direct user: !ls", `direct toolResult: {"output":"done"}`)
	due()
	long := g.send("!make")
	<-began
	due()
	g.end(g.send("second").RunID) // the output of make belongs to the present conversation
	g.check("direct user: !make", "user: second", "assistant: two")
	close(end)
	g.end(long.RunID)
	due()
	g.end(g.send("third").RunID)
	g.check("user: third", "assistant: three")
}

func TestAnArchiveIsReadBackAndSurvivesACrash(t *testing.T) {
	g := start(t, llmtest.Say("one"), llmtest.Say("two"))
	g.end(g.send("first").RunID)
	g.end(g.send("second").RunID)
	blocked := filepath.Join(g.home, "archive")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil { // the folder cannot be created
		t.Fatal(err)
	}
	out, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil || out.ArchivedTo != "" || out.ArchivedMessages != 4 {
		t.Fatalf("got %+v, error %v, want 4 archived messages", out, err)
	}
	os.Remove(blocked)
	g.restart(true, g.tower)
	var list protocol.SessionArchivesResult
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if list, err = g.Archives(t.Context(), protocol.SessionParams{SessionKey: "main"}); err != nil || len(list.Archives) != 1 {
			t.Fatalf("got %+v, error %v, want one archive", list, err)
		}
		if list.Archives[0].ArchivedTo != "" || time.Now().After(deadline) {
			break
		}
	}
	a := list.Archives[0]
	if a.SessionID != out.OldSessionID || a.Kind != protocol.ArchiveReset || a.Messages != 4 || a.Tokens != out.TokensCleared || a.Size == 0 {
		t.Errorf("got %+v, want the archive of 4 messages", a)
	}
	if lines := strings.Count(g.archived(a.ArchivedTo), "\n"); lines != 4 {
		t.Errorf("got %d lines, want 4", lines)
	}
	got, err := g.ReadArchive(t.Context(), protocol.SessionArchiveReadParams{SessionKey: "main", ID: a.ID, Limit: 2, Before: 4})
	if err != nil || len(got.Messages) != 2 || got.Messages[0].Content.Text() != "one" || got.Messages[1].Content.Text() != "second" || got.Archive != a {
		t.Errorf("got %+v, error %v, want the second and third message", got, err)
	}
	for _, bad := range []protocol.SessionArchiveReadParams{{SessionKey: "main"}, {SessionKey: "main", ID: "x"}, {SessionKey: "other", ID: a.ID}, {SessionKey: "main", ID: a.ID, Limit: -1}} {
		if _, err := g.ReadArchive(t.Context(), bad); err == nil {
			t.Errorf("%+v: got no error, want one", bad)
		}
	}
}

func TestResetWritesMemories(t *testing.T) {
	g := withModel(t, llmtest.Say("Nice."), llmtest.Say("<summary>s</summary><memories>- Ann has a cat</memories>"), llmtest.Say("x"))
	g.end(g.send("My cat sleeps").RunID)
	if _, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(g.home, "agents", "main", "memory", time.Now().In(g.settings.zone()).Format(time.DateOnly)+".md")
	var note []byte
	for deadline := time.Now().Add(3 * time.Minute); !strings.Contains(string(note), "has a cat") && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		note, _ = os.ReadFile(name)
	}
	if !strings.Contains(string(note), "- Ann has a cat\n") {
		t.Errorf("got note %q, want Ann has a cat", note)
	}
	const group = protocol.SessionKey("agent:main:irc:group:1")
	if _, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: group, Message: "A secret"}); err != nil {
		t.Fatal(err)
	}
	g.until(terminal)
	if _, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: group}); err != nil {
		t.Fatal(err)
	}
	g.sessions.Close()
	if n := len(g.model.Requests()); n != 3 {
		t.Errorf("a shared chat: got %d requests, want 3, without a note", n)
	}
}

func TestAnEmptyChatIsResetLikeAnyOther(t *testing.T) {
	g := start(t, llmtest.Say("one"))
	get := func() protocol.SessionGetResult {
		t.Helper()
		s, err := g.Get(t.Context(), protocol.SessionParams{SessionKey: chat})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := get().SessionID
	if res := g.send("/new"); res.Command != "reset" || !strings.Contains(res.Response, "reset") {
		t.Errorf("/new: got %+v, want a reset", res)
	}
	second := get()
	if second.SessionID == first || !slices.Equal(second.PreviousSessionIDs, []protocol.SessionID{first}) || second.LastResetAt == 0 {
		t.Errorf("after /new: got %+v, want the previous id %s", second, first)
	}
	if list, err := g.List(t.Context(), protocol.SessionsListParams{}); err != nil || list.Count != 0 {
		t.Errorf("got %+v, error %v, want no chat without a message", list, err)
	}
	mode, minutes := "idle", 0
	if _, err := g.Patch(t.Context(), protocol.SessionPatchParams{SessionKey: chat, ResetPolicy: &protocol.ResetPolicyPatch{Mode: &mode, IdleMinutes: &minutes}}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond) // zero minutes, exclusive
	g.end(g.send("hello").RunID)
	g.check("user: hello", "assistant: one")
	if third := get(); !slices.Equal(third.PreviousSessionIDs, []protocol.SessionID{first, second.SessionID}) {
		t.Errorf("after an idle reset: got previous ids %v, want %s and %s", third.PreviousSessionIDs, first, second.SessionID)
	}
}

func TestRecentResetIsNotRepeated(t *testing.T) {
	g := start(t, llmtest.Say("one"), llmtest.Say("two"))
	g.end(g.send("first").RunID)
	if _, err := g.store.Sessions.Update(t.Context(), chat, func(s *store.Session) { s.LastActiveAt -= time.Hour.Milliseconds() }); err != nil {
		t.Fatal(err)
	}
	mode, minutes := "idle", 30
	if _, err := g.Patch(t.Context(), protocol.SessionPatchParams{SessionKey: chat, ResetPolicy: &protocol.ResetPolicyPatch{Mode: &mode, IdleMinutes: &minutes}}); err != nil {
		t.Fatal(err)
	}
	g.send("/reset")
	g.end(g.send("second").RunID)
	if s, err := g.Get(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil || len(s.PreviousSessionIDs) != 1 {
		t.Errorf("got previous ids %v, %v, want one", s.PreviousSessionIDs, err)
	}
}
