package session

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

func TestResetArchivesAndDropsGrants(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Built."))
	res := g.send("Build it")
	g.allow(g.question(), protocol.ScopeSession)
	g.end(res.RunID)
	if grants, _ := g.store.Grants.List(t.Context(), chat); len(grants) != 1 {
		t.Fatalf("got grants %+v, want one", grants)
	}
	out, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: "main"})
	if err != nil || !out.OK || out.SessionKey != chat || out.ArchivedMessages != 4 || out.OldSessionID == out.NewSessionID || out.TokensCleared.Total == 0 {
		t.Errorf("got %+v, error %v, want 4 archived messages and a new session", out, err)
	}
	raw := g.archived(out.ArchivedTo)
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	var first protocol.Message
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || len(lines) != 4 || first.Content.Text() != "Build it" {
		t.Errorf("got %q, error %v, want 4 lines from Build it on", raw, err)
	}
	if grants, _ := g.store.Grants.List(t.Context(), chat); len(grants) != 0 {
		t.Errorf("got grants %+v, want none", grants)
	}
	g.check()
	h, err := g.SessionIDs(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil || h.CurrentSessionID != out.NewSessionID || !slices.Equal(h.PreviousSessionIDs, []protocol.SessionID{out.OldSessionID}) {
		t.Errorf("got %+v, error %v, want %s after %s", h, err, out.NewSessionID, out.OldSessionID)
	}
}

func TestResetStopsAllRuns(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`))
	first, second := g.send("1"), g.send("2")
	g.question()
	if res := g.send("/reset"); res.Status != protocol.ChatCommand || res.Command != "reset" || res.Error != "" {
		t.Errorf("got %+v, want the command reset", res)
	}
	states := map[protocol.RunID]string{}
	for len(states) < 2 {
		e := g.until(terminal).Chat
		states[*e.RunID] = e.State
	}
	if states[first.RunID] != protocol.ChatErrState || states[second.RunID] != protocol.ChatErrState {
		t.Errorf("got %+v, want both runs failed", states)
	}
	g.check()
	g.checkNoUnfinishedRuns()
}

func TestMessageDuringAResetStartsAfterIt(t *testing.T) {
	g := start(t, llmtest.Say("Hello."))
	if err := g.stopAndBlock(t.Context(), chat); err != nil {
		t.Fatal(err)
	}
	if err := g.stopAndBlock(t.Context(), chat); err != nil { // a second reset at the same time
		t.Fatal(err)
	}
	res := g.send("hello")
	g.unblock(chat)
	if !res.Queued || len(g.model.Requests()) != 0 {
		t.Errorf("during a reset: got %+v, want it queued", res)
	}
	st, err := g.Stats(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil || st.IsProcessing {
		t.Errorf("after one of two resets: got %+v, error %v, want nothing running", st, err)
	}
	g.unblock(chat)
	g.end(res.RunID)
}

func TestDeletedChatComesBack(t *testing.T) {
	g := start(t, llmtest.Say("Hello."))
	e, err := g.Create(t.Context(), protocol.SessionCreateParams{Label: "Garden"})
	if err != nil {
		t.Fatal(err)
	}
	key := protocol.SessionParams{SessionKey: e.SessionKey}
	if _, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: e.SessionKey, Message: "Hi"}); err != nil {
		t.Fatal(err)
	}
	g.until(terminal)
	del, err := g.Delete(t.Context(), key)
	if err != nil || !del.OK || del.UndoUntil == 0 {
		t.Fatalf("got %+v, error %v, want it deleted, with a time to undo", del, err)
	}
	if list, err := g.List(t.Context(), protocol.SessionsListParams{}); err != nil || list.Count != 0 {
		t.Errorf("got %+v, error %v, want no chats", list, err)
	}
	if _, err := g.Restore(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	list, err := g.List(t.Context(), protocol.SessionsListParams{})
	if err != nil || list.Count != 1 || list.Sessions[0].Title != "Garden" || list.Sessions[0].MessageCount != 2 {
		t.Errorf("got %+v, error %v, want the chat Garden with 2 messages", list, err)
	}
	if _, err := g.Restore(t.Context(), protocol.SessionParams{SessionKey: "agent:main:app:chat:gone"}); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("got %v; want the error protocol.ErrNotFound", err)
	}
	if _, err := g.Delete(t.Context(), protocol.SessionParams{SessionKey: "agent:main:app:chat:gone"}); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("got %v; want the error protocol.ErrNotFound", err)
	}
}

func TestQuestionsComeInTheOrderOfTheCalls(t *testing.T) {
	var previews atomic.Int32
	m := &tooltest.Machine{Preview: func(inv protocol.ToolInvoke) protocol.CallPreview {
		if strings.Contains(string(inv.Args), "first") {
			previews.Add(1)
			time.Sleep(50 * time.Millisecond) // the other machine is slow
		}
		return protocol.CallPreview{}
	}}
	g := startWith(t, m, llmtest.Call(bash, `{"command":"first"}`).Call(bash, `{"command":"second"}`).Call(bash, `{"command":"third"}`))
	g.send("Do three things")
	for _, want := range []string{"first", "second", "third"} {
		if q := g.question(); !strings.Contains(string(q.Args), want) {
			t.Errorf("got question %s, want %s", q.Args, want)
		}
	}
	if previews.Load() == 0 {
		t.Error("nothing was slow: nothing is proved")
	}
}
