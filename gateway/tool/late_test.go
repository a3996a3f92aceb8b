package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
)

// silentMachine returns a machine that starts calls and reports nothing about them until the test
// ends.
func silentMachine() (m *tooltest.Machine, began chan struct{}) {
	began = make(chan struct{}, 1)
	return &tooltest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		began <- struct{}{}
		<-stop
		return nil, errors.New("stopped")
	}}, began
}

// restartDuringCall restarts a gateway that was killed during a call of the command.
func restartDuringCall(t *testing.T, c tool.Call, m *tooltest.Machine) *gateway {
	first, began := silentMachine()
	g := start(t, first)
	g.cfg.ToolApproval.DefaultDecision = "allow"
	ctx, cancel := context.WithCancel(t.Context())
	end := g.runInBackground(ctx, c)
	waitResult(t, began)
	g.restart(m)
	cancel()
	waitResult(t, end)
	return g
}

func done(text string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"status": "completed", "exitCode": 0, "output": text})
	return raw
}

func TestACallContinuesAfterARestart(t *testing.T) {
	c := command("a", "make")
	g := restartDuringCall(t, c, nil)
	if _, err := g.AcceptLateResult(t.Context(), "tower", protocol.ToolResultParams{CallID: "a", Result: done("too early")}); !errors.Is(err, protocol.ErrUnavailable) {
		t.Errorf("a result before its run is taken up: %v", err)
	}
	sub := g.bus.Subscribe()
	defer sub.Close()
	started := make(chan struct{})
	c.OnStart = func() { close(started) }
	end := g.runInBackground(t.Context(), c)
	waitResult(t, started) // the run's other calls do not wait for it
	g.tower = tooltest.Attach(t, g.hub, &tooltest.Machine{ID: "tower", Has: []protocol.CallID{"a"}})
	for {
		_, err := g.hub.Calls.Result("tower", protocol.ToolResultParams{CallID: "a", Result: done("all of it")})
		if err == nil {
			break
		}
		if !errors.Is(err, protocol.ErrNotFound) {
			t.Fatalf("got %v; want the error protocol.ErrNotFound", err)
		}
	}
	e := waitResult(t, end)
	if e.err != nil || e.Info.State != protocol.CallDone || !strings.Contains(e.Content.Text(), "all of it") || len(g.tower.Calls()) != 0 {
		t.Errorf(`got %+v; want no error, e.Info.State CallDone, "all of it" in e.Content.Text and no g.tower.Calls`, e)
	}
	if row := g.storedCall("a"); row.Info.State != protocol.CallDone || row.Info.ExitCode == nil || row.IdempotencyKey == "" {
		t.Errorf("got %+v; want Info.State CallDone, a Info.ExitCode and some IdempotencyKey", row)
	}
}

func TestACallThatItsMachineForgotIsUnknownAfterARestart(t *testing.T) {
	g := restartDuringCall(t, command("a", "make"), &tooltest.Machine{Has: []protocol.CallID{"another"}})
	if res := g.mustRun(command("a", "make")); res.Info.State != protocol.CallUnknown || !strings.Contains(res.Content.Text(), "Unknown outcome") {
		t.Errorf(`got %+v; want Info.State CallUnknown and "Unknown outcome" in Content.Text`, res)
	}
	if len(g.tower.Calls()) != 0 {
		t.Error("it was begun again")
	}
}

