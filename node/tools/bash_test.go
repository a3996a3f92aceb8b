//go:build unix

package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

func useShell(t *testing.T) { t.Setenv("SHELL", "/bin/sh") }

func TestBashReturnsEveryFieldOfTheSeed(t *testing.T) {
	useShell(t)
	b := newBench(t)
	for _, c := range []struct {
		command, status, output string
		code                    any
		signal                  any
	}{
		{"printf hello", "completed", "hello", 0.0, nil},
		{"echo out; echo err >&2; echo out2; exit 3", "failed", "out\nerr\nout2\n", 3.0, nil},
		{"kill -TERM $$", "failed", "", nil, "SIGTERM"},
		{"kill -KILL $$", "failed", "", nil, "SIGKILL"},
		{"no-such-program-anywhere 2>/dev/null", "failed", "", 127.0, nil},
		{"true", "completed", "", 0.0, nil},
	} {
		before := time.Now().UnixMilli()
		m := must[map[string]any](b, "Bash", args{"command": c.command})
		for _, field := range []string{"status", "sessionId", "exitCode", "signal", "timedOut", "startedAt", "endedAt", "durationMs", "output", "tail", "truncated", "workdir"} {
			if _, ok := m[field]; !ok {
				t.Errorf("%s: no %s in %v", c.command, field, m)
			}
		}
		if m["status"] != c.status || m["output"] != c.output || m["tail"] != c.output || m["exitCode"] != c.code || m["signal"] != c.signal {
			t.Errorf("%s: %v", c.command, m)
		}
		start, end := int64(m["startedAt"].(float64)), int64(m["endedAt"].(float64))
		if start < before || end < start || m["timedOut"] != false || m["truncated"] != false || m["workdir"] != b.ws.Dir() {
			t.Errorf("%s: %v", c.command, m)
		}
		if _, ok := m["pid"]; ok {
			t.Errorf("%s: a finished command has a pid", c.command)
		}
	}
}

func TestBashRefusesWhatCannotRun(t *testing.T) {
	b := newBench(t)
	file := b.file("file", "")
	for want, a := range map[string]args{
		"command must not be empty":   {"command": " \n\t"},
		"command is too long":         {"command": "#" + strings.Repeat("x", maxCommand)},
		"command contains a zero":     {"command": "a\x00b"},
		"missing":                     {"command": "true", "workdir": "missing"},
		"'" + file + "' is not a fol": {"command": "true", "workdir": "file"},
	} {
		if words := fails(b, "Bash", a); !strings.Contains(words, want) {
			t.Errorf("%s: %s", want, words)
		}
		if p := preview(b, "Bash", a); p.Problem == "" {
			t.Errorf("%s: the preview sees no problem", want)
		}
	}
}

func TestBashRunsInTheFolderItIsGiven(t *testing.T) {
	useShell(t)
	b := newBench(t)
	b.file("sub/f", "")
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ workdir, want string }{
		{"", b.ws.Dir()}, {"sub", filepath.Join(b.ws.Dir(), "sub")}, {filepath.Join(b.ws.Dir(), "sub"), filepath.Join(b.ws.Dir(), "sub")}, {outside, outside},
	} {
		out := must[bashOut](b, "Bash", args{"command": `pwd; echo "$PWD"`, "workdir": c.workdir})
		if out.Output != c.want+"\n"+c.want+"\n" || out.Workdir != c.want {
			t.Errorf("%q: %+v", c.workdir, out)
		}
	}
	if p := preview(b, "Bash", args{"command": "true", "workdir": outside}); !p.Outside || p.Folder != outside || p.Problem != "" {
		t.Errorf("%+v", p)
	}
}

