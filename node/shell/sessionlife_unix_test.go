//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/tooltest"
)

// newShortSessions returns a bench and the sessions of its command tool, with short times.
func newShortSessions(t *testing.T) (*bench, *sessions) {
	b := newBench(t)
	s := newSessions(b.WS, b.jobs)
	s.grace, s.abandoned = 100*time.Millisecond, 300*time.Millisecond
	b.Tools["command"] = s.tool()
	return b, s
}

func TestLimitsAreThoseOfTheDocumentation(t *testing.T) {
	tooltest.Documented(t, "`idle_timeout` seconds (%.0f; 0 does not wait; at most %.0f), at most %.0f minutes", defaultIdle.Seconds(), maxIdle.Seconds(), maxWait.Minutes())
	tooltest.Documented(t, "One call returns at most %d KiB", maxCallOutput>>10)
	tooltest.Documented(t, "can be read for %.0f seconds. One that nobody asks about for %.0f minutes is ended. A token has at most %d on a machine", grace.Seconds(), abandoned.Minutes(), maxSessions)
	if d, err := (commandIn{}).idle(); err != nil || d != defaultIdle {
		t.Errorf("without idle_timeout: %v, %v; want %v and no error", d, err, defaultIdle)
	}
}

func TestSessionsExpire(t *testing.T) {
	b, s := newShortSessions(t)
	ended := command(b, tooltest.Args{"command": "true", "idle_timeout": 60})
	left := command(b, tooltest.Args{"command": "sleep 1000", "idle_timeout": 0})
	s.mu.Lock()
	j := s.open[left.CommandID].job
	s.mu.Unlock()
	select {
	case <-j.done:
	case <-time.After(time.Minute):
		t.Fatal("a command that nobody asks about runs on")
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		n := len(s.open)
		s.mu.Unlock()
		if n == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d sessions stay, want none", n)
		}
	}
	fault(b, tooltest.Args{"command_id": ended.CommandID}, protocol.FaultNotFound, "30 seconds")
}

func TestSessionsAreLimited(t *testing.T) {
	b := newBench(t)
	s := newSessions(b.WS, b.jobs)
	b.Tools["command"] = s.tool()
	s.count["app1"] = maxSessions
	_, err := callAs(b, "app1", "command", tooltest.Args{"command": "true"})
	if f, _ := errors.AsType[*protocol.Fault](err); f == nil || f.Code != protocol.FaultResourceExhausted || !strings.Contains(string(f.Details), "retry_after_ms") {
		t.Errorf("an app at its limit: got %v, want resource_exhausted with the time to wait", err)
	}
	for _, other := range []string{"app2", ""} {
		if _, err := callAs(b, other, "command", tooltest.Args{"command": "true"}); err != nil {
			t.Errorf("%q beside an app at its limit: got error %v, want none", other, err)
		}
	}
}

// callAs calls a tool for a program; an empty ID is a chat.
func callAs(b *bench, id, tool string, a tooltest.Args) (map[string]any, error) {
	b.T.Helper()
	var call access.Call
	if id != "" {
		call.Caller = &protocol.ToolCaller{ID: id, Name: "Editor " + id}
	}
	return tooltest.CallContext[map[string]any](b.T.Context(), call, b.Bench, tool, a)
}

func TestCommandEndsWhenItsCallerHasGoneBeforeItsID(t *testing.T) {
	b := newBench(t)
	s := newSessions(b.WS, b.jobs)
	b.Tools["command"] = s.tool()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	call := access.Call{Progress: func(string, int64) { cancel() }} // it runs
	_, err := tooltest.CallContext[commandOut](ctx, call, b.Bench, "command", tooltest.Args{"command": "while :; do echo up; sleep 0.1; done", "idle_timeout": 600})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancellation", err)
	}
	b.jobs.wg.Wait()
	if len(s.open) != 0 || len(s.count) != 0 {
		t.Errorf("got sessions %v, counts %v, want none", s.open, s.count)
	}
}

func TestProcessShowsAndEndsCommandsOfPrograms(t *testing.T) {
	b := newBench(t)
	events := make(chan protocol.NodeExecEvent, 10)
	b.jobs.events = func(e protocol.NodeExecEvent) { events <- e }
	started, err := callAs(b, "app1", "command", tooltest.Args{"command": "exec sleep 1000", "idle_timeout": 0})
	if err != nil {
		t.Fatal(err)
	}
	id := started["command_id"]
	b.jobs.ReportPrograms("")
	for range 2 {
		if e := <-events; e.Event != protocol.ExecStarted || e.SessionID != id || e.Caller == nil || e.Caller.ID != "app1" || e.Tool != "command" || e.Text != "exec sleep 1000" {
			t.Errorf("got %+v, want the start of the app's command", e)
		}
	}
	for caller, want := range map[string]int{"": 1, "app1": 1, "app2": 0} {
		list, err := callAs(b, caller, "Process", tooltest.Args{"action": "list"})
		if got, _ := list["sessions"].([]any); err != nil || len(got) != want || want > 0 && got[0].(map[string]any)["app"] != "Editor app1" {
			t.Errorf("list for %q: got %v, %v, want %d", caller, list, err, want)
		}
	}
	if out, _ := callAs(b, "app2", "Process", tooltest.Args{"action": "kill", "sessionId": id}); out["status"] != "failed" {
		t.Errorf("ending the command of another app: got %v, want that it fails", out)
	}
	if out, _ := callAs(b, "", "Process", tooltest.Args{"action": "submit", "sessionId": id, "data": "x"}); !strings.Contains(fmt.Sprint(out["error"]), "the app Editor app1") {
		t.Errorf("input to an app's command: got %v, want a refusal", out)
	}
	if out, err := callAs(b, "", "Process", tooltest.Args{"action": "kill", "sessionId": id}); err != nil || out["status"] != "running" {
		t.Errorf(`kill: got %v, %v; want no error and out["status"] "running"`, out, err)
	}
	if e := <-events; e.Event != protocol.ExecFailed || e.SessionID != id || e.Caller == nil {
		t.Errorf("got %+v, want the end of the app's command", e)
	}
}

func TestCancelledCallLeavesTheCommandRunning(t *testing.T) {
	b := newBench(t)
	out := command(b, tooltest.Args{"command": "cat", "idle_timeout": 0})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	raw, _ := json.Marshal(tooltest.Args{"command_id": out.CommandID, "idle_timeout": 60})
	if _, err := b.Tools["command"].Call(ctx, access.Call{}, raw); err != nil {
		t.Error(err)
	}
	again := until(b, command(b, tooltest.Args{"command_id": out.CommandID, "command": "x\n", "idle_timeout": 0}), "x\n")
	if again.State != "running" || again.Output != "x\n" {
		t.Errorf(`got %+v; want State "running" and Output "x\n"`, again)
	}
	command(b, tooltest.Args{"command_id": out.CommandID, "signal": "SIGKILL"})
}
