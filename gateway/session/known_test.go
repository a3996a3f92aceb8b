package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// storeFinishedCall stores a finished call of a chat.
func (g *gateway) storeFinishedCall(key protocol.SessionKey, tool, args, result string) protocol.CallID {
	g.t.Helper()
	c := store.Call{Info: protocol.CallInfo{
		CallID: protocol.NewCallID(), SessionKey: key, Node: "tower", Tool: tool, Effect: protocol.EffectExec, State: protocol.CallRunning, Args: json.RawMessage(args),
	}}
	if err := g.store.Calls.Put(g.t.Context(), c); err != nil {
		g.t.Fatal(err)
	}
	c.Info.State, c.Info.EndedAt, c.ResultJSON = protocol.CallDone, 1, json.RawMessage(result)
	if won, err := g.store.Calls.Finish(g.t.Context(), c); err != nil || !won {
		g.t.Fatalf("got won %v, error %v, want the call finished", won, err)
	}
	return c.Info.CallID
}

// TestAgentIsNotStartedForKnownEnds: several commands end after the chat has called Process.
func TestAgentIsNotStartedForKnownEnds(t *testing.T) {
	const other = protocol.SessionKey("agent:main:app:chat:other")
	const killed = `{"status":"running","sessionId":"p","message":"SIGKILL was sent."}`
	look := `{"action":"poll","sessionId":"p"}`
	for name, c := range map[string]struct {
		chat                protocol.SessionKey
		args, result, event string
		knows               bool
	}{
		"saw it fail":             {chat, look, `{"status":"failed","sessionId":"p","running":false}`, "", true},
		"saw it finish":           {chat, look, `{"status":"completed","sessionId":"p","running":false}`, protocol.ExecFinished, true},
		"read its log":            {chat, `{"action":"log"}`, `{"status":"timed_out","sessionId":"p","log":""}`, protocol.ExecTimedOut, true},
		"saw it in the list":      {chat, `{"action":"list"}`, `{"status":"completed","sessions":[{"sessionId":"q","status":"running"},{"sessionId":"p","status":"failed"}]}`, "", true},
		"killed it":               {chat, `{"action":" Kill ","sessionId":"p"}`, killed, "", true},
		"killed it too late":      {chat, `{"action":"kill","sessionId":"p"}`, killed, protocol.ExecFinished, false},
		"wrote to it":             {chat, `{"action":"write","sessionId":"p"}`, `{"status":"running","sessionId":"p","bytesWritten":1}`, "", false},
		"saw it run":              {chat, look, `{"status":"running","sessionId":"p","running":true}`, "", false},
		"saw it run in the list":  {chat, `{"action":"list"}`, `{"status":"completed","sessions":[{"sessionId":"p","status":"running"}]}`, "", false},
		"saw another end":         {chat, look, `{"status":"failed","sessionId":"q","running":false}`, "", false},
		"was refused":             {chat, `{"action":"kill","sessionId":"p"}`, `{"status":"failed","error":"Session p has already exited"}`, "", false},
		"has only a part":         {chat, `{"action":"list"}`, `{"truncated":true,"bytes":999,"preview":"{\"sessionId\":\"p\",\"status\":\"failed\"}"}`, "", false},
		"has something odd":       {chat, `[]`, `"failed"`, "", false},
		"another chat killed it":  {other, `{"action":"kill","sessionId":"p"}`, killed, "", false},
		"another chat saw it end": {other, look, `{"status":"failed","sessionId":"p","running":false}`, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := start(t, llmtest.Say("I see."))
			if _, err := g.store.Sessions.Ensure(t.Context(), chat, 1); err != nil {
				t.Fatal(err)
			}
			e := protocol.ExecCompletion{EventID: "1", NodeID: "tower", SessionID: "p", Event: protocol.ExecFailed, Command: "make"}
			if c.event != "" {
				e.Event = c.event
			}
			e.CallID = g.storeFinishedCall(chat, "Bash", `{"command":"make"}`, `{"status":"running","sessionId":"p"}`)
			g.storeFinishedCall(c.chat, "Process", c.args, c.result)
			if err := g.PostCompletion(t.Context(), chat, "reported", "", protocol.AskedBy{}, e); err != nil {
				t.Fatal(err)
			}
			g.end("reported")
			want := []string{"event user: " + e.Message(), "assistant: I see."}
			if c.knows {
				want = []string{fmt.Sprintf("%s assistant: %s", protocol.OriginNotice, e.Words("tower"))}
			}
			g.check(want...)
			if n := len(g.model.Requests()); (n == 0) != c.knows {
				t.Errorf("got %d requests, want one unless it is known: %v", n, c.knows)
			}
			g.checkNoUnfinishedRuns()
		})
	}
}

// The agent reads the end of the command while the event is queued. Then the run behind the event
// must start.
func TestEventThatItsAgentAlreadySawStartsNoRun(t *testing.T) {
	asked := make(chan struct{})
	g := start(t, llmtest.Step{}.Check(func(llm.Request) { close(asked) }).Hang(), llmtest.Say("Here."))
	first := g.send("Build it.").RunID
	<-asked // a run that is stopped before it asks the model leaves its answer to the next one
	e := protocol.ExecCompletion{EventID: "1", NodeID: "tower", SessionID: "p", Event: protocol.ExecFinished, Command: "make"}
	e.CallID = g.storeFinishedCall(chat, "Bash", `{"command":"make"}`, `{"status":"running","sessionId":"p"}`)
	if err := g.PostCompletion(t.Context(), chat, "reported", first, protocol.AskedBy{}, e); err != nil {
		t.Fatal(err)
	}
	last := g.send("Are you there?").RunID
	g.storeFinishedCall(chat, "Process", `{"action":"poll","sessionId":"p"}`, `{"status":"completed","sessionId":"p","running":false}`)
	if r, err := g.Cancel(t.Context(), protocol.ChatCancelParams{SessionKey: chat}); err != nil || r.RunID != first {
		t.Fatalf("got %+v, error %v, want %s cancelled", r, err, first)
	}
	g.end(last)
	words := g.words(chat)
	notice := slices.Index(words, protocol.OriginNotice+" assistant: "+e.Words("tower"))
	if answer := slices.Index(words, "assistant: Here."); notice < 0 || answer < notice || len(g.model.Requests()) != 2 {
		t.Errorf("got %d requests, %q, want 2, and the notice before the answer", len(g.model.Requests()), words)
	}
	g.checkNoUnfinishedRuns()
	if r, err := g.store.Runs.Get(t.Context(), "reported"); err != nil || r.State != protocol.RunDone || r.EndedAt == 0 {
		t.Errorf("got %+v, error %v, want it done", r, err)
	}
}
