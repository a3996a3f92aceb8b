package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

const key protocol.SessionKey = "agent:main:main"

func openTest(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "fairlead.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func user(text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestMessagesKeepTheirOrderAndPageBack(t *testing.T) {
	s := openTest(t)
	for i := range 25 {
		must(s.Append(t.Context(), key, user(fmt.Sprint("m", i))))(t)
	}
	last := must(s.Messages(t.Context(), key, 0, 10))(t)
	if len(last) != 10 || last[0].Content.Text() != "m15" || last[9].Seq != 25 {
		t.Fatalf("last page = %v", last)
	}
	before := must(s.Messages(t.Context(), key, last[0].Seq, 10))(t)
	if len(before) != 10 || before[9].Content.Text() != "m14" {
		t.Errorf("page before = %v", before)
	}
	if all := must(s.Messages(t.Context(), key, 0, 0))(t); len(all) != 25 {
		t.Errorf("all = %d messages", len(all))
	}
	ses := must(s.Session(t.Context(), key))(t)
	if ses.MessageCount != 25 || ses.FirstText != "m0" || ses.Agent != "main" {
		t.Errorf("session = %+v", ses)
	}
}

func TestUsageAddsUp(t *testing.T) {
	s := openTest(t)
	cost := 0.25
	for range 2 {
		must(s.Append(t.Context(), key, protocol.Message{Role: protocol.RoleAssistant, Usage: &protocol.Usage{Input: 10, Output: 5, Total: 15, Cost: &cost}}))(t)
	}
	ses := must(s.Session(t.Context(), key))(t)
	if ses.Usage.Total != 30 || *ses.Usage.Cost != 0.5 || ses.ContextTokens != 15 {
		t.Errorf("usage = %+v, context %d", ses.Usage, ses.ContextTokens)
	}
}

func TestResetKeepsTheOldMessages(t *testing.T) {
	s := openTest(t)
	must(s.Append(t.Context(), key, user("old")))(t)
	old, archived, err := s.Reset(t.Context(), key, "second", 5)
	if err != nil || archived.Messages != 1 || old.MessageCount != 1 {
		t.Fatalf("Reset = %+v, %v, %v", old, archived, err)
	}
	must(s.Append(t.Context(), key, user("new")))(t)
	msgs := must(s.Messages(t.Context(), key, 0, 0))(t)
	if len(msgs) != 1 || msgs[0].Content.Text() != "new" || msgs[0].Seq != 1 {
		t.Errorf("messages after reset = %v", msgs)
	}
	ses := must(s.Session(t.Context(), key))(t)
	if ses.ID != "second" || len(ses.Previous) != 1 || ses.Previous[0] != old.ID || ses.LastResetAt != 5 {
		t.Errorf("session = %+v", ses)
	}
	if found := must2(s.Sessions(t.Context(), 0, 0, "old"))(t); len(found) != 1 {
		t.Errorf("the archive cannot be searched")
	}
}

func must2[T any](v T, _ int, err error) func(testing.TB) T { return must(v, err) }

func TestSearchFindsLabelsAndMessages(t *testing.T) {
	s := openTest(t)
	must(s.Append(t.Context(), "agent:main:app:chat:1", user("The PARSER fails at 100%")))(t)
	must(s.Append(t.Context(), "agent:main:app:chat:2", user("photos")))(t)
	must(s.UpdateSession(t.Context(), "agent:main:app:chat:2", func(s *Session) { s.Label = "Holiday" }))(t)
	must(s.Append(t.Context(), "agent:main:app:chat:2", user("Die GRÖßE stimmt, Привет")))(t)
	for query, want := range map[string]int{
		"parser": 1, "holi": 1, "100%": 1, "101": 0, "": 2, "%": 1, "_": 0, "nothing": 0,
		"größe": 1, "GRÖSSE": 0, "ПРИВЕТ": 1, "fails PARS": 1, "pars fails": 0,
	} {
		got, total, err := s.Sessions(t.Context(), 0, 10, query)
		if err != nil || len(got) != want || total != want {
			t.Errorf("search %q = %d of %d, %v; want %d", query, len(got), total, err, want)
		}
	}
}

