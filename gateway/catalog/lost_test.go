package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
)

const startSleep = `{"session":{"node_id":"nas","command":"sleep 299"},"idle_timeout":0}`

// newCommandBench is a bench whose commands run on; each call of the pipeline calls during, if set.
func newCommandBench(t *testing.T, during func()) *bench {
	b := newBench(t)
	b.answer = func(context.Context, tool.Call) (tool.Result, error) {
		if during != nil {
			during()
		}
		return succeed(`{"command_id":"cmd","state":"running"}`), nil
	}
	b.continued = func(tool.Step) (json.RawMessage, error) {
		return json.RawMessage(`{"command_id":"cmd","state":"exited","exit_code":-1}`), nil
	}
	return b
}

// killed returns the IDs of the commands that were ended.
func (b *bench) killed() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.ended)
}

func TestCommandWhoseCallerHasGoneIsEnded(t *testing.T) {
	for name, kind := range map[string]string{"hangs up": "", "with an idempotency key": "key"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				b := newCommandBench(t, cancel) // the result comes when the caller has gone
				b.Catalog.Call(ctx, app("a"), Request{Tool: "command", Args: json.RawMessage(startSleep), IdempotencyKey: kind})
				time.Sleep(job.OutcomeTime + time.Second)
				synctest.Wait()
				if got := b.killed(); !slices.Equal(got, []string{"cmd"}) || len(b.commands.List()) != 0 {
					t.Errorf("ended %v, running %v, want the command ended", got, b.commands.List())
				}
			})
		})
	}
}

func TestCommandWithoutItsInputIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newCommandBench(t, nil)
		start := b.answer
		b.answer = func(ctx context.Context, c tool.Call) (tool.Result, error) {
			if strings.Contains(string(c.Args), "command_id") { // the input, which the person denies
				return tool.Result{Info: protocol.CallInfo{State: protocol.CallDenied, Error: "no"}}, nil
			}
			return start(ctx, c)
		}
		b.checkFault(app("a"), "command", `{"session":{"node_id":"nas","command":"sh"},"input":"rm x"}`, protocol.FaultPermissionDenied, "")
		synctest.Wait()
		if got := b.killed(); !slices.Equal(got, []string{"cmd"}) {
			t.Errorf("ended %v, want the command: nobody has got its ID", got)
		}
	})
}

func TestCommandWithACallerContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newCommandBench(t, nil)
		b.must(app("a"), "command", startSleep)
		time.Sleep(job.OutcomeTime + time.Second)
		synctest.Wait()
		if got := b.commands.List(); len(b.killed()) != 0 || len(got) != 1 || got[0].App != "a" || got[0].Text != "sleep 299" || got[0].Node != "nas" || got[0].Name != "Editor" {
			t.Errorf("ended %v, running %+v, want one running command of the app", b.killed(), got)
		}
		b.commands.Event("other", protocol.NodeExecEvent{Event: protocol.ExecFailed, SessionID: "cmd"})
		if len(b.commands.List()) != 1 {
			t.Error("another machine reported the end of the command")
		}
		b.commands.Event("nas", protocol.NodeExecEvent{Event: protocol.ExecFailed, SessionID: "cmd"})
		if len(b.commands.List()) != 0 {
			t.Error("a command that has ended is listed")
		}
		b.must(app("a"), "command", `{"command_id":"cmd"}`) // its end can be read
	})
}

func TestCommandsEndWithTheAccessOfTheirApp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newCommandBench(t, nil)
		b.endFail = protocol.ErrUnavailable
		b.must(app("a"), "command", startSleep)
		b.jobs.CancelOf("other")
		b.commands.CancelOf("other")
		synctest.Wait()
		if len(b.commands.List()) != 1 {
			t.Error("the command ended with the access of another app")
		}
		b.jobs.CancelOf("a")
		b.commands.CancelOf("a")
		synctest.Wait()
		b.checkFault(app("a"), "command", `{"command_id":"cmd"}`, protocol.FaultNotFound, "")
		if len(b.commands.List()) != 1 {
			t.Error("a command that could not be ended is not listed")
		}
		b.endFail = nil
		b.commands.MachineConnected("nas")
		synctest.Wait()
		if got := b.killed(); len(got) != 2 || len(b.commands.List()) != 0 {
			t.Errorf("tried to end %v, running %v, want it ended when its machine is back", got, b.commands.List())
		}
	})
}

func TestARevokedAppsCommandIsEndedWhenItReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newCommandBench(t, nil)
		b.hasAccess = func(id protocol.AppID) bool { return id == "a" }
		for _, id := range []string{"a", "gone", "owner"} {
			b.commands.Event("nas", protocol.NodeExecEvent{Event: protocol.ExecStarted, SessionID: "cmd of " + id, Caller: &protocol.ToolCaller{ID: id}, Tool: "command", Text: "make"})
		}
		synctest.Wait()
		if got := b.killed(); !slices.Equal(got, []string{"cmd of gone"}) || len(b.commands.List()) != 2 {
			t.Errorf("got ended %v, running %+v; want only cmd of gone ended and two running", got, b.commands.List())
		}
		b.must(app("a"), "command", `{"command_id":"cmd of a"}`) // as before a restart of the gateway
	})
}

func TestCommandsOfAnAbsentMachineAreNotListedAfterTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newCommandBench(t, nil)
		b.must(app("a"), "command", startSleep)
		b.running = []string{"other"}
		b.commands.MachineConnected("nas")
		synctest.Wait()
		if len(b.commands.List()) != 0 {
			t.Errorf("running: %+v, want none", b.commands.List())
		}
	})
}

func TestPersonStopsACommandOfAnApp(t *testing.T) {
	b := newCommandBench(t, nil)
	b.must(app("a"), "command", startSleep)
	if err := b.commands.Stop(t.Context(), "cmd"); err != nil || len(b.killed()) != 1 {
		t.Errorf("stop: got error %v, ended %v; want one ended", err, b.killed())
	}
	if err := b.commands.Stop(t.Context(), "nosuch"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("stop of an unknown command: got %v, want not found", err)
	}
}

func TestStreamsCountForEachApp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.config.API.Streams = 1
		hold := make(chan struct{})
		b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
			if c.Principal.App == "a" {
				<-hold
			}
			return succeed(`{"path":"/","count":0,"files":0}`), nil
		}
		const args = `{"target":{"node_id":"nas"},"path":"/","pattern":"x"}`
		go b.call(app("a"), "fs_grep", args)
		synctest.Wait()
		f := b.checkFault(app("a"), "fs_grep", args, protocol.FaultResourceExhausted, "1 streams")
		if !strings.Contains(string(f.Details), "retry_after_ms") {
			t.Errorf("details %s, want the time to wait", f.Details)
		}
		b.must(app("b"), "fs_grep", args)
		close(hold)
	})
}
