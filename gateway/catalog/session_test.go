package catalog

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
)

func TestCommandIsStartedAndContinued(t *testing.T) {
	b := newBench(t)
	b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
		return succeed(`{"command_id":"cmd","state":"running","output":"$ ","duration_ms":1,"dropped_bytes":3}`), nil
	}
	b.continued = func(tool.Step) (json.RawMessage, error) {
		return json.RawMessage(`{"command_id":"cmd","state":"exited","exit_code":0,"output":"bye","duration_ms":1,"dropped_bytes":2}`), nil
	}
	start := `{"session":{"network_name":"home","node_name":"Laptop","command":"bash","workdir":"/tmp","username":"ann","env":{"B":"it's","A":"1"}},"idle_timeout":2}`
	got := b.must(app("a"), "command", start)
	if !strings.Contains(got, `"command_id":"cmd","output":"$ ","state":"running"`) || strings.Contains(got, "exit_code") {
		t.Errorf("got %s; want `\"command_id\":\"cmd\",\"output\":\"$ \",\"state\":\"running\"` in it and no \"exit_code\"", got)
	}
	if c := b.last(); c.Tool != "laptop__command" || string(c.Args) != `{"command":"export A='1'; export B='it'\\''s'; bash","username":"ann","workdir":"/tmp","idle_timeout":2}` {
		t.Errorf("called: got %s %s; want Tool \"laptop__command\" and Args `{\"command\":\"export A='1'; export B='it'\\\\''s'; bash\",\"username\":\"ann\",\"workdir\":\"/tmp\",\"idle_timeout\":2}`", c.Tool, c.Args)
	}
	// Polling is not a new call; input is one, and is judged like a command.
	before := len(b.calls)
	if got := b.must(app("a"), "command", `{"command_id":"cmd","signal":"SIGINT","idle_timeout":0}`); !strings.Contains(got, `"exit_code":0,"state":"exited"`) {
		t.Errorf("got %s, want `\"exit_code\":0,\"state\":\"exited\"` in it", got)
	}
	if step := b.steps[0]; len(b.calls) != before || step.Call != "call1" || step.Principal.App != "a" || string(step.Args) != `{"command_id":"cmd","signal":"SIGINT","idle_timeout":0}` {
		t.Errorf("continued %s as %s with %s, want call1 as the app a with SIGINT", step.Call, step.Principal, step.Args)
	}
	b.must(app("a"), "command", `{"command_id":"cmd","input":"ls\\n"}`)
	if c := b.last(); string(c.Args) != `{"command_id":"cmd","command":"ls\n"}` {
		t.Errorf("called: got %s, want Args `{\"command_id\":\"cmd\",\"command\":\"ls\\n\"}`", c.Args)
	}
	b.must(app("a"), "command", `{"command_id":"cmd","input":"ls\\n","raw":true}`)
	if c := b.last(); string(c.Args) != `{"command_id":"cmd","command":"ls\\n"}` {
		t.Errorf("called: got %s, want Args `{\"command_id\":\"cmd\",\"command\":\"ls\\\\n\"}`", c.Args)
	}
	got = b.must(app("a"), "command", `{"command_id":"cmd","input":"x","signal":"SIGTERM"}`)
	if !strings.Contains(got, `"output":"$ bye"`) || !strings.Contains(got, `"dropped_bytes":5`) {
		t.Errorf("input and signal: got %s, want the output and 5 dropped bytes", got)
	}
	b.must(app("a"), "command", `{"session":{"node_name":"Laptop","command":"cat"},"input":"x"}`)
	if n := len(b.calls); string(b.calls[n-2].Args) != `{"command":"cat","idle_timeout":0}` || string(b.calls[n-1].Args) != `{"command_id":"cmd","command":"x"}` {
		t.Errorf("called with %s, %s; want cat without a wait, then its input x", b.calls[n-2].Args, b.calls[n-1].Args)
	}
	b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
		if strings.Contains(string(c.Args), "command_id") {
			return succeed(`{"command_id":"cmd","state":"running","output":"x","note":"b"}`), nil
		}
		return succeed(`{"command_id":"cmd","state":"running","output":"> ","note":"a"}`), nil
	}
	got = b.must(app("a"), "command", `{"session":{"node_name":"Laptop","command":"cat"},"input":"x"}`)
	if !strings.Contains(got, `"output":"> x"`) || !strings.Contains(got, `"note":"a b"`) {
		t.Errorf("a start with input: %s, want the output and notes of both calls", got)
	}
	for session, want := range map[string]string{
		`"command":"dir","env":{"B":"x y","A":"it's"}`:            `{"command":"set \"A=it's\"&& set \"B=x y\"&& dir"}`,
		`"command":"dir","shell":"powershell","env":{"A":"it's"}`: `{"command":"$env:A = 'it''s'; dir","shell":"powershell"}`,
	} {
		b.must(app("a"), "command", `{"session":{"node_id":"pc",`+session+`}}`)
		if c := b.last(); string(c.Args) != want {
			t.Errorf("called %s, want %s", c.Args, want)
		}
	}
	for _, value := range []string{"%PATH%", `\"`, `\n`} {
		b.checkFault(app("a"), "command", `{"session":{"node_id":"pc","command":"dir","env":{"A":"`+value+`"}}}`, protocol.FaultInvalidArgs, "cannot set A")
	}
}

