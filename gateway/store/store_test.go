package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"fairlead/gateway/protocol"
)

const key protocol.SessionKey = "agent:main:main"

func openTest(t testing.TB) *DB {
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
		must(s.Messages.Append(t.Context(), key, user(fmt.Sprint("m", i))))(t)
	}
	last := must(s.Messages.List(t.Context(), key, 0, 10))(t)
	if len(last) != 10 || last[0].Content.Text() != "m15" || last[9].Seq != 25 {
		t.Fatalf("last page: got %v, want m15 to the last of 10", last)
	}
	before := must(s.Messages.List(t.Context(), key, last[0].Seq, 10))(t)
	if len(before) != 10 || before[9].Content.Text() != "m14" {
		t.Errorf("page before: got %v, want 10 up to m14", before)
	}
	if all := must(s.Messages.List(t.Context(), key, 0, 0))(t); len(all) != 25 {
		t.Errorf("got %d messages, want 25", len(all))
	}
	ses := must(s.Sessions.Get(t.Context(), key))(t)
	if ses.MessageCount != 25 || ses.FirstText != "m0" || ses.Agent != "main" {
		t.Errorf("got session %+v, want 25 messages from m0 on", ses)
	}
}

func TestUsageAddsUp(t *testing.T) {
	s := openTest(t)
	cost := 0.25
	for range 2 {
		must(s.Messages.Append(t.Context(), key, protocol.Message{Role: protocol.RoleAssistant, Usage: &protocol.Usage{Input: 10, Output: 5, Total: 15, Cost: &cost}}))(t)
	}
	ses := must(s.Sessions.Get(t.Context(), key))(t)
	if ses.Usage.Total != 30 || *ses.Usage.Cost != 0.5 || ses.ContextTokens != 15 {
		t.Errorf("got usage %+v, context %d, want 30 tokens, cost 0.5, context 15", ses.Usage, ses.ContextTokens)
	}
}

func TestResetKeepsTheOldMessages(t *testing.T) {
	s := openTest(t)
	must(s.Messages.Append(t.Context(), key, user("old")))(t)
	old, archived, err := s.Archives.Reset(t.Context(), key, "second", 5)
	if err != nil || archived.Messages != 1 || old.MessageCount != 1 {
		t.Fatalf("got %+v, archived %v, error %v, want one archived message", old, archived, err)
	}
	must(s.Messages.Append(t.Context(), key, user("new")))(t)
	msgs := must(s.Messages.List(t.Context(), key, 0, 0))(t)
	if len(msgs) != 1 || msgs[0].Content.Text() != "new" || msgs[0].Seq != 1 {
		t.Errorf("got messages %v after the reset, want new", msgs)
	}
	ses := must(s.Sessions.Get(t.Context(), key))(t)
	if ses.ID != "second" || len(ses.Previous) != 1 || ses.Previous[0] != old.ID || ses.LastResetAt != 5 {
		t.Errorf("got session %+v, want second, after %s", ses, old.ID)
	}
	if found, _ := findAll(t, s, "old", 10); len(found) != 1 {
		t.Errorf("search in the archive: got %d hits, want 1", len(found))
	}
}

func must2[T any](v T, _ int, err error) func(testing.TB) T { return must(v, err) }

func TestSearchFindsLabelsAndMessages(t *testing.T) {
	s := openTest(t)
	must(s.Messages.Append(t.Context(), "agent:main:app:chat:1", user("The PARSER fails at 100%")))(t)
	must(s.Messages.Append(t.Context(), "agent:main:app:chat:2", user("photos")))(t)
	must(s.Sessions.Update(t.Context(), "agent:main:app:chat:2", func(s *Session) { s.Label = "Holiday" }))(t)
	must(s.Messages.Append(t.Context(), "agent:main:app:chat:2", user("Die GRÖßE stimmt, Привет")))(t)
	for query, want := range map[string]int{
		"parser": 1, "holi": 1, "100%": 1, "101": 0, "%": 1, "_": 0, "nothing": 0,
		"größe": 1, "GRÖSSE": 0, "ПРИВЕТ": 1, "fails PARS": 1, "pars fails": 0,
	} {
		t.Run(query, func(t *testing.T) {
			if got, _ := findAll(t, s, query, 10); len(got) != want {
				t.Errorf("search %q = %v; want %d", query, got, want)
			}
		})
	}
}