func TestBashUsesTheLoginShellOrSh(t *testing.T) {
	b := newBench(t)
	fake := b.file("fakeshell", "#!/bin/sh\necho \"fake $1 $2\"\n")
	if err := os.Chmod(fake, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHELL", fake)
	if out := must[bashOut](b, "Bash", args{"command": "hello"}); out.Output != "fake -lc hello\n" {
		t.Errorf("%q", out.Output)
	}
	for _, s := range []string{"", "sh", "/no/such/shell", b.ws.Dir(), b.file("plain", "")} {
		t.Setenv("SHELL", s)
		if got := shell(); got != "/bin/sh" {
			t.Errorf("SHELL=%q: %s", s, got)
		}
	}
}

func TestBashHasItsOwnEnvironment(t *testing.T) {
	useShell(t)
	t.Setenv("FAIRLEAD_TOKEN", "secret")
	t.Setenv("LD_AUDIT", "x")
	t.Setenv("NODE_OPTIONS", "x")
	t.Setenv("MINE", "kept")
	b := newBench(t)
	out := must[bashOut](b, "Bash", args{"command": `echo "$FAIRLEAD_TOKEN-$LD_AUDIT-$NODE_OPTIONS-$MINE-$FAIRLEAD"`})
	if out.Output != "---kept-1\n" {
		t.Errorf("%q", out.Output)
	}
}

func TestCommandsAreKeptFromAskingWhatNobodyAnswers(t *testing.T) {
	useShell(t)
	t.Setenv("PAGER", "less")
	t.Setenv("HOME", t.TempDir())
	b := newBench(t)
	out := must[bashOut](b, "Bash", args{"command": `echo "$PAGER $GIT_TERMINAL_PROMPT $EDITOR"`})
	if out.Output != "cat 0 false\n" {
		t.Errorf("%q", out.Output)
	}
}

func TestCommandsAboveTheBoundWaitTheirTurn(t *testing.T) {
	useShell(t)
	b := newBench(t)
	for range maxWaited {
		b.jobs.turns <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if out, err := call[bashOut](b, "Bash", args{"command": "echo mine"}); err != nil || out.Output != "mine\n" {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	wg.Go(func() {
		if _, err := callCtx[bashOut](b, ctx, "Bash", args{"command": "touch ran"}); err == nil || !strings.Contains(err.Error(), "cancelled while it waited") {
			t.Errorf("error %v", err)
		}
	})
	if out := must[bashOut](b, "Bash", args{"command": "true", "yieldMs": 60000}); out.Status != "completed" {
		t.Errorf("a command that may stay waits: %+v", out)
	}
	cancel()
	for range maxWaited {
		<-b.jobs.turns
	}
	wg.Wait()
	if _, err := os.Stat(filepath.Join(b.ws.Dir(), "ran")); err == nil {
		t.Error("a cancelled command ran")
	}
}

func TestBashGivesNoInput(t *testing.T) {
	useShell(t)
	b := newBench(t)
	if out := must[bashOut](b, "Bash", args{"command": "cat; read x; echo $?", "timeout": 20000}); out.TimedOut || out.Output != "1\n" {
		t.Errorf("%+v", out)
	}
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) { // a process that is not ours cannot be waited for
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			return
		}
	}
	t.Errorf("process %d still runs", pid)
}

// zombie reports whether a process has ended and only waits to be collected.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, ok := strings.Cut(string(stat), ") ")
	return err == nil && ok && strings.HasPrefix(rest, "Z")
}

func TestATimeoutIsReported(t *testing.T) {
	useShell(t)
	b := newBench(t)
	began := time.Now()
	out := must[bashOut](b, "Bash", args{"command": "exec sleep 60", "timeout": 200})
	if took := time.Since(began); took < 200*time.Millisecond || took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if !out.TimedOut || out.Cancelled || out.Status != "failed" || out.ExitCode != nil || out.Signal != "SIGTERM" || out.DurationMs < 200 {
		t.Errorf("%+v", out)
	}
}

