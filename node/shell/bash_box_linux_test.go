package shell

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/node/access"
	"fairlead/node/sandbox"
	"fairlead/node/tooltest"
)

func useSetsid(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip("no setsid here")
	}
	return path
}

// pids returns the process numbers in text.
func pids(t *testing.T, text string) (all []int) {
	t.Helper()
	for _, word := range strings.Fields(text) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("got %q, want a list of processes", text)
		}
		all = append(all, pid)
	}
	return all
}

func TestATimeoutEndsTheWholeTree(t *testing.T) {
	useShell(t)
	setsid := useSetsid(t)
	for _, mode := range []sandbox.Mode{sandbox.Full, sandbox.WorkspaceWrite} {
		b := newBoxedBench(t, mode)
		var out bashOut
		var took time.Duration
		// All three must be running by then.
		for limit := 700; limit < 200_000 && strings.Count(out.Output, "\n") < 3; limit *= 3 {
			began := time.Now()
			out = tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"timeout": limit, "command": `trap "" TERM; sleep 999 & echo $!
` + setsid + ` sh -c 'trap "" TERM; echo $$; ` + setsid + ` sleep 999 & echo $!; wait' & wait; wait; wait`})
			took = time.Since(began)
		}
		if took > 5*time.Minute || !out.TimedOut || out.Status != "failed" || out.ExitCode != nil || out.Signal != "SIGKILL" || out.OutputStillOpen {
			t.Errorf(`%s: took %v: %+v; want took at most %v, TimedOut, Status "failed", no ExitCode, Signal "SIGKILL" and not OutputStillOpen`, mode, took, out, 5*time.Minute)
		}
		all := pids(t, out.Output)
		if len(all) != 3 {
			t.Errorf("%s: %d processes, want 3", mode, len(all))
		}
		for _, pid := range all {
			if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil {
				t.Errorf("%s: process %d still runs, want it ended", mode, pid)
			}
		}
	}
}

func TestKillEndsTheTree(t *testing.T) {
	useShell(t)
	setsid := useSetsid(t)
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	id := background(b, "sleep 999 & "+setsid+" sleep 999 & jobs -p; wait", nil)
	waitForOutput(b, id, func(s string) bool { return strings.Count(s, "\n") == 2 })
	tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "kill", "sessionId": id})
	out := end(b, id)
	if out.Signal != "SIGKILL" || out.ExitCode != nil || out.Status != "failed" {
		t.Errorf("got %+v, want an end by SIGKILL", out)
	}
	for _, pid := range pids(t, out.Tail) {
		waitForEnd(t, pid)
	}
}

// leave are ways for a command to leave processes running that have its output open.
var leave = map[string]struct {
	script string
	left   int
}{
	"background":  {`sleep 999 & echo $!`, 1},
	"double fork": {`(setsid sh -c 'setsid sh -c "echo \$\$; exec sleep 999" & exit 0' &) | head -n 1`, 1},
	"many":        {`for i in $(seq 200); do (trap "" TERM; exec sleep 999) & done; jobs -p`, 200},
}

func TestAForegroundCommandLeavesNoProcess(t *testing.T) {
	useShell(t)
	useSetsid(t)
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	for name, c := range leave {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": c.script})
			if took := time.Since(began); took > time.Minute || out.Status != "completed" || out.OutputStillOpen {
				t.Errorf("got %+v after %v, want a completed command with closed output", out, took)
			}
			all := pids(t, out.Output)
			for _, pid := range all {
				if alive := !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && !isZombie(pid); alive {
					t.Errorf("process %d still runs when the result arrives, want it ended", pid)
				}
			}
			want := fmt.Sprintf("%d processes that the command left running were ended.", c.left)
			if c.left == 1 {
				want = "1 process that the command left running was ended."
			}
			if len(all) != c.left || out.Note != want {
				t.Errorf("got %d processes and note %q, want %d and %q", len(all), out.Note, c.left, want)
			}
		})
	}
	if out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "true | cat"}); out.Note != "" {
		t.Errorf("got note %q for a command that leaves nothing, want none", out.Note)
	}
}

func TestATimeoutSaysHowManyProcessesWereEnded(t *testing.T) {
	useShell(t)
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	var out bashOut
	for limit := 1000; limit < 200_000 && out.Output == ""; limit *= 3 { // all must have started by then
		out = tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "sleep 999 & sleep 999 & echo started; wait", "timeout": limit})
	}
	const want = "The command was ended together with 2 processes that it had started."
	if !out.TimedOut || out.Note != want {
		t.Errorf("got %+v, want a timeout and note %q", out, want)
	}
}