func TestQuittingLeavesACallToTheNextStart(t *testing.T) {
	c := command("a", "make")
	g := restartDuringCall(t, c, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	c.OnStart = func() { cancel(tool.ErrSuspended) }
	if e := waitResult(t, g.runInBackground(ctx, c)); !errors.Is(e.err, tool.ErrSuspended) {
		t.Errorf("got %+v; want error ErrSuspended", e)
	}
	if row := g.storedCall("a"); row.Info.State != protocol.CallRunning {
		t.Errorf("got %+v; want Info.State CallRunning", row.Info)
	}
}

func TestUnknownOutcomeBecomesKnownWhenItsMachineReports(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     protocol.ToolResultParams
		state string
		want  string
	}{
		{"done", protocol.ToolResultParams{Result: done("built")}, protocol.CallDone, "built"},
		{"failed", protocol.ToolResultParams{Error: "no such program"}, protocol.CallFailed, "no such program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, began := silentMachine()
			g := start(t, m)
			g.cfg.ToolApproval.DefaultDecision = "allow"
			end := g.runInBackground(t.Context(), command("a", "make"))
			waitResult(t, began)
			m.Detach()
			if e := waitResult(t, end); e.Info.State != protocol.CallUnknown {
				t.Fatalf("got %+v; want Info.State CallUnknown", e)
			}
			c.p.CallID = "a"
			if _, err := g.AcceptLateResult(t.Context(), "desk", c.p); !errors.Is(err, protocol.ErrForbidden) {
				t.Errorf("%s: from another machine: %v", c.name, err)
			}
			res, err := g.AcceptLateResult(t.Context(), "tower", c.p)
			if err != nil || res.Info.State != c.state || res.Info.SessionKey != chat || !strings.Contains(res.Content.Text(), "was unknown") ||
				!strings.Contains(res.Content.Text(), c.want) || res.IsError != (c.state == protocol.CallFailed) {
				t.Errorf(`%s: got %+v, %v; want no error, res.Info.State %v, res.Info.SessionKey %v, "was unknown" in res.Content.Text, %v in res.Content.Text and res.IsError %v`, c.name, res, err, c.state, chat, c.want, c.state == protocol.CallFailed)
			}
			if row := g.storedCall("a"); row.Info.State != c.state || row.Info.EndedAt == 0 {
				t.Errorf("%s: got %+v; want Info.State %v and Info.EndedAt other than 0", c.name, row, c.state)
			}
			lines, _, err := g.store.Audit.List(t.Context(), protocol.AuditListParams{Limit: 10})
			if err != nil || len(lines) != 2 || lines[0].State != c.state || !strings.Contains(lines[0].Why, "was unknown") {
				t.Errorf(`%s: audit %+v, %v; want no error, length 2, lines[0].State %v and "was unknown" in lines[0].Why`, c.name, lines, err, c.state)
			}
			for _, id := range []protocol.CallID{"a", "never made"} {
				c.p.CallID = id
				if _, err := g.AcceptLateResult(t.Context(), "tower", c.p); !errors.Is(err, protocol.ErrNotFound) {
					t.Errorf("%s: %s again: %v, want error ErrNotFound", c.name, id, err)
				}
			}
		})
	}
}

func TestASilentMachineLeavesATimedOutCallUnknown(t *testing.T) {
	quiet := make(chan struct{})
	g := start(t, &tooltest.Machine{Run: func(protocol.ToolInvoke, <-chan struct{}) (any, error) {
		<-quiet
		return nil, nil
	}})
	t.Cleanup(func() { close(quiet) })
	g.cfg.ToolApproval.DefaultDecision = "allow"
	g.cfg.Timeouts.Tool = 30
	res := g.mustRun(command("a", "make"))
	if res.Info.State != protocol.CallUnknown || !strings.Contains(res.Content.Text(), "took longer than 30 ms") || !strings.Contains(res.Content.Text(), "do not repeat it without checking") {
		t.Errorf("got %+v; want an unknown result after 30 milliseconds", res)
	}
	if f := res.Info.Fault; f == nil || f.Code != protocol.FaultTimeout || f.Retryable {
		t.Errorf("got the fault %+v, want a time-out that must not be tried again", f)
	}
	if row := g.storedCall("a"); row.Info.State != protocol.CallUnknown {
		t.Errorf("got %+v; want Info.State CallUnknown", row.Info)
	}
}
