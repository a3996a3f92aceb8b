package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
)

func TestJournalKnowsACallBeforeTheMachineDoes(t *testing.T) {
	m := &tooltest.Machine{}
	g := start(t, m)
	var before store.Call
	m.Run = func(inv protocol.ToolInvoke, _ <-chan struct{}) (any, error) {
		before = g.storedCall(inv.CallID)
		return map[string]any{"status": "completed", "exitCode": 0}, nil
	}
	res := g.ask(command("a", "make"), protocol.DecisionAllow, "", "")
	if before.Info.State != protocol.CallRunning || before.Info.StartedAt == 0 || before.Principal == "" || before.IdempotencyKey == "" {
		t.Errorf("when the machine was told, the journal had %+v", before)
	}
	after := g.storedCall("a")
	if res.IsError || after.Info.State != protocol.CallDone || *after.Info.ExitCode != 0 || after.Info.EndedAt == 0 {
		t.Errorf("got %+v\n%+v; want not res.IsError, after.Info.State CallDone, after.Info.ExitCode 0 and after.Info.EndedAt other than 0", res, after)
	}
	if inv := m.Calls()[0]; inv.IdempotencyKey != after.IdempotencyKey || inv.Tool != "Bash" || inv.SessionKey != chat || inv.RunID != "run" {
		t.Errorf(`got %+v; want inv.IdempotencyKey %v, inv.Tool "Bash", inv.SessionKey %v and inv.RunID "run"`, inv, after.IdempotencyKey, chat)
	}
}

func TestTheMachineKnowsThePersonsOwnCommand(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.ask(command("agent", "git status"), protocol.DecisionAllow, "", "")
	own := command("own", "git status")
	own.Direct = true
	g.mustRun(own)
	for i, want := range []bool{false, true} {
		if inv := g.tower.Calls()[i]; inv.Direct != want {
			t.Errorf("call %s: got direct %v, want %v", inv.CallID, inv.Direct, want)
		}
	}
}

func TestEndedCallIsReplayedFromTheJournal(t *testing.T) {
	g := start(t, &tooltest.Machine{Run: func(inv protocol.ToolInvoke, _ <-chan struct{}) (any, error) {
		if strings.Contains(string(inv.Args), "broken") {
			return nil, errors.New("no such program")
		}
		return map[string]any{"status": "failed", "exitCode": 2, "output": "two errors"}, nil
	}})
	for _, c := range []tool.Call{command("a", "make"), command("b", "broken")} {
		first := g.ask(c, protocol.DecisionAllow, "", "")
		g.restart(&tooltest.Machine{Run: g.tower.Run})
		second := g.mustRun(c)
		if len(g.tower.Calls()) != 0 {
			t.Fatal("the call was sent again")
		}
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(second)
		if string(a) != string(b) {
			t.Errorf("first:  %s\nreplay: %s", a, b)
		}
	}
}

func TestCallThatRanAtACrashIsUnknownAndNeverSentAgain(t *testing.T) {
	began := make(chan struct{})
	g := start(t, &tooltest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		close(began)
		<-stop
		return nil, errors.New("stopped")
	}})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	ctx, cancel := context.WithCancel(t.Context())
	end := g.runInBackground(ctx, command("a", "make"))
	waitResult(t, began)
	row := g.storedCall("a")
	// the first gateway can no longer write, as if it had been killed
	g.restart(&tooltest.Machine{})
	cancel()
	waitResult(t, end)
	res := g.mustRun(command("a", "make"))
	if res.Info.State != protocol.CallUnknown || !res.IsError || !strings.Contains(res.Content.Text(), "do not repeat it without checking") ||
		!strings.Contains(res.Content.Text(), row.IdempotencyKey) {
		t.Errorf("got %+v; want an unknown result that names the first call", res)
	}
	if g.mustRun(command("a", "make")).Info.State != protocol.CallUnknown || len(g.tower.Calls()) != 0 {
		t.Error("the call was sent again")
	}
}

func TestWaitingCallAsksTheSameQuestionAfterARestart(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	sub := g.bus.Subscribe()
	ctx, cancel := context.WithCancelCause(t.Context())
	end := g.runInBackground(ctx, command("a", "make"))
	first := g.question(sub)
	cancel(tool.ErrSuspended)
	if e := waitResult(t, end); !errors.Is(e.err, tool.ErrSuspended) {
		t.Fatalf("got %v; want error ErrSuspended", e)
	}
	if n := g.storedCall("a").Attempt; n != 1 {
		t.Errorf("the first attempt is %d, want 1", n)
	}
	key := g.storedCall("a").IdempotencyKey
	g.restart(&tooltest.Machine{})
	sub = g.bus.Subscribe()
	end = g.runInBackground(t.Context(), command("a", "make"))
	second := g.question(sub)
	if second.ID != first.ID || second.Hash != first.Hash {
		t.Errorf("asked %s %s, then %s %s; want the same question", first.ID, first.Hash, second.ID, second.Hash)
	}
	if len(g.tower.Calls()) != 0 {
		t.Error("it ran without an answer")
	}
	g.answer(second, protocol.DecisionAllow, "", "")
	if e := waitResult(t, end); e.err != nil || e.Info.State != protocol.CallDone || len(g.tower.Calls()) != 1 {
		t.Errorf("got %+v; want no error, e.Info.State CallDone and g.tower.Calls of length 1", e)
	}
	row := g.storedCall("a")
	if row.Attempt != 2 || row.IdempotencyKey != key {
		t.Errorf("got attempt %d, key %s, want 2 with %s", row.Attempt, row.IdempotencyKey, key)
	}
}

