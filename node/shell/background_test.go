//go:build unix

package shell

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestNewOutputReplacesOldOutput(t *testing.T) {
	jobs := NewJobs(JobOptions{})
	text := strings.Repeat("x", retained)
	for i := range 2 * maxRetained / retained {
		j := &job{id: strconv.Itoa(i), done: make(chan struct{}), canBackground: true, release: func() {}}
		j.background.Store(true)
		j.out.Write([]byte(text))
		j.out.shrink(retained)
		j.result.at = time.Now().Add(time.Duration(i))
		jobs.jobs[j.id] = j
		jobs.wg.Add(1)
		jobs.background[""]++
		jobs.finish(j)
	}
	held := 0
	for _, j := range jobs.jobs {
		held += j.out.bufferSize()
		if len(j.out.tail()) != maxTail {
			t.Errorf("%s: got a tail of %d bytes, want %d", j.id, len(j.out.tail()), maxTail)
		}
	}
	if held > maxRetained || jobs.jobs["0"].out.bufferSize() > tailBytes || jobs.jobs[strconv.Itoa(2*maxRetained/retained-1)].out.bufferSize() != retained || len(jobs.background) != 0 {
		t.Errorf("%d bytes are held, want at most %d, and no command in the list", held, maxRetained)
	}
}

func TestYieldReturnsEarlyOrNot(t *testing.T) {
	useShell(t)
	b := newBench(t)
	if out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "echo quick", "yieldMs": 100000}); out.Status != "completed" || out.Output != "quick\n" {
		t.Errorf(`got %+v; want Status "completed" and Output "quick\n"`, out)
	}
	if n := len(tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "list"}).Sessions); n != 0 {
		t.Errorf("%d sessions are listed, want none", n)
	}
	began := time.Now()
	out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "sleep 999", "yieldMs": 1})
	if out.Status != "running" || out.PID == 0 || time.Since(began) < minYield {
		t.Errorf(`got %+v; want Status "running", PID other than 0 and time since began at least %v`, out, minYield)
	}
	tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "kill", "sessionId": out.SessionID})
	end(b, out.SessionID)
}

func TestBackgroundCommandsHaveNoTimeLimitUnlessGiven(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		in   bashIn
		want time.Duration
	}{
		{bashIn{}, 5 * time.Minute},
		{bashIn{Background: true}, 0},
		{bashIn{YieldMs: new(5.0)}, 0},
		{bashIn{Background: true, Timeout: new(7.0)}, 7 * time.Millisecond},
		{bashIn{Timeout: new(0.0)}, 0},
		{bashIn{Timeout: new(0.5)}, time.Millisecond},
		{bashIn{Timeout: new(1e300)}, maxTimeout},
	} {
		c.in.Command = "true"
		if p, err := planBash(b.WS, c.in); err != nil || p.timeout != c.want {
			t.Errorf("%+v: got %v, %v; want no error and timeout %v", c.in, p.timeout, err, c.want)
		}
	}
	for ms, want := range map[float64]time.Duration{0: minYield, 9: minYield, 11: 11 * time.Millisecond, 120000: maxYield, 120001: maxYield, 1e18: maxYield} {
		if p, err := planBash(b.WS, bashIn{Command: "true", YieldMs: &ms}); err != nil || p.yield != want {
			t.Errorf("%v ms: %v, %v; want no error and yield %v", ms, p.yield, err, want)
		}
	}
	useShell(t)
	id := background(b, "sleep 999", tooltest.Args{"timeout": 50})
	if out := end(b, id); out.Status != "timed_out" || !out.TimedOut {
		t.Errorf(`got %+v; want Status "timed_out" and TimedOut`, out)
	}
}

func TestBackgroundCommandsReportStartAndEnd(t *testing.T) {
	useShell(t)
	ws, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	var mu sync.Mutex
	var events []protocol.NodeExecEvent
	jobs := NewJobs(JobOptions{Events: func(e protocol.NodeExecEvent) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}})
	b := &bench{tooltest.Of(t, ws, Tools(ws, jobs)), jobs}
	tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "true"})
	want := map[string]string{}
	for command, last := range map[string]string{"echo hi": "finished", "exit 2": "failed", "kill -9 $$": "failed", "sleep 999; exit": "timed_out"} {
		more := tooltest.Args{}
		if last == "timed_out" {
			more["timeout"] = 20
		}
		id := background(b, command, more)
		want[id] = last
		end(b, id)
	}
	jobs.Close()
	ids := map[string]bool{}
	seen := map[string][]string{}
	for _, e := range events {
		ids[e.EventID] = true
		seen[e.SessionID] = append(seen[e.SessionID], e.Event)
		if e.StartedAt == 0 || (e.Event == "started") != (e.EndedAt == 0) || e.Event == "finished" && (e.OutputTail != "hi\n" || e.ExitCode == nil) {
			t.Errorf(`got %+v; want StartedAt, EndedAt if it ended, and output "hi\n" with an exit code if it finished`, e)
		}
	}
	if len(ids) != 8 || len(seen) != 4 {
		t.Errorf("got %d events of %d commands, want 8 of 4", len(ids), len(seen))
	}
	for id, last := range want {
		if got := strings.Join(seen[id], " "); got != "started "+last {
			t.Errorf("%s, want %s", got, last)
		}
	}
}

func TestCloseEndsEverything(t *testing.T) {
	useShell(t)
	b := newBench(t)
	id := background(b, "trap '' TERM; sleep 999", nil)
	pid := b.jobs.get(id).pid
	b.jobs.Close()
	waitForEnd(t, pid)
	if words := tooltest.MustFail(b.Bench, "Bash", tooltest.Args{"command": "true"}); !strings.Contains(words, "shutting down") {
		t.Errorf(`got %v; want "shutting down" in it`, words)
	}
}

func TestFinishedCommandsAreForgottenAfterHalfAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := NewJobs(JobOptions{})
		j := &job{id: "x", started: time.Now(), done: make(chan struct{})}
		j.background.Store(true)
		j.result.at = time.Now()
		close(j.done)
		jobs.jobs["x"] = j
		time.Sleep(retention)
		if jobs.get("x") == nil {
			t.Error("it was forgotten too early")
		}
		time.Sleep(time.Millisecond)
		if jobs.get("x") != nil || len(jobs.list(nil)) != 0 {
			t.Error("it is still there")
		}
	})
}

func TestTheNumberOfBackgroundCommandsIsBounded(t *testing.T) {
	useShell(t)
	b := newBench(t)
	b.jobs.background[""] = maxBackground
	for _, how := range []string{"background", "yieldMs"} {
		t.Run(how, func(t *testing.T) {
			a := tooltest.Args{"command": "true", how: true}
			if how == "yieldMs" {
				a[how] = 10
			}
			if words := tooltest.MustFail(b.Bench, "Bash", a); !strings.Contains(words, "already running on this machine") {
				t.Errorf(`got %v; want "already running on this machine" in it`, words)
			}
		})
	}
	if out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "true"}); out.Status != "completed" {
		t.Errorf("a command that is waited for: got %+v, want it completed", out)
	}
	b.jobs.background = counts{}
}
