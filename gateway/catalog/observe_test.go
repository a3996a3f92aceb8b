package catalog

import (
	"encoding/json"
	"errors"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

func TestObserveAsksNobodyAndNamesTheState(t *testing.T) {
	b := newBench(t)
	stat := json.RawMessage(`{"size":1}`)
	var failing error
	b.continued = func(protocol.ToolInvoke) (json.RawMessage, error) { return stat, failing }
	reader := app("a", protocol.ScopeFilesRead)
	observe := func() string {
		t.Helper()
		state, err := b.Observe(t.Context(), reader, "nas", "/x")
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	before := observe()
	if c := b.resume[0]; c.Tool != "fs_stat" || string(c.Args) != `{"path":"/x"}` || c.Direct {
		t.Errorf("the machine was asked %+v", c)
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
		t.Errorf("the states are %q, then %q after a change and %q after the removal", before, changed, removed)
	}
	failing = protocol.ErrUnavailable
	if _, err := b.Observe(t.Context(), reader, "nas", "/x"); err == nil {
		t.Error("a machine that does not answer is a state")
	}
	if len(b.calls) != 0 {
		t.Errorf("the pipeline had %d calls", len(b.calls))
	}
}

func TestObserveNeedsTheRightsOfALook(t *testing.T) {
	b := newBench(t)
	limited := app("a", protocol.ScopeFilesRead)
	limited.Nodes = []protocol.NodeID{"nas"}
	for _, c := range []struct {
		name    string
		who     auth.Principal
		machine string
		want    protocol.FaultCode
	}{
		{"no scope", app("a", protocol.ScopeShell), "nas", protocol.FaultForbidden},
		{"another machine", limited, "laptop", protocol.FaultTargetNotFound},
		{"an offline machine", app("a"), "old", protocol.FaultTargetUnreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.Observe(t.Context(), c.who, c.machine, "/x")
			if f, _ := errors.AsType[*protocol.Fault](err); f == nil || f.Code != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if len(b.resume) != 0 {
		t.Errorf("machines were asked %d times", len(b.resume))
	}
}
