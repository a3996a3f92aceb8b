//go:build unix

package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/node/access"
	"fairlead/node/tooltest"
)

// waitForEnd waits until a process has ended.
func waitForEnd(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) { // a process that is not ours cannot be waited for
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || isZombie(pid) {
			return
		}
	}
	t.Errorf("process %d still runs, want it ended", pid)
}

// isZombie reports whether a process has ended and has not been reaped.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, ok := strings.Cut(string(stat), ") ")
	return err == nil && ok && strings.HasPrefix(rest, "Z")
}

func TestATimeoutIsReported(t *testing.T) {
	useShell(t)
	b := newBench(t)
	began := time.Now()
	out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "exec sleep 999", "timeout": 200})
	if took := time.Since(began); took < 200*time.Millisecond || took > 5*time.Minute {
		t.Errorf("took: got %v; want took at least %v and took at most %v", took, 200*time.Millisecond, 5*time.Minute)
	}
	if !out.TimedOut || out.Cancelled || out.Status != "failed" || out.ExitCode != nil || out.Signal != "SIGTERM" || out.DurationMs < 200 {
		t.Errorf(`got %+v; want TimedOut, not Cancelled, Status "failed", no ExitCode, Signal "SIGTERM" and DurationMs at least 200`, out)
	}
}

func TestStoppingEndsTheWholeGroup(t *testing.T) {
	useShell(t)
	b := newBench(t)
	for _, c := range []struct {
		name, command, signal string
		least                 time.Duration
	}{
		{"obeys SIGTERM", `sleep 999 & echo $!; wait`, "SIGTERM", 0},
		{"ignores SIGTERM", `trap "" TERM; sleep 999 & echo $!; wait; wait`, "SIGKILL", killAfter},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var stopped time.Time
			call := access.Call{Progress: func(tail string, _ int64) {
				if strings.Contains(tail, "\n") && stopped.IsZero() {
					stopped = time.Now()
					cancel()
				}
			}}
			out, err := tooltest.CallContext[bashOut](ctx, call, b.Bench, "Bash", tooltest.Args{"command": c.command})
			took := time.Since(stopped)
			cancel()
			if err != nil || !out.Cancelled || out.TimedOut || out.Status != "failed" || out.ExitCode != nil || out.Signal != c.signal {
				t.Errorf(`%s: got %+v, %v; want no error, Cancelled, not TimedOut, Status "failed", no ExitCode and Signal %v`, c.name, out, err, c.signal)
			}
			if took < c.least || took > 5*time.Minute {
				t.Errorf("%s: took %v; want took at least %v and took at most %v", c.name, took, c.least, 5*time.Minute)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(out.Output))
			if err != nil {
				t.Fatalf("%s: got output %q, want a process ID in it", c.name, out.Output)
			}
			waitForEnd(t, pid)
		})
	}
}

// Without a helper a process that has left the session is found while its parent runs.
func TestATimeoutEndsAProcessThatLeftTheGroup(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip("no setsid here")
	}
	useShell(t)
	b := newBench(t)
	var out bashOut
	for limit := 1000; limit < 200_000 && out.Output == ""; limit *= 3 { // it must have started by then
		out = tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": setsid + ` sh -c 'echo $$; exec sleep 999' & sleep 999`, "timeout": limit})
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.Output))
	if err != nil || !out.TimedOut || out.OutputStillOpen {
		t.Fatalf("got %+v, want a timeout and the number of a process", out)
	}
	waitForEnd(t, pid)
}

func TestACancelledCallDoesNotStart(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tooltest.CallContext[bashOut](ctx, access.Call{}, b.Bench, "Bash", tooltest.Args{"command": "touch started"}); err == nil {
		t.Error("it started")
	}
	if _, err := os.Stat(filepath.Join(b.WS.Dir(), "started")); !errors.Is(err, os.ErrNotExist) {
		t.Error("it ran")
	}
}

func TestAChildThatKeepsTheOutputOpenEndsWithTheCall(t *testing.T) {
	useShell(t)
	b := newBench(t)
	began := time.Now()
	out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "sleep 999 & echo $!"})
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the call took %v, want at most a minute", took)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.Output))
	if err != nil || out.Status != "completed" || out.OutputStillOpen {
		t.Fatalf("got %+v, want a completed command with closed output", out)
	}
	waitForEnd(t, pid)
}
