package session

import (
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestPanicEndsOneRun(t *testing.T) {
	broken := llmtest.Step{}.Check(func(llm.Request) { panic("broken") })
	g := start(t, broken, llmtest.Say("Hello"))
	end := func(run protocol.RunID) protocol.RunInfo {
		return *g.until(func(c protocol.Change) bool { return c.Run != nil && c.Run.RunID == run && c.Run.Over() }).Run
	}
	first := end(g.send("one").RunID)
	if first.State != protocol.RunFailed || first.Error == nil || !strings.Contains(first.Error.Message, "internal error") {
		t.Errorf("the run that panics: got %s %+v, want failed", first.State, first.Error)
	}
	if second := end(g.send("two").RunID); second.State != protocol.RunDone {
		t.Errorf("the next run: got %s %+v, want done", second.State, second.Error)
	}
	if err := g.do(chat, func(*session) { panic("broken") }); err == nil {
		t.Error("a panic in the session: got no error")
	}
	if err := g.do(chat, func(*session) {}); err != nil {
		t.Errorf("after it: got error %v, want none", err)
	}
}