func TestMessageSaysHowACommandEnded(t *testing.T) {
	b := newBench(t)
	for result, want := range map[string]string{`{"command_id":"c","state":"running"}`: "Still running", `{"command_id":"c","state":"exited","exit_code":3}`: "Exited with code 3"} {
		b.answer = func(context.Context, tool.Call) (tool.Result, error) { return succeed(result), nil }
		if r, err := b.call(me, "command", `{"session":{"node_id":"nas","command":"ls"}}`); err != nil || r.Message != want {
			t.Errorf("got %q, %v, want %q", r.Message, err, want)
		}
	}
}

func TestSessionsBelongToTheirCaller(t *testing.T) {
	b := newBench(t)
	b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
		if c.Tool == "nas__command" {
			return succeed(`{"command_id":"cmd","state":"running"}`), nil
		}
		return succeed(`{"file_id":"file","done":false}`), nil
	}
	b.must(app("a"), "command", `{"session":{"node_id":"nas","command":"bash"}}`)
	b.must(app("a"), "fs_read", statArgs)
	calls := len(b.calls)
	for _, p := range []string{"b", "owner"} {
		who := app(p)
		if p == "owner" {
			who = me
		}
		b.checkFault(who, "command", `{"command_id":"cmd","input":"rm -rf x"}`, protocol.FaultNotFound, "another token")
		b.checkFault(who, "fs_read", `{"file_id":"file"}`, protocol.FaultNotFound, "another token")
		b.checkFault(who, "file", `{"file_id":"file"}`, protocol.FaultNotFound, "another token")
	}
	b.checkFault(app("a"), "fs_write", `{"file_id":"file"}`, protocol.FaultNotFound, "")
	b.checkFault(app("a"), "command", `{"command_id":"file"}`, protocol.FaultNotFound, "")
	limited := app("a")
	limited.LimitedTo.Nodes = []protocol.NodeID{"laptop"}
	b.checkFault(limited, "fs_read", `{"file_id":"file"}`, protocol.FaultNotFound, "")
	if len(b.calls) != calls || len(b.steps) != 0 {
		t.Error("the machine was asked about a foreign session")
	}
}

func TestFileIsContinuedUntilItIsDone(t *testing.T) {
	b := newBench(t)
	b.answer = func(context.Context, tool.Call) (tool.Result, error) {
		return succeed(`{"file_id":"f","path":"/x","offset":0,"size":3,"total":5,"done":false}`), nil
	}
	over := false
	b.continued = func(tool.Step) (json.RawMessage, error) {
		if over {
			return json.RawMessage(`{"file_id":"f","path":"/x","offset":3,"size":2,"total":5,"done":true}`), nil
		}
		over = true
		return json.RawMessage(`{"file_id":"f","path":"/x","offset":3,"size":0,"total":5,"done":false}`), nil
	}
	b.must(app("a"), "fs_read", `{"target":{"node_id":"nas"},"path":"/x","max_bytes":3}`)
	if c := b.last(); string(c.Args) != `{"max_bytes":3,"path":"/x"}` {
		t.Errorf("called: got %s, want Args `{\"max_bytes\":3,\"path\":\"/x\"}`", c.Args)
	}
	b.must(app("a"), "file", `{"file_id":"f","max_bytes":3}`)
	if step := b.steps[0]; step.Call != "call1" || string(step.Args) != `{"file_id":"f","max_bytes":3}` {
		t.Errorf("continued %s with %s, want call1 with 3 bytes of the file f", step.Call, step.Args)
	}
	if got := b.must(app("a"), "fs_read", `{"file_id":"f"}`); !strings.Contains(got, `"done":true`) {
		t.Errorf("got %s, want `\"done\":true` in it", got)
	}
	b.checkFault(app("a"), "fs_read", `{"file_id":"f"}`, protocol.FaultNotFound, "")
}