func TestDeletedSessionIsHiddenUntilPurged(t *testing.T) {
	s := openTest(t)
	must(s.Append(t.Context(), key, user("x")))(t)
	must(s.UpdateSession(t.Context(), key, func(s *Session) { s.DeletedAt = 100 }))(t)
	if list := must2(s.Sessions(t.Context(), 0, 0, ""))(t); len(list) != 0 {
		t.Errorf("a deleted session is listed")
	}
	if n := must(s.PurgeDeleted(t.Context(), 100))(t); n != 0 {
		t.Errorf("purged %d before its time", n)
	}
	if n := must(s.PurgeDeleted(t.Context(), 101))(t); n != 1 {
		t.Errorf("purged %d, want 1", n)
	}
	var left int64
	s.r.Model(&messageRow{}).Count(&left)
	if left != 0 {
		t.Errorf("%d messages outlive their session: foreign keys are off", left)
	}
}

func TestCallEndsOnce(t *testing.T) {
	s := openTest(t)
	c := Call{Info: protocol.CallInfo{CallID: "c", RunID: "r", ToolCallID: "1", State: protocol.CallRunning, Tool: "Bash"}, CreatedAt: 1}
	if err := s.PutCall(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	done, late := c, c
	done.Info.State, done.ResultJSON, done.Info.EndedAt = protocol.CallUnknown, json.RawMessage(`"x"`), 9
	late.Info.State = protocol.CallDone
	if won := must(s.FinishCall(t.Context(), done))(t); !won {
		t.Error("the first end lost")
	}
	if won := must(s.FinishCall(t.Context(), late))(t); won {
		t.Error("a second end won")
	}
	if err := s.PutCall(t.Context(), c); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("an ended call was opened again: %v", err)
	}
	got := must(s.Call(t.Context(), "c"))(t)
	if got.Info.State != protocol.CallUnknown || string(got.ResultJSON) != `"x"` || got.Info.EndedAt != 9 {
		t.Errorf("call = %+v", got)
	}
	if open := must(s.OpenCalls(t.Context()))(t); len(open) != 0 {
		t.Errorf("%d calls are open", len(open))
	}
	bad := c
	bad.Info.CallID, bad.Info.State = "d", "finished"
	if err := s.PutCall(t.Context(), bad); err == nil {
		t.Error("a state that does not exist was stored")
	}
}

