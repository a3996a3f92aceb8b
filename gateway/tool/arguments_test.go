package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

func TestConvertedArgumentsAreShownAndStored(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	c := command("a", "make")
	c.Args = json.RawMessage(`{"command":"make","timeout":"5000"}`)
	const want = `{"command":"make","timeout":5000}`
	sub := g.bus.Subscribe()
	defer sub.Close()
	end := g.runInBackground(t.Context(), c)
	q := g.question(sub)
	g.answer(q, protocol.DecisionAllow, "", "")
	if e := waitResult(t, end); e.err != nil || e.IsError {
		t.Fatalf("the call failed: got %+v, want its result", e)
	}
	for what, got := range map[string]json.RawMessage{"question": q.Args, "machine": g.tower.Calls()[0].Args, "journal": g.storedCall("a").Info.Args} {
		if string(got) != want {
			t.Errorf("arguments in the %s: got %s, want %s", what, got, want)
		}
	}
}

func TestModelReadsNoEscapes(t *testing.T) {
	g := start(t, &tooltest.Machine{Run: func(protocol.ToolInvoke, <-chan struct{}) (any, error) {
		return json.RawMessage(`{"output":"\u003cb\u003e \u0026"}`), nil
	}})
	if got := g.ask(command("a", "make"), protocol.DecisionAllow, "", "").Content.Text(); !strings.Contains(got, "<b> &") {
		t.Errorf("text for the model: got %s, want it without escapes", got)
	}
}