func TestDeletedSessionIsHiddenUntilPurged(t *testing.T) {
	s := openTest(t)
	must(s.Messages.Append(t.Context(), key, user("x")))(t)
	must(s.Sessions.Update(t.Context(), key, func(s *Session) { s.DeletedAt = 100 }))(t)
	if list := must2(s.Sessions.List(t.Context(), 0, 0))(t); len(list) != 0 {
		t.Errorf("after the deletion: got sessions %+v, want none", list)
	}
	if n := must(s.Sessions.PurgeDeleted(t.Context(), 100))(t); n != 0 {
		t.Errorf("got %d purged chats before their time, want none", n)
	}
	if n := must(s.Sessions.PurgeDeleted(t.Context(), 101))(t); n != 1 {
		t.Errorf("purged %d, want 1", n)
	}
	var left int64
	s.reader.Model(&messageRow{}).Count(&left)
	if left != 0 {
		t.Errorf("got %d messages without their session, want none", left)
	}
}

func TestCallEndsOnce(t *testing.T) {
	s := openTest(t)
	c := Call{Info: protocol.CallInfo{CallID: "c", RunID: "r", ToolCallID: "1", State: protocol.CallRunning, Tool: "Bash"}, CreatedAt: 1}
	if err := s.Calls.Put(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	done, late := c, c
	done.Info.State, done.ResultJSON, done.Info.EndedAt = protocol.CallUnknown, json.RawMessage(`"x"`), 9
	late.Info.State = protocol.CallDone
	if won := must(s.Calls.Finish(t.Context(), done))(t); !won {
		t.Error("the first end lost")
	}
	if won := must(s.Calls.Finish(t.Context(), late))(t); won {
		t.Error("a second end won")
	}
	if err := s.Calls.Put(t.Context(), c); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("opening an ended call again: got error %v, want ErrConflict", err)
	}
	got := must(s.Calls.Get(t.Context(), "c"))(t)
	if got.Info.State != protocol.CallUnknown || string(got.ResultJSON) != `"x"` || got.Info.EndedAt != 9 {
		t.Errorf("got call %+v, want one with an unknown end at 9", got)
	}
	if open := must(s.Calls.Open(t.Context()))(t); len(open) != 0 {
		t.Errorf("got %d open calls, want none", len(open))
	}
	bad := c
	bad.Info.CallID, bad.Info.State = "d", "finished"
	if err := s.Calls.Put(t.Context(), bad); err == nil {
		t.Error("a state that does not exist was stored")
	}
}