func TestABackgroundCommandIsListedWithItsProcessesAndEndsThem(t *testing.T) {
	useShell(t)
	useSetsid(t)
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	id := background(b, `(setsid sh -c 'echo $$; exec sleep 999' &); read line`, nil)
	waitForOutput(b, id, func(s string) bool { return strings.Contains(s, "\n") })
	pid := pids(t, tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "poll", "sessionId": id}).Tail)[0]
	list := tooltest.Must[struct{ Sessions []struct{ Processes []int } }](b.Bench, "Process", tooltest.Args{"action": "list"})
	if len(list.Sessions) != 1 || !slices.Contains(list.Sessions[0].Processes, pid) {
		t.Errorf("got %+v, want one session with process %d", list, pid)
	}
	tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "submit", "sessionId": id, "data": "x"})
	end(b, id)
	waitForEnd(t, pid)
	out := tooltest.Must[struct{ Note string }](b.Bench, "Process", tooltest.Args{"action": "poll", "sessionId": id})
	if want := "1 process that the command left running was ended."; out.Note != want {
		t.Errorf("got note %q, want %q", out.Note, want)
	}
}

func TestCommandsAreContained(t *testing.T) {
	useShell(t)
	outside := t.TempDir()
	t.Setenv("UNKNOWN_SECRET", "x")
	t.Setenv("DECLARED", "y")
	for _, c := range []struct {
		mode           sandbox.Mode
		inside, beyond bool
		enforced       string
	}{
		{sandbox.ReadOnly, false, false, "files read-only, network blocked"},
		{sandbox.WorkspaceWrite, true, false, "files workspace-write, network blocked"},
		{"", true, false, "files workspace-write, network blocked"},
		{sandbox.Full, true, true, "full access, as set for this machine, including keys and tokens of Fairlead and others"},
	} {
		b := newBoxedBench(t, c.mode)
		b.jobs.confinement.env = []string{"DECLARED"}
		if r := b.jobs.confinement.box.Report(); c.mode != sandbox.Full && !(r.ConfinesFiles() && r.BlocksNetwork()) {
			t.Skipf("this machine cannot contain commands: %+v", r)
		}
		path := filepath.Join(outside, "f")
		os.Remove(path)
		out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": `echo 1 > f; echo 2 > "` + path + `"; echo "$UNKNOWN_SECRET$DECLARED"; ls -la >/dev/null`})
		if _, err := os.Stat(filepath.Join(b.WS.Dir(), "f")); (err == nil) != c.inside {
			t.Errorf("%q: got error %v for the file inside, want it written: %v", c.mode, err, c.inside)
		}
		if _, err := os.Stat(path); (err == nil) != c.beyond {
			t.Errorf("%q: got error %v for the file outside, want it written: %v", c.mode, err, c.beyond)
		}
		if out.Enforced != c.enforced || out.ExitCode == nil || *out.ExitCode != 0 {
			t.Errorf("%q: got %+v; want Enforced %v and ExitCode 0", c.mode, out, c.enforced)
		}
		want := "y\n"
		if c.mode == sandbox.Full {
			want = "xy\n"
		}
		if !strings.HasSuffix(out.Output, want) {
			t.Errorf("%q: got %q; want a Output that ends with %v", c.mode, out.Output, want)
		}
	}
}

func TestUnenforceableLimitsAreReported(t *testing.T) {
	useShell(t)
	b := newBenchWith(t, sandbox.Options{Missing: []string{"helper"}}, sandbox.Profile{})
	if out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "echo hi"}); out.Enforced != notEnforced || out.Output != "hi\n" {
		t.Errorf(`got %+v; want Enforced %v and Output "hi\n"`, out, notEnforced)
	}
	for command, blocked := range map[string]bool{"curl --version": true, "git fetch": true, "echo hi": false} {
		t.Run(command, func(t *testing.T) {
			out, err := runBash(t.Context(), b.WS, b.jobs, access.Call{}, bashIn{Command: command})
			var word *networkWord
			if errors.As(err, &word) != blocked || !blocked && out.Status != "completed" {
				t.Errorf(`%s: got %+v, %v; want the network blocked %v, and Status "completed" if not`, command, out, err, blocked)
			}
			if p := tooltest.Preview(b.Bench, "Bash", tooltest.Args{"command": command}); (p.Problem != "") != blocked {
				t.Errorf("preview of %s: got %+v, want a problem: %v", command, p, blocked)
			}
		})
	}
	some := sandbox.Report{}
	for _, id := range []string{sandbox.CheckWriteOutside, sandbox.CheckReadSecrets} {
		some.Checks = append(some.Checks, sandbox.Check{ID: id, Enforced: true})
	}
	for _, c := range []struct {
		p    sandbox.Profile
		want string
	}{
		{sandbox.Profile{}, "files workspace-write, network not enforced on this machine"},
		{sandbox.Profile{Mode: sandbox.ReadOnly, Network: sandbox.NetAllowed}, "files read-only, network allowed"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := Enforced(some, c.p); got != c.want {
				t.Errorf("%+v: got %s, want %v", c.p, got, c.want)
			}
		})
	}
}

func TestCommandsThatCannotStartSayWhy(t *testing.T) {
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	t.Setenv("SHELL", b.File("shell", "#!/no/such/interpreter\n"))
	if err := os.Chmod(filepath.Join(b.WS.Dir(), "shell"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "true"}); out.Status != "failed" || *out.ExitCode != 127 || !strings.Contains(out.Output, "not found") {
		t.Errorf("got %+v, want a failure with the shell's reason", out)
	}
	takeForeground(t, b.jobs)()
}