func TestFirstAnswerIsStored(t *testing.T) {
	s := openTest(t)
	a := protocol.Approval{ID: "a", State: protocol.ApprovalPending, CreatedAt: 1}
	if err := s.PutApproval(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	a.Shown = true
	if err := s.PutApproval(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if list := must(s.PendingApprovals(t.Context()))(t); len(list) != 1 || !list[0].Shown {
		t.Errorf("pending = %+v", list)
	}
	yes, no := a, a
	yes.State, no.State = protocol.ApprovalAllowed, protocol.ApprovalDenied
	var wg sync.WaitGroup
	var wins [2]bool
	for i, answer := range []protocol.Approval{yes, no} {
		wg.Go(func() { wins[i], _ = s.CloseApproval(context.Background(), answer) })
	}
	wg.Wait()
	if wins[0] == wins[1] {
		t.Errorf("wins = %v, want exactly one", wins)
	}
	a.Shown = false
	if err := s.PutApproval(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if got := must(s.Approval(t.Context(), "a"))(t); got.State == protocol.ApprovalPending {
		t.Error("an answered question was opened again")
	}
}

func TestRunAndItsMessageAreStoredTogether(t *testing.T) {
	s := openTest(t)
	r := Run{ID: "r", Session: key, State: protocol.RunThinking, Params: protocol.ChatSendParams{SessionKey: key, Message: "hi"}, CreatedAt: 1}
	m := must(s.StartRun(t.Context(), r, user("hi")))(t)
	if m.Seq != 1 || m.ID == "" {
		t.Errorf("message = %+v", m)
	}
	if open := must(s.OpenRuns(t.Context()))(t); len(open) != 1 || open[0].Params.Message != "hi" {
		t.Errorf("open runs = %+v", open)
	}
	r.EndedAt, r.State, r.Error = 2, protocol.RunFailed, protocol.ErrModel
	if err := s.PutRun(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if open := must(s.OpenRuns(t.Context()))(t); len(open) != 0 {
		t.Errorf("open runs = %+v", open)
	}
	if got := must(s.Run(t.Context(), "r"))(t); !errors.Is(got.Error, protocol.ErrModel) {
		t.Errorf("run = %+v", got)
	}
	if _, err := s.Run(t.Context(), "none"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("Run of nothing = %v", err)
	}
}

func TestSettingsGrantsAndNodesLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := must(Open(t.Context(), path))(t)
	for _, err := range []error{
		s.PutSetting(t.Context(), "a.b", json.RawMessage(`1`)), s.PutSetting(t.Context(), "a.b", json.RawMessage(`2`)),
		s.PutSetting(t.Context(), "c", json.RawMessage(`3`)), s.PutSetting(t.Context(), "c", nil),
		s.PutGrant(t.Context(), Grant{Session: key, Node: "n", Tool: "Bash", Match: "m", Words: "w", CreatedAt: 1}),
		s.PutNode(t.Context(), protocol.NodeInfo{ID: "n", Online: true}), s.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s = must(Open(t.Context(), path))(t)
	defer s.Close()
	if all := must(s.Settings(t.Context()))(t); len(all) != 1 || string(all["a.b"]) != "2" {
		t.Errorf("settings = %s", all)
	}
	if g := must(s.Grants(t.Context(), key))(t); len(g) != 1 || g[0].Match != "m" {
		t.Errorf("grants = %+v", g)
	}
	if err := s.DropGrants(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if g := must(s.Grants(t.Context(), key))(t); len(g) != 0 {
		t.Errorf("grants = %+v", g)
	}
	if n := must(s.Nodes(t.Context()))(t); len(n) != 1 || n[0].ID != "n" {
		t.Errorf("nodes = %+v", n)
	}
}

func TestNewerOrDamagedDatabaseIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new.db")
	s := must(Open(t.Context(), path))(t)
	s.w.Exec("PRAGMA user_version = 999")
	s.Close()
	if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("Open of a newer one = %v", err)
	}
	bad := filepath.Join(dir, "bad.db")
	content := strings.Repeat("this is no database ", 500)
	if err := os.WriteFile(bad, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), bad); !errors.Is(err, protocol.ErrStorage) || !strings.Contains(err.Error(), bad) {
		t.Errorf("Open of rubbish = %v", err)
	}
	if data, _ := os.ReadFile(bad); string(data) != content {
		t.Error("the damaged file was changed")
	}
}

func TestFullDiskSaysWhatToDoAndLosesNothing(t *testing.T) {
	s := openTest(t)
	must(s.Append(t.Context(), key, user("kept")))(t)
	var pages int
	s.w.Raw("PRAGMA page_count").Scan(&pages)
	s.w.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages+2))
	var err error
	for range 50 {
		if _, err = s.Append(t.Context(), key, user(strings.Repeat("x", 2000))); err != nil {
			break
		}
	}
	if !errors.Is(err, protocol.ErrStorage) || !strings.Contains(err.Error(), "full") {
		t.Fatalf("error = %v", err)
	}
	s.w.Exec("PRAGMA max_page_count = 1000000")
	must(s.Append(t.Context(), key, user("again")))(t)
	msgs := must(s.Messages(t.Context(), key, 0, 0))(t)
	for i, m := range msgs {
		if m.Seq != int64(i+1) {
			t.Fatalf("message %d has seq %d: a failed write left a gap", i, m.Seq)
		}
	}
	if msgs[0].Content.Text() != "kept" || msgs[len(msgs)-1].Content.Text() != "again" {
		t.Errorf("messages = %d", len(msgs))
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	a := must(Open(t.Context(), path))(t)
	defer a.Close()
	b := must(Open(t.Context(), path))(t) // as another process would
	defer b.Close()
	var wg sync.WaitGroup
	for i := range 8 {
		s := []*Store{a, b}[i%2]
		wg.Go(func() {
			for n := range 20 {
				if _, err := s.Append(context.Background(), key, user(fmt.Sprint(i, n))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := must(a.Session(t.Context(), key))(t).MessageCount; n != 160 {
		t.Errorf("%d messages, want 160", n)
	}
}

func TestTwoProcessesShareOneNewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fairlead.db")
	exe := must(os.Executable())(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), exe)
			cmd.Env = append(os.Environ(), childDB+"="+path, childCount+"=25")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	s := must(Open(t.Context(), path))(t)
	defer s.Close()
	if n := len(must(s.Messages(t.Context(), key, 0, 0))(t)); n != 100 {
		t.Errorf("%d messages, want 100", n)
	}
}

// childDB, when set, makes the test binary append messages to that database and print each number once it was acknowledged.
const childDB = "FAIRLEAD_STORE_TEST_DB"

// childCount, when set, is how many messages it appends; otherwise it goes on until it is killed.
const childCount = "FAIRLEAD_STORE_TEST_COUNT"

func TestMain(m *testing.M) {
	if path := os.Getenv(childDB); path != "" {
		var n int
		fmt.Sscan(os.Getenv(childCount), &n)
		s, err := Open(context.Background(), path)
		for i := 0; err == nil; i++ {
			if n > 0 && i == n {
				os.Exit(0)
			}
			var out []protocol.Message
			if out, err = s.Append(context.Background(), key, user(fmt.Sprint(i))); err == nil {
				fmt.Println(out[0].Seq)
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestKillLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fairlead.db")
	exe := must(os.Executable())(t)
	last := int64(0)
	for round := range 20 {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), childDB+"="+path)
		out := must(cmd.StdoutPipe())(t)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(30+rand.IntN(250))*time.Millisecond, func() { cmd.Process.Kill() })
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Sscan(lines.Text(), &last)
		}
		timer.Stop()
		cmd.Wait()
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		msgs, err := s.Messages(t.Context(), key, 0, 0)
		if err != nil && (last > 0 || !errors.Is(err, protocol.ErrNotFound)) {
			t.Fatalf("round %d: %v", round, err)
		}
		s.Close()
		if int64(len(msgs)) < last {
			t.Fatalf("round %d: %d messages are left of %d that were acknowledged", round, len(msgs), last)
		}
		for i, m := range msgs {
			if m.Seq != int64(i+1) {
				t.Fatalf("round %d: message %d is missing", round, i+1)
			}
		}
	}
	if last < 20 {
		t.Errorf("only %d messages were written: nothing is proved", last)
	}
}

func BenchmarkAppend(b *testing.B) {
	s := openTest(b)
	for b.Loop() {
		if _, err := s.Append(b.Context(), key, user("hello")); err != nil {
			b.Fatal(err)
		}
	}
}

// long makes a session of 100,000 messages.
func long(b *testing.B) *Store {
	s := openTest(b)
	batch := make([]protocol.Message, 5000)
	for i := range batch {
		batch[i] = user(strings.Repeat("word ", 40))
	}
	for range 20 {
		if _, err := s.Append(b.Context(), key, batch...); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

func BenchmarkPreview100Of100000(b *testing.B) {
	s := long(b)
	for b.Loop() {
		if m, err := s.Messages(b.Context(), key, 0, 100); err != nil || len(m) != 100 {
			b.Fatal(len(m), err)
		}
	}
}

func BenchmarkListOf2000Sessions(b *testing.B) {
	s := openTest(b)
	for i := range 2000 {
		if _, err := s.EnsureSession(b.Context(), protocol.SessionKey(fmt.Sprint("agent:main:app:chat:", i)), int64(i)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if l, _, err := s.Sessions(b.Context(), 0, 100, ""); err != nil || len(l) != 100 {
			b.Fatal(len(l), err)
		}
	}
}