// watchedHub reports when a tool was looked up.
type watchedHub struct {
	*nodes.Hub
	looked chan struct{}
}

func (w *watchedHub) Lookup(name protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error) {
	id, spec, err := w.Hub.Lookup(name)
	w.looked <- struct{}{}
	return id, spec, err
}

func TestWaitingCallAsksAgainWhenItsMachineComesBackLate(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	sub := g.bus.Subscribe()
	ctx, cancel := context.WithCancelCause(t.Context())
	end := g.runInBackground(ctx, command("a", "make"))
	first := g.question(sub)
	cancel(tool.ErrSuspended)
	waitResult(t, end)
	looked := make(chan struct{}, 10)
	g.machines = func(hub *nodes.Hub) tool.Machines { return &watchedHub{hub, looked} }
	g.restart(nil)
	end = g.runInBackground(t.Context(), command("a", "make"))
	waitResult(t, looked)
	g.tower = tooltest.Attach(t, g.hub, &tooltest.Machine{ID: "tower"})
	g.answer(first, protocol.DecisionAllow, "", "")
	if e := waitResult(t, end); e.err != nil || e.Info.State != protocol.CallDone {
		t.Errorf("got %+v; want no error and Info.State CallDone", e)
	}
}

func TestWaitingCallThatARuleNowAllowsTakesItsQuestionBack(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	sub := g.bus.Subscribe()
	ctx, cancel := context.WithCancelCause(t.Context())
	end := g.runInBackground(ctx, command("a", "make"))
	g.question(sub)
	cancel(tool.ErrSuspended)
	waitResult(t, end)
	g.cfg.ToolApproval.DefaultDecision = "allow"
	g.restart(&tooltest.Machine{})
	if res := g.mustRun(command("a", "make")); res.Info.State != protocol.CallDone {
		t.Errorf("got %+v; want Info.State CallDone", res)
	}
	g.noQuestions()
}

func TestQuestionThatWasCancelledWithItsRunEndsTheCall(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	sub := g.bus.Subscribe()
	ctx, cancel := context.WithCancelCause(t.Context())
	end := g.runInBackground(ctx, command("a", "make"))
	q := g.question(sub)
	cancel(tool.ErrSuspended)
	waitResult(t, end)
	q.State = protocol.QuestionCancelled
	if _, _, err := g.store.Questions.Change(t.Context(), q.ID, func(now *protocol.Question) bool { *now = q; return true }); err != nil {
		t.Fatal(err)
	}
	g.restart(&tooltest.Machine{})
	if res := g.mustRun(command("a", "make")); res.Info.State != protocol.CallCancelled || !res.IsError || res.Content.Text() == "" {
		t.Errorf("got %+v; want Info.State CallCancelled, IsError and some Content.Text", res)
	}
}

func TestStoppedCallReturnsThePartialOutput(t *testing.T) {
	began := make(chan struct{})
	g := start(t, &tooltest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		close(began)
		<-stop
		return map[string]any{"status": "cancelled", "output": "half"}, nil
	}})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	end := g.runInBackground(t.Context(), command("a", "make"))
	waitResult(t, began)
	if list := g.Running(); len(list) != 1 || list[0].State != protocol.CallRunning {
		t.Errorf("got %+v; want length 1 and list[0].State CallRunning", list)
	}
	if !g.Cancel("a") {
		t.Error("the call was not under way")
	}
	e := waitResult(t, end)
	if e.err != nil || e.Info.State != protocol.CallCancelled || !e.IsError || !strings.Contains(e.Content.Text(), "half") || !strings.Contains(e.Content.Text(), "person stopped") {
		t.Errorf("got %+v; want a cancelled call with its output so far", e)
	}
	if g.Cancel("a") || len(g.Running()) != 0 {
		t.Error("it is still under way")
	}
}

func TestStoppedQuestionEndsItsCall(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	sub := g.bus.Subscribe()
	end := g.runInBackground(t.Context(), command("a", "make"))
	g.question(sub)
	g.Cancel("a")
	if e := waitResult(t, end); e.err != nil || e.Info.State != protocol.CallCancelled || len(g.tower.Calls()) != 0 {
		t.Errorf("got %+v; want no error, e.Info.State CallCancelled and no g.tower.Calls", e)
	}
	g.noQuestions()
}