func TestFileInPartsTakesEffectByACallOfItsOwn(t *testing.T) {
	b := newBench(t)
	denied := false
	b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
		switch {
		case !strings.Contains(string(c.Args), "file_id"):
			return succeed(`{"file_id":"f","path":"/x","offset":0,"total":1,"sha256":"s1","done":false,"collects":true}`), nil
		case denied:
			return tool.Result{Info: protocol.CallInfo{State: protocol.CallDenied, Error: "no"}}, nil
		}
		return succeed(`{"file_id":"f","path":"/x","offset":2,"total":2,"sha256":"s2","done":true}`), nil
	}
	b.continued = func(tool.Step) (json.RawMessage, error) {
		return json.RawMessage(`{"file_id":"f","path":"/x","offset":1,"total":2,"sha256":"s2","done":false,"collects":true}`), nil
	}
	const begin, last = `{"target":{"node_id":"nas"},"op":"write","path":"/x","chunk":"a"}`, `{"file_id":"f","chunk":"b","done":true}`
	b.must(app("a"), "file", begin)
	b.checkFault(app("a"), "fs_write", `{"file_id":"f","target":{"node_id":"nas"}}`, protocol.FaultInvalidArgs, "leave target out")
	if got := b.must(app("a"), "file", last); !strings.Contains(got, `"offset":1`) || !strings.Contains(got, `"done":true`) {
		t.Errorf("got %s, want the offset of the last part", got)
	}
	if step := b.steps[len(b.steps)-1]; step.Call != "call1" || string(step.Args) != `{"chunk":"b","file_id":"f"}` {
		t.Errorf("collected by %s with %s, want call1 with the chunk b of the file f", step.Call, step.Args)
	}
	if c := b.last(); string(c.Args) != `{"file_id":"f","path":"/x","sha256":"s2","done":true}` {
		t.Errorf("finished with %s, want the path and the checksum of what was collected", c.Args)
	}
	b.checkFault(app("a"), "fs_write", last, protocol.FaultNotFound, "")
	denied = true
	b.must(app("a"), "file", begin)
	b.checkFault(app("a"), "fs_write", last, protocol.FaultPermissionDenied, "")
	b.checkFault(app("a"), "fs_write", last, protocol.FaultNotFound, "")
	if len(b.dropped) != 1 || b.dropped[0] != "f" {
		t.Errorf("dropped %v, want the file of the denied call", b.dropped)
	}
}

func TestOldMachineWritesNoFileInParts(t *testing.T) {
	b := newBench(t)
	b.answer = func(context.Context, tool.Call) (tool.Result, error) {
		return succeed(`{"file_id":"f","path":"/x","total":1,"done":false}`), nil
	}
	b.checkFault(me, "fs_write", `{"target":{"node_id":"nas"},"path":"/x","chunk":"a"}`, protocol.FaultUnsupported, "update it")
	if len(b.dropped) != 1 {
		t.Errorf("dropped %v, want the file", b.dropped)
	}
}

func TestSessionOnAMachineThatIsGoneIsRetryable(t *testing.T) {
	b := newBench(t)
	b.answer = func(context.Context, tool.Call) (tool.Result, error) {
		return succeed(`{"command_id":"cmd","file_id":"file","state":"running"}`), nil
	}
	b.continued = func(tool.Step) (json.RawMessage, error) { return nil, protocol.ErrUnavailable }
	b.must(me, "command", `{"session":{"node_id":"nas","command":"bash"}}`)
	b.must(me, "fs_read", statArgs)
	for tool, args := range map[string]string{"command": `{"command_id":"cmd"}`, "fs_read": `{"file_id":"file"}`} {
		if f := b.checkFault(me, tool, args, protocol.FaultTargetUnreachable, ""); !f.Retryable {
			t.Errorf("%s: got a fault that is not retryable, want a retryable one", tool)
		}
	}
}

func TestWrongCommandsSayWhatToDo(t *testing.T) {
	b := newBench(t)
	for args, text := range map[string]string{
		`{}`: "session is required", `{"command_id":"x","session":{"node_id":"nas","command":"ls"}}`: "not both", `{"session":{"node_id":"nas","command":"ls"},"signal":"SIGINT"}`: "command_id",
		`{"session":{"node_id":"nas","command":"ls"},"idle_timeout":601}`: "0 to 600", `{"session":{"node_id":"nas","command":"ls"},"idle_timeout":-1}`: "0 to 600", `{"session":{"node_id":"nas","command":"ls"},"input":"\\q"}`: "escape",
		`{"session":{"node_id":"nas","command":"ls","env":{"A B":"x"}}}`: "not the name of a variable", `{"session":{"node_id":"nas","command":"ls","env":{"A":"\u0000"}}}`: "cannot set A",
		`{"session":{"node_id":"nas","command":"ls","shell":"fish"}}`: "shell", `{"command_id":"x","signal":"SIGSTOP"}`: "signal", `{"session":{"node_id":"nas"}}`: "command",
	} {
		b.checkFault(me, "command", args, protocol.FaultInvalidArgs, text)
	}
}

func TestSessionInUseIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.Close()
		b.answer = func(context.Context, tool.Call) (tool.Result, error) {
			return succeed(`{"command_id":"cmd","state":"running"}`), nil
		}
		b.continued = func(tool.Step) (json.RawMessage, error) { return json.RawMessage(`{"state":"running"}`), nil }
		start := `{"session":{"node_id":"nas","command":"bash"}}`
		b.must(me, "command", start)
		for range 3 {
			time.Sleep(job.OpenTime - time.Minute)
			b.must(me, "command", `{"command_id":"cmd"}`)
			b.commands.Record("other", job.Opened{}) // which forgets old ones
		}
	})
}
