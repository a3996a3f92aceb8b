package catalog

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

func TestObserveAsksNobodyAndNamesTheState(t *testing.T) {
	b := newBench(t)
	stat := json.RawMessage(`{"size":1}`)
	var failing error
	b.continued = func(tool.Step) (json.RawMessage, error) { return stat, failing }
	reader := app("a", protocol.ScopeFilesRead)
	observe := func() string {
		t.Helper()
		state, err := b.Observe(t.Context(), reader, "call1")
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	before := observe()
	if s := b.steps[0]; s.Call != "call1" || s.Args != nil || s.Principal.App != "a" {
		t.Errorf(`continued: got %+v; want Call "call1", no Args and Principal.App "a"`, s)
	}
	if observe() != before {
		t.Error("the state of an unchanged file differs")
	}
	stat = json.RawMessage(`{"entry":{"size":1},"duration_ms":1}`)
	timed := observe()
	if stat = json.RawMessage(`{"entry":{"size":1},"duration_ms":2}`); observe() != timed {
		t.Error("the state has the time that the call took")
	}
	stat = json.RawMessage(`{"size":2}`)
	changed := observe()
	failing = protocol.NewFault(protocol.FaultNotFound, "no such file")
	removed := observe()
	if before == changed || changed == removed {
		t.Errorf("got the states %q, then %q after a change and %q after the removal; want each to differ from the one before", before, changed, removed)
	}
	failing = tool.ErrNoCall
	if _, err := b.Observe(t.Context(), reader, "call1"); err == nil {
		t.Error("a call that does not exist is a state")
	}
	failing = protocol.ErrUnavailable
	if _, err := b.Observe(t.Context(), reader, "call1"); err == nil {
		t.Error("a machine that does not answer is a state")
	}
	if len(b.calls) != 0 {
		t.Errorf("the pipeline had %d calls, want none", len(b.calls))
	}
}