func TestStoppedCallSaysWhenTheMachineIsSilent(t *testing.T) {
	began, quiet := make(chan struct{}), make(chan struct{})
	g := start(t, &tooltest.Machine{Run: func(protocol.ToolInvoke, <-chan struct{}) (any, error) {
		close(began)
		<-quiet
		return nil, nil
	}})
	t.Cleanup(func() { close(quiet) })
	g.cfg.ToolApproval.DefaultDecision = "allow"
	end := g.runInBackground(t.Context(), command("a", "make"))
	waitResult(t, began)
	g.Cancel("a")
	if e := waitResult(t, end); e.err != nil || e.Info.State != protocol.CallCancelled || !strings.Contains(e.Content.Text(), "check before you repeat") {
		t.Errorf(`got %+v; want no error, Info.State CallCancelled and "check before you repeat" in Content.Text`, e)
	}
}

func TestMachineThatLeavesMakesTheOutcomeUnknown(t *testing.T) {
	began := make(chan struct{}, 1)
	g := start(t, &tooltest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		began <- struct{}{}
		<-stop
		return nil, errors.New("too late")
	}})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	end := g.runInBackground(t.Context(), command("a", "make"))
	waitResult(t, began)
	g.tower.Detach()
	if e := waitResult(t, end); e.err != nil || e.Info.State != protocol.CallUnknown || !strings.Contains(e.Content.Text(), "Unknown outcome") {
		t.Errorf(`got %+v; want no error, Info.State CallUnknown and "Unknown outcome" in Content.Text`, e)
	} else if f := e.Info.Fault; f == nil || f.Code != protocol.FaultTargetUnreachable || f.Retryable {
		t.Errorf("got the fault %+v, want an unreachable machine that must not be tried again", f)
	}
}

func TestCallThatTakesTooLongIsStopped(t *testing.T) {
	g := start(t, &tooltest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		<-stop
		return map[string]any{"output": "half"}, nil
	}})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	g.cfg.Timeouts.Tool = 300
	res := g.mustRun(command("a", "make"))
	if res.Info.State != protocol.CallFailed || !strings.Contains(res.Content.Text(), "took longer than 300 ms") || !strings.Contains(res.Content.Text(), "half") {
		t.Errorf("got %+v; want a failed call with its output so far", res)
	}
	if f := res.Info.Fault; f == nil || f.Code != protocol.FaultTimeout || !f.Retryable {
		t.Errorf("got the fault %+v, want a time-out that can be tried again", f)
	}
}

func TestNothingRunsThatCannotBeJournaled(t *testing.T) {
	for _, state := range []string{protocol.CallWaiting, protocol.CallRunning} {
		g := start(t, nil)
		g.cfg.ToolApproval.DefaultDecision = "allow"
		if state == protocol.CallWaiting {
			g.cfg.ToolApproval.DefaultDecision = "ask"
		}
		g.put = func(c store.Call) error {
			if c.Info.State == state {
				return protocol.ErrStorage.With("The disk is full.")
			}
			return nil
		}
		g.restart(&tooltest.Machine{})
		e := waitResult(t, g.runInBackground(t.Context(), command("a", "make")))
		if !errors.Is(e.err, protocol.ErrStorage) || len(g.tower.Calls()) != 0 {
			t.Errorf("%s: got %+v; want error ErrStorage and no g.tower.Calls", state, e)
		}
		g.noQuestions()
	}
}

func TestOneCallRunsOnceForManyWhoAsk(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	var all []<-chan callResult
	for range 8 {
		all = append(all, g.runInBackground(t.Context(), command("a", "make")))
	}
	for _, ch := range all {
		if e := waitResult(t, ch); e.err != nil && !errors.Is(e.err, protocol.ErrConflict) {
			t.Errorf("got %v; want no error or error ErrConflict", e.err)
		}
	}
	if n := len(g.tower.Calls()); n != 1 {
		t.Errorf("it ran %d times, want 1", n)
	}
}

func TestInvalidCallFailsBeforeAnythingElse(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	for name, c := range map[string]struct {
		tool protocol.ToolName
		args string
		want error
	}{
		"unknown tool": {"tower__Fly", `{}`, protocol.ErrNotFound},
		"no machine":   {"desk__Bash", `{"command":"x"}`, protocol.ErrNotFound},
		"arguments":    {bash, `{"command":1}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := g.Run(t.Context(), tool.Call{Tool: c.tool, Args: json.RawMessage(c.args), Session: chat})
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: got %v; want no %v or error %v", name, err, c.want, c.want)
			}
		})
	}
	g.tower.Detach()
	if _, err := g.Run(t.Context(), command("a", "make")); !errors.Is(err, protocol.ErrUnavailable) {
		t.Errorf("got %v; want the error protocol.ErrUnavailable", err)
	}
	if open, _ := g.store.Calls.Open(t.Context()); len(open) != 0 {
		t.Errorf("got %+v; want no open entries", open)
	}
}