func TestFirstAnswerIsStored(t *testing.T) {
	s := openTest(t)
	a := protocol.Question{ID: "a", State: protocol.QuestionPending, CreatedAt: 1}
	if err := s.Questions.Put(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
	a.Shown = true
	if err := s.Questions.Put(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
	if list := must(s.Questions.Pending(t.Context()))(t); len(list) != 1 || !list[0].Shown {
		t.Errorf("got %+v, want one pending question that was shown", list)
	}
	yes, no := a, a
	yes.State, no.State = protocol.QuestionAllowed, protocol.QuestionDenied
	var wg sync.WaitGroup
	var wins [2]bool
	for i, answer := range []protocol.Question{yes, no} {
		wg.Go(func() {
			_, wins[i], _ = s.Questions.Change(context.Background(), "a", func(now *protocol.Question) bool { *now = answer; return true })
		})
	}
	wg.Wait()
	if wins[0] == wins[1] {
		t.Errorf("wins = %v, want exactly one", wins)
	}
	a.Shown = false
	if err := s.Questions.Put(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
	if got := must(s.Questions.Get(t.Context(), "a"))(t); got.State == protocol.QuestionPending {
		t.Error("an answered question was opened again")
	}
}

func TestRunAndItsMessageAreStoredTogether(t *testing.T) {
	s := openTest(t)
	r := Run{ID: "r", Session: key, State: protocol.RunThinking, Params: protocol.ChatSendParams{SessionKey: key, Message: "hi"}, CreatedAt: 1}
	m := must(s.Runs.Start(t.Context(), r, user("hi")))(t)
	if m.Seq != 1 || m.ID == "" {
		t.Errorf("got message %+v, want the first, with an ID", m)
	}
	if open := must(s.Runs.Unfinished(t.Context()))(t); len(open) != 1 || open[0].Params.Message != "hi" {
		t.Errorf("got unfinished runs %+v, want the one with hi", open)
	}
	r.EndedAt, r.State, r.Error = 2, protocol.RunFailed, protocol.ErrModel
	if err := s.Runs.Put(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if open := must(s.Runs.Unfinished(t.Context()))(t); len(open) != 0 {
		t.Errorf("got unfinished runs %+v, want none", open)
	}
	if got := must(s.Runs.Get(t.Context(), "r"))(t); !errors.Is(got.Error, protocol.ErrModel) {
		t.Errorf("got run %+v, want a model error", got)
	}
	if _, err := s.Runs.Get(t.Context(), "none"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("a missing run: got error %v, want %v", err, protocol.ErrNotFound)
	}
}

func TestSettingsGrantsAndNodesLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := must(Open(t.Context(), path))(t)
	put := func(key string, value json.RawMessage) error {
		return s.Settings.Put(t.Context(), map[string]json.RawMessage{key: value})
	}
	for _, err := range []error{
		put("a.b", json.RawMessage(`1`)), put("a.b", json.RawMessage(`2`)),
		put("c", json.RawMessage(`3`)), put("c", nil),
		s.Grants.Put(t.Context(), Grant{Session: key, Node: "n", Tool: "Bash", Match: "m", Words: "w", CreatedAt: 1}),
		s.Grants.Put(t.Context(), Grant{Session: key, Node: "n", Tool: "Bash", Match: "m", Words: "w", CreatedAt: 2}), // the same, from another answer
		s.Nodes.Put(t.Context(), protocol.NodeInfo{ID: "n", Online: true}), s.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s = must(Open(t.Context(), path))(t)
	defer s.Close()
	if all := must(s.Settings.All(t.Context()))(t); len(all) != 1 || string(all["a.b"]) != "2" {
		t.Errorf("got settings %s, want a.b=2", all)
	}
	if g := must(s.Grants.List(t.Context(), key))(t); len(g) != 1 || g[0].Match != "m" {
		t.Errorf("got grants %+v, want m", g)
	}
	must(s.Sessions.Ensure(t.Context(), key, 1))(t)
	if _, _, err := s.Archives.Reset(t.Context(), key, "next", 9); err != nil {
		t.Fatal(err)
	}
	if g := must(s.Grants.List(t.Context(), key))(t); len(g) != 0 {
		t.Errorf("got grants %+v, want none", g)
	}
	if n := must(s.Nodes.List(t.Context()))(t); len(n) != 1 || n[0].ID != "n" {
		t.Errorf("got nodes %+v, want n", n)
	}
}

func TestStoppedCallsAreThoseOfOneMachine(t *testing.T) {
	s := openTest(t)
	for id, c := range map[protocol.CallID]struct {
		node  protocol.NodeID
		state string
	}{"stopped": {"n", protocol.CallCancelled}, "done": {"n", protocol.CallDone}, "nobody knows": {"n", protocol.CallUnknown}, "elsewhere": {"m", protocol.CallCancelled}} {
		call := Call{Info: protocol.CallInfo{CallID: id, Node: c.node, State: protocol.CallRunning, Tool: "Bash"}, CreatedAt: 1}
		if err := s.Calls.Put(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		call.Info.State = c.state
		if !must(s.Calls.Finish(t.Context(), call))(t) {
			t.Fatal("it had ended")
		}
	}
	got := must(s.Nodes.StoppedCalls(t.Context(), "n", []protocol.CallID{"stopped", "done", "nobody knows", "elsewhere", "never made"}))(t)
	if !slices.Equal(got, []protocol.CallID{"stopped"}) {
		t.Errorf("got %v, want stopped", got)
	}
}
