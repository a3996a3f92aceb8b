//go:build unix

package shell

import (
	"runtime"
	"strings"
	"testing"

	"fairlead/node/sandbox"
	"fairlead/node/tooltest"
)

// inEachBench runs a test with plain children and, where there is one, in the box.
func inEachBench(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	useShell(t)
	t.Run("plain", func(t *testing.T) { test(t, newBench(t)) })
	if runtime.GOOS == "linux" {
		t.Run("contained", func(t *testing.T) { test(t, newBenchWith(t, sandbox.Options{}, sandbox.Profile{})) })
	}
}

func TestCommandGetsATerminalThatCanBeResized(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		id := background(b, "test -t 0 && test -t 1 && test -t 2 && echo terminal; stty size; while read x; do stty size; echo \"got $x\"; [ $x = quit ] && exit 3; done",
			tooltest.Args{"pty": true})
		waitForOutput(b, id, func(s string) bool { return strings.Contains(s, "terminal\r\n40 120\r\n") })
		if out := tooltest.Must[map[string]any](b.Bench, "Process", tooltest.Args{"action": "resize", "sessionId": id, "cols": 77, "rows": 33}); out["cols"] != 77.0 || out["rows"] != 33.0 || out["status"] != "running" {
			t.Errorf(`got %v; want out["cols"] 77.0, out["rows"] 33.0 and out["status"] "running"`, out)
		}
		tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "submit", "sessionId": id, "data": "one"})
		waitForOutput(b, id, func(s string) bool { return strings.Contains(s, "33 77\r\n") && strings.Contains(s, "got one\r\n") })
		tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "submit", "sessionId": id, "data": "quit"})
		if out := end(b, id); out.ExitCode == nil || *out.ExitCode != 3 || !strings.HasSuffix(out.Tail, "got quit\r\n") {
			t.Errorf(`got %+v; want ExitCode 3 and a Tail that ends with "got quit\r\n"`, out)
		}
		if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "resize", "sessionId": id, "cols": 77, "rows": 33}); out.Error != "Session "+id+" has already exited" {
			t.Errorf("got %+v; want Error %q", out, "Session "+id+" has already exited")
		}
	})
}

func TestControlCReachesTheProgramInTheTerminal(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		id := background(b, "echo ready; exec sleep 999", tooltest.Args{"pty": true})
		waitForOutput(b, id, func(s string) bool { return strings.Contains(s, "ready") })
		tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "write", "sessionId": id, "data": "\x03"})
		if out := end(b, id); out.Signal != "SIGINT" && (out.ExitCode == nil || *out.ExitCode != 130) {
			t.Errorf(`got %+v; want Signal "SIGINT" or ExitCode 130`, out)
		}
	})
}

func TestATerminalThatNobodyTypesAtHasNoInput(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "cat; test -t 1 && echo $TERM", "pty": true, "timeout": 180_000})
		if out.TimedOut || out.Output != "xterm-256color\r\n" {
			t.Errorf(`got %+v; want not TimedOut and Output "xterm-256color\r\n"`, out)
		}
		out = tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "exec sleep 999", "pty": true, "timeout": 100})
		if !out.TimedOut || out.Signal != "SIGTERM" {
			t.Errorf(`got %+v; want TimedOut and Signal "SIGTERM"`, out)
		}
	})
}

func TestTheOutputOfATerminalIsComplete(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "stty -onlcr; i=0; while [ $i -lt 20000 ]; do echo line$i; i=$((i+1)); done", "pty": true})
		if n := strings.Count(out.Output, "\n"); out.Status != "completed" || n != 20000 || !strings.HasSuffix(out.Output, "line19999\n") {
			t.Errorf(`got %d lines, %q; want Status "completed", 20000 and a Output that ends with "line19999\n"`, n, out.Tail[max(0, len(out.Tail)-30):])
		}
	})
}

func TestResizeRefusesWhatMakesNoSense(t *testing.T) {
	useShell(t)
	b := newBench(t)
	id := background(b, "sleep 999", nil)
	if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "resize", "sessionId": id, "cols": 80, "rows": 24}); out.Error != "Session "+id+" has no terminal; start it with pty" {
		t.Errorf("got %+v; want Error %q", out, "Session "+id+" has no terminal; start it with pty")
	}
	for _, a := range []tooltest.Args{{}, {"cols": 80}, {"cols": 80, "rows": 0}, {"cols": -1, "rows": 24}, {"cols": 80.5, "rows": 24}, {"cols": 1e9, "rows": 24}} {
		a["action"], a["sessionId"] = "resize", id
		if words := tooltest.MustFail(b.Bench, "Process", a); !strings.Contains(words, "cols") && !strings.Contains(words, "rows") {
			t.Errorf(`%v: got %s; want "cols" in it or "rows" in it`, a, words)
		}
	}
}
