package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool/tooltest"
)

func TestRestartContinuesWithTheSameQuestion(t *testing.T) {
	for _, crash := range []bool{false, true} {
		g := start(t, llmtest.Say("Let me.").Call(bash, `{"command":"make"}`))
		res := g.send("Build it")
		second := g.send("And then?")
		third := g.send("And then that?")
		first := g.question()
		g.restart(crash, &tooltest.Machine{}, llmtest.Say("Built."), llmtest.Say("Rest."), llmtest.Say("More rest."))
		q := g.question()
		if q.ID != first.ID || q.Hash != first.Hash || q.RunID != res.RunID {
			t.Errorf("crash %v: got question %+v, want %+v", crash, q, first)
		}
		if len(g.tower.Calls()) != 0 {
			t.Error("it ran without an answer")
		}
		g.allow(q, "")
		for _, r := range []protocol.ChatSendResult{res, second, third} {
			if e := g.until(terminal).Chat; *e.RunID != r.RunID || e.State != protocol.ChatFinal {
				t.Errorf("crash %v: got %+v, want the end of %s", crash, e, r.RunID)
			}
		}
		g.check("user: Build it", "assistant: Let me. <call>", "toolResult: ok", "assistant: Built.", "user: And then?", "assistant: Rest.",
			"user: And then that?", "assistant: More rest.")
		if len(g.tower.Calls()) != 1 {
			t.Errorf("got %d calls, want 1", len(g.tower.Calls()))
		}
		g.checkNoUnfinishedRuns()
	}
}

func TestRestartAsksAgainWhetherToGoOn(t *testing.T) {
	for _, yes := range []bool{true, false} {
		g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
		g.cfg.Agent.MaxSteps = 1
		g.cfg.ToolApproval.DefaultDecision = "allow"
		g.open(llmtest.Call(bash, `{"command":"make"}`))
		res := g.send("Build it")
		first := g.question()
		if first.Kind != protocol.AskContinue {
			t.Fatalf("got %+v, want the question whether to continue", first)
		}
		g.restart(true, &tooltest.Machine{}, llmtest.Say("Built."))
		if q := g.question(); q.ID != first.ID || q.Kind != protocol.AskContinue {
			t.Errorf("got %+v, want the question %s again", q, first.ID)
		}
		word, want := "yes", protocol.ChatFinal
		if !yes {
			word, want = "no", protocol.ChatErrState
		}
		if answer := g.send(word); answer.Status != protocol.ChatPaused {
			t.Errorf("got %+v, want the question answered", answer)
		}
		if e := g.end(res.RunID); e.State != want {
			t.Errorf("got %+v, want %s", e, want)
		}
		g.checkNoUnfinishedRuns()
	}
}

func TestOwnCommandIsNotRunAgainAfterARestart(t *testing.T) {
	began := make(chan struct{}, 1)
	g := startWith(t, &tooltest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		began <- struct{}{}
		<-stop
		return nil, errors.New("stopped")
	}})
	own := g.send("!make")
	select {
	case <-began:
	case <-time.After(3 * time.Minute):
		t.Fatal("it did not begin")
	}
	g.restart(true, &tooltest.Machine{})
	g.end(own.RunID)
	if len(g.tower.Calls()) != 0 {
		t.Error("it ran again")
	}
	if w := g.words(chat); len(w) != 2 || !strings.Contains(w[1], "Unknown outcome") {
		t.Errorf("got %q, want an unknown outcome", w)
	}
	g.checkNoUnfinishedRuns()

	// Killed after the result was stored but before the run's end: nothing is published twice.
	run, err := g.store.Runs.Get(t.Context(), own.RunID)
	if err != nil {
		t.Fatal(err)
	}
	run.State, run.EndedAt = protocol.RunTools, 0
	if err := g.store.Runs.Put(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	g.restart(true, &tooltest.Machine{})
	g.end(own.RunID)
	if w := g.words(chat); len(w) != 2 {
		t.Errorf("got %q, want 2 messages", w)
	}
}

func TestALeftoverRunCanBeStoppedBeforeItContinues(t *testing.T) {
	g := start(t)
	own := store.Run{
		ID: "own", Session: chat, State: protocol.RunTools, Principal: directPrincipal + "owner ann", CreatedAt: 1, StartedAt: 1,
		Params: protocol.ChatSendParams{SessionKey: chat, Message: "!make", Node: "tower"},
	}
	said := protocol.Message{RunID: "own", Role: protocol.RoleUser, Origin: protocol.OriginDirect, Content: protocol.Content{protocol.Text("!make")}}
	if _, err := g.store.Runs.Start(t.Context(), own, said); err != nil {
		t.Fatal(err)
	}
	if err := g.sessions.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   protocol.RunID
		want bool
	}{{"", false}, {"own", true}, {"own", false}} {
		res, err := g.Cancel(t.Context(), protocol.ChatCancelParams{SessionKey: chat, RunID: c.id})
		if err != nil || res.Cancelled != c.want {
			t.Errorf("%q: got %+v, error %v, want cancelled %v", c.id, res, err, c.want)
		}
	}
	if e := g.end("own"); e.State != protocol.ChatErrState {
		t.Errorf("got %+v, want it failed", e)
	}
	g.checkNoUnfinishedRuns()
}

func TestOnlyRunsOfAnEarlierStartWaitForAMachine(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`))
	g.send("Build it")
	g.question()
	g.sessions.Close()
	for _, loads := range []bool{false, true} {
		waits := 0
		o := g.opts
		o.AwaitNode = func(ctx context.Context, id protocol.NodeID) error {
			if _, hasLimit := ctx.Deadline(); !hasLimit || id != "" {
				t.Errorf("got a wait for %q, limited %v, want one for any machine with a limit", id, hasLimit)
			}
			waits++
			return nil
		}
		m := New(o)
		if loads {
			if err := m.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		m.Resume(t.Context())
		m.Close()
		if got, want := waits == 1, loads; got != want {
			t.Errorf("runs loaded %v: got %d waits, want %v", loads, waits, want)
		}
	}
}