func TestStoppingEndsTheWholeGroup(t *testing.T) {
	useShell(t)
	b := newBench(t)
	for _, c := range []struct {
		name, command, signal string
		least                 time.Duration
	}{
		{"obeys SIGTERM", `sleep 60 & echo $!; wait`, "SIGTERM", 0},
		{"ignores SIGTERM", `trap "" TERM; sleep 60 & echo $!; wait; wait`, "SIGKILL", killAfter},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var stopped time.Time
		ctx = WithProgress(ctx, func(tail string, _ int64) {
			if strings.Contains(tail, "\n") && stopped.IsZero() {
				stopped = time.Now()
				cancel()
			}
		})
		out, err := callCtx[bashOut](b, ctx, "Bash", args{"command": c.command})
		took := time.Since(stopped)
		cancel()
		if err != nil || !out.Cancelled || out.TimedOut || out.Status != "failed" || out.ExitCode != nil || out.Signal != c.signal {
			t.Errorf("%s: %+v, %v", c.name, out, err)
		}
		if took < c.least || took > 20*time.Second {
			t.Errorf("%s: took %v", c.name, took)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(out.Output))
		if err != nil {
			t.Fatalf("%s: the output before the end is lost: %q", c.name, out.Output)
		}
		gone(t, pid)
	}
}

// Such a process lives on: ending it is the work of a supervisor. It must not hold up the call that started it.
func TestAProcessThatLeftTheGroupDoesNotHoldUpTheCall(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip("no setsid here")
	}
	useShell(t)
	b := newBench(t)
	began := time.Now()
	out := must[bashOut](b, "Bash", args{"command": setsid + ` sh -c 'echo $$; exec sleep 30' & sleep 30`, "timeout": 1000})
	if took := time.Since(began); took > 20*time.Second || !out.TimedOut {
		t.Errorf("took %v: %+v", took, out)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(out.Output)); err == nil {
		if !out.OutputStillOpen {
			t.Error("nothing says that someone still has the output")
		}
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestACancelledCallDoesNotStart(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := callCtx[bashOut](b, ctx, "Bash", args{"command": "touch started"}); err == nil {
		t.Error("it started")
	}
	if _, err := os.Stat(filepath.Join(b.ws.Dir(), "started")); !errors.Is(err, os.ErrNotExist) {
		t.Error("it ran")
	}
}

func TestOutputThatNobodyReadYetIsNotLost(t *testing.T) {
	for _, open := range []bool{false, true} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		fmt.Fprint(w, "left behind")
		if !open {
			w.Close()
		}
		reader := make(chan struct{})
		close(reader) // it gave up before it had its turn
		var o output
		if got := drain(r, 0, reader, &o); got != open {
			t.Errorf("still open: %v, want %v", got, open)
		}
		if s, _ := o.text(); s != "left behind" {
			t.Errorf("%q", s)
		}
		w.Close()
	}
}

func TestAChildThatKeepsTheOutputOpenDoesNotHoldUpTheCall(t *testing.T) {
	useShell(t)
	b := newBench(t)
	began := time.Now()
	out := must[bashOut](b, "Bash", args{"command": "sleep 20 & echo $!"})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.Output))
	if err != nil || out.Status != "completed" || !out.OutputStillOpen {
		t.Fatalf("%+v", out)
	}
	syscall.Kill(pid, syscall.SIGKILL)
}

func TestProgressIsPacedAndHasTheTail(t *testing.T) {
	useShell(t)
	b := newBench(t)
	var mu sync.Mutex
	var times []time.Time
	var last string
	var bytes int64
	ctx := WithProgress(t.Context(), func(tail string, n int64) {
		mu.Lock()
		defer mu.Unlock()
		times, last, bytes = append(times, time.Now()), tail, n
	})
	began := time.Now()
	if _, err := callCtx[bashOut](b, ctx, "Bash", args{"command": "for i in 1 2 3 4 5 6 7 8; do printf 'é%05000d' $i; sleep 0.08; done"}); err != nil {
		t.Fatal(err)
	}
	most := int(time.Since(began)/progressEvery) + 1
	if len(times) == 0 || len(times) > most {
		t.Errorf("%d reports, want 1 to %d", len(times), most)
	}
	if utf8.RuneCountInString(last) > maxTail || !utf8.ValidString(last) || bytes < int64(len(last)) {
		t.Errorf("%d characters of %d bytes", utf8.RuneCountInString(last), bytes)
	}
}

