package tool_test

import (
	"errors"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

// report starts a call of the tower and delivers its result. It returns the wait for the
// confirmation, and the end of the call.
func report(g *gateway, began chan struct{}) (confirmed <-chan error, end <-chan callResult) {
	g.t.Helper()
	end = g.runInBackground(g.t.Context(), command("a", "make"))
	waitResult(g.t, began)
	await, out := g.AwaitStored("a"), make(chan error, 1)
	if ack, err := g.hub.Calls.Result("tower", protocol.ToolResultParams{CallID: "a", Result: done("all of it")}); err != nil || ack.Dropped {
		g.t.Fatalf("result: got %+v, %v, want it accepted", ack, err)
	}
	go func() { out <- await(g.t.Context()) }()
	return out, end
}

func startSilent(t *testing.T) (*gateway, chan struct{}) {
	m, began := silentMachine()
	g := start(t, m)
	g.cfg.ToolApproval.DefaultDecision = "allow"
	return g, began
}

func TestResultIsConfirmedOnceItIsStored(t *testing.T) {
	g, began := startSilent(t)
	isStoring, mayStore := make(chan struct{}), make(chan struct{})
	g.finish = func() error {
		close(isStoring)
		<-mayStore
		return nil
	}
	confirmed, end := report(g, began)
	waitResult(t, isStoring)
	select {
	case err := <-confirmed:
		t.Errorf("confirmed with %v before it is stored", err)
	default:
	}
	if state := g.storedCall("a").Info.State; state != protocol.CallRunning {
		t.Errorf("stored state: got %s, want %s", state, protocol.CallRunning)
	}
	close(mayStore)
	if err := waitResult(t, confirmed); err != nil {
		t.Errorf("confirmation: got %v, want none", err)
	}
	if state := g.storedCall("a").Info.State; state != protocol.CallDone {
		t.Errorf("stored state: got %s, want %s", state, protocol.CallDone)
	}
	waitResult(t, end)
}

func TestResultThatIsNotStoredIsReportedAgain(t *testing.T) {
	g, began := startSilent(t)
	g.finish = func() error { return errors.New("the test refuses this") }
	confirmed, end := report(g, began)
	if err := waitResult(t, confirmed); !errors.Is(err, protocol.ErrUnavailable) {
		t.Errorf("confirmation: got %v, want unavailable", err)
	}
	if e := waitResult(t, end); e.err != nil || e.Info.State != protocol.CallDone {
		t.Errorf("the call: got %s, %v, want it done", e.Info.State, e.err)
	}
	again := protocol.ToolResultParams{CallID: "a", Result: done("all of it")}
	if _, err := g.AcceptLateResult(t.Context(), "tower", again); !errors.Is(err, protocol.ErrUnavailable) {
		t.Errorf("the second report: got %v, want unavailable", err)
	}
	g.finish = nil
	tooltest.Attach(t, g.hub, &tooltest.Machine{ID: "desk"})
	if _, err := g.AcceptLateResult(t.Context(), "desk", again); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("the report of another machine: got %v, want forbidden", err)
	}
	if res, err := g.AcceptLateResult(t.Context(), "tower", again); err != nil || res != nil {
		t.Errorf("the third report: got %+v, %v, want it accepted without a message", res, err)
	}
	if row := g.storedCall("a"); row.Info.State != protocol.CallDone || string(row.ResultJSON) != string(again.Result) {
		t.Errorf("stored: got %s, %s, want the result", row.Info.State, row.ResultJSON)
	}
	if _, err := g.AcceptLateResult(t.Context(), "tower", again); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("a duplicate: got %v, want not found", err)
	}
}
