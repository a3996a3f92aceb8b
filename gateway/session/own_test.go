package session

import (
	"testing"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

func TestOwnCommandRunsBesideARun(t *testing.T) {
	ready := make(chan struct{})
	g := start(t, llmtest.Say("one").Wait(ready))
	first := g.send("1")
	own := g.send("! ls -l")
	if own.Status != protocol.ChatStarted || own.Queued {
		t.Errorf("got %+v, want it started at once", own)
	}
	if e := g.end(own.RunID); e.State != protocol.ChatFinal {
		t.Errorf("got %+v, want its end", e)
	}
	close(ready)
	g.end(first.RunID)
	g.check("user: 1", "direct user: !ls -l", "direct toolResult: ok", "assistant: one")
	if inv := g.tower.Calls(); len(inv) != 1 || string(inv[0].Args) != `{"command":"ls -l"}` {
		t.Errorf("got %+v, want ls -l once", inv)
	}
	g.checkNoUnfinishedRuns()
}

func TestOwnCommandCanBeStopped(t *testing.T) {
	began := make(chan struct{}, 1)
	g := startWith(t, &tooltest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		began <- struct{}{}
		<-stop
		return map[string]any{"output": "half"}, nil
	}})
	own := g.send("!make")
	<-began
	if res, err := g.Cancel(t.Context(), protocol.ChatCancelParams{SessionKey: chat, RunID: own.RunID}); err != nil || !res.Cancelled {
		t.Errorf("got %+v, error %v, want it cancelled", res, err)
	}
	if e := g.end(own.RunID); e.State != protocol.ChatErrState {
		t.Errorf("got %+v, want it failed", e)
	}
	g.checkNoUnfinishedRuns()
}