func TestOutputBeyondTheLimitKeepsTheTail(t *testing.T) {
	useShell(t)
	b := newBench(t)
	for _, c := range []struct {
		command   string
		chars     int
		truncated bool
	}{
		{"head -c 200000 /dev/zero | tr '\\0' a", 200_000, false},
		{"head -c 200001 /dev/zero | tr '\\0' a", 200_000, true},
		{"head -c 200001 /dev/zero | sed 's/\\x00/é/g'", 200_000, true},
		{"head -c 3000000 /dev/zero | tr '\\0' a; printf END", 200_000, true},
	} {
		out := must[bashOut](b, "Bash", args{"command": c.command})
		if n := utf8.RuneCountInString(out.Output); n != c.chars || out.Truncated != c.truncated || !utf8.ValidString(out.Output) {
			t.Errorf("%s: %d characters, truncated %v", c.command, n, out.Truncated)
		}
		if utf8.RuneCountInString(out.Tail) != maxTail || !strings.HasSuffix(out.Output, out.Tail) {
			t.Errorf("%s: the tail is not the end", c.command)
		}
	}
}

func TestInvalidBytesAreShownNotFatal(t *testing.T) {
	useShell(t)
	b := newBench(t)
	raw, err := b.tools["Bash"].Call(t.Context(), json.RawMessage(`{"command":"printf 'a\\377b\\303'; printf '\\251c'"}`))
	var out bashOut
	if err != nil || !utf8.Valid(raw) || json.Unmarshal(raw, &out) != nil || out.Output != "a\uFFFDb\u00e9c" {
		t.Errorf("%q, %v", out.Output, err)
	}
}

func TestManyCommandsAtOnceKeepTheirOutputApart(t *testing.T) {
	useShell(t)
	b := newBench(t)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			out, err := call[bashOut](b, "Bash", args{"command": fmt.Sprintf("echo %d", i)})
			if err != nil || out.Output != fmt.Sprintf("%d\n", i) {
				t.Errorf("%d: %+v, %v", i, out, err)
			}
		})
	}
	wg.Wait()
	b.jobs.wg.Wait() // a call returns before the table has let go of its job
	if len(b.jobs.jobs) != 0 || len(b.jobs.turns) != 0 {
		t.Errorf("%d jobs are left, %d turns", len(b.jobs.jobs), len(b.jobs.turns))
	}
}

func TestPreviewOfBashNamesItsPrograms(t *testing.T) {
	useShell(t)
	b := newBench(t)
	tool := b.file("bin/tool", "#!/bin/sh\n")
	if err := os.Chmod(tool, 0o755); err != nil {
		t.Fatal(err)
	}
	p := preview(b, "Bash", args{"command": `FOO=1 'cat' f | "sort" && ./bin/tool $(ls) ; nosuchprogram; $dynamic x; cat g`})
	var names []string
	for _, pr := range p.Programs {
		names = append(names, pr.Name)
		if (pr.Name == "nosuchprogram") != (pr.Path == "") {
			t.Errorf("%+v", pr)
		}
	}
	if got := strings.Join(names, " "); got != "cat sort ./bin/tool ls nosuchprogram" {
		t.Errorf("programs: %s", got)
	}
	if p.Programs[2].Path != tool || p.Shell != "/bin/sh" || p.Folder != b.ws.Dir() || p.Outside {
		t.Errorf("%+v", p)
	}
	if p := preview(b, "Bash", args{"command": "if ("}); p.Programs != nil || p.Problem != "" {
		t.Errorf("a command that cannot be parsed: %+v", p)
	}
	t.Setenv("SHELL", tool)
	if p := preview(b, "Bash", args{"command": "cat"}); p.Programs != nil {
		t.Errorf("another shell's command was parsed: %+v", p)
	}
}
