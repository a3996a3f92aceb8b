//go:build unix

package shell

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/node/access"
	"fairlead/node/tooltest"
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
		t.Run(c.command, func(t *testing.T) {
			before := time.Now().UnixMilli()
			m := tooltest.Must[map[string]any](b.Bench, "Bash", tooltest.Args{"command": c.command})
			for _, field := range []string{"status", "sessionId", "exitCode", "signal", "timedOut", "startedAt", "endedAt", "durationMs", "output", "tail", "truncated", "workdir"} {
				if _, ok := m[field]; !ok {
					t.Errorf("%s: got %v, want a field %s", c.command, m, field)
				}
			}
			if m["status"] != c.status || m["output"] != c.output || m["tail"] != c.output || m["exitCode"] != c.code || m["signal"] != c.signal {
				t.Errorf(`%s: got %v; want m["status"] %v, m["output"] %v, m["tail"] %v, m["exitCode"] %v and m["signal"] %v`, c.command, m, c.status, c.output, c.output, c.code, c.signal)
			}
			start, end := int64(m["startedAt"].(float64)), int64(m["endedAt"].(float64))
			if start < before || end < start || m["timedOut"] != false || m["truncated"] != false || m["workdir"] != b.WS.Dir() {
				t.Errorf(`%s: got %v; want start at least %v, end at least %v, not m["timedOut"], not m["truncated"] and m["workdir"] %v`, c.command, m, before, start, b.WS.Dir())
			}
			if _, ok := m["pid"]; ok {
				t.Errorf("%s: got a pid of a finished command, want none", c.command)
			}
		})
	}
}

func TestBashRefusesInvalidCommands(t *testing.T) {
	b := newBench(t)
	file := b.File("file", "")
	for want, a := range map[string]tooltest.Args{
		"command must not be empty":   {"command": " \n\t"},
		"command is too long":         {"command": "#" + strings.Repeat("x", maxCommand)},
		"command contains a zero":     {"command": "a\x00b"},
		"missing":                     {"command": "true", "workdir": "missing"},
		"'" + file + "' is not a fol": {"command": "true", "workdir": "file"},
	} {
		if words := tooltest.MustFail(b.Bench, "Bash", a); !strings.Contains(words, want) {
			t.Errorf("%s: got %s; want words with %v", want, words, want)
		}
		if p := tooltest.Preview(b.Bench, "Bash", a); p.Problem == "" {
			t.Errorf("%s: the preview sees no problem", want)
		}
	}
}

func TestBashRunsInTheFolderItIsGiven(t *testing.T) {
	useShell(t)
	b := newBench(t)
	b.File("sub/f", "")
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ workdir, want string }{
		{"", b.WS.Dir()}, {"sub", filepath.Join(b.WS.Dir(), "sub")}, {filepath.Join(b.WS.Dir(), "sub"), filepath.Join(b.WS.Dir(), "sub")}, {outside, outside},
	} {
		out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": `pwd; echo "$PWD"`, "workdir": c.workdir})
		if out.Output != c.want+"\n"+c.want+"\n" || out.Workdir != c.want {
			t.Errorf(`%q: got %+v; want Output with %q on two lines, and Workdir %[3]q`, c.workdir, out, c.want)
		}
	}
	if p := tooltest.Preview(b.Bench, "Bash", tooltest.Args{"command": "true", "workdir": outside}); !p.Outside || p.Folder != outside || p.Problem != "" {
		t.Errorf("got %+v; want Outside, Folder %v and an empty Problem", p, outside)
	}
}

func TestBashUsesTheLoginShellOrSh(t *testing.T) {
	b := newBench(t)
	fake := b.File("fakeshell", "#!/bin/sh\necho \"fake $1 $2\"\n")
	if err := os.Chmod(fake, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHELL", fake)
	if out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "hello"}); out.Output != "fake -c hello\n" {
		t.Errorf("got %q, want %q", out.Output, "fake -c hello\n")
	}
	for _, s := range []string{"", "sh", "/no/such/shell", b.WS.Dir(), b.File("plain", "")} {
		t.Setenv("SHELL", s)
		if got := Path(); got != "/bin/sh" {
			t.Errorf(`SHELL=%q: %s, want "/bin/sh"`, s, got)
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
	out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": `echo "$FAIRLEAD_TOKEN-$LD_AUDIT-$NODE_OPTIONS-$MINE-$FAIRLEAD"`})
	if out.Output != "---kept-1\n" {
		t.Errorf("got %q, want %q", out.Output, "---kept-1\n")
	}
}

func TestCommandsCannotPromptForInput(t *testing.T) {
	useShell(t)
	t.Setenv("PAGER", "less")
	t.Setenv("HOME", t.TempDir())
	b := newBench(t)
	out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": `echo "$PAGER $GIT_TERMINAL_PROMPT $EDITOR"`})
	if out.Output != "cat 0 false\n" {
		t.Errorf("got %q, want %q", out.Output, "cat 0 false\n")
	}
}

func TestCommandsAboveTheBoundWaitTheirTurn(t *testing.T) {
	useShell(t)
	b := newBench(t)
	release := takeForeground(t, b.jobs)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if out, err := tooltest.Call[bashOut](b.Bench, "Bash", tooltest.Args{"command": "echo mine"}); err != nil || out.Output != "mine\n" {
				t.Errorf(`got %+v, %v; want no error and Output "mine\n"`, out, err)
			}
		})
	}
	wg.Go(func() {
		if _, err := tooltest.CallContext[bashOut](ctx, access.Call{}, b.Bench, "Bash", tooltest.Args{"command": "touch ran"}); err == nil || !strings.Contains(err.Error(), "cancelled while waiting") {
			t.Errorf(`error: got %v, want an error with "cancelled while waiting"`, err)
		}
	})
	if out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "true", "yieldMs": 60000}); out.Status != "completed" {
		t.Errorf("a short command that may go on in the background: got %+v, want it completed", out)
	}
	cancel()
	if out, err := callAs(b, "app1", "Bash", tooltest.Args{"command": "true"}); err != nil || out["status"] != "completed" {
		t.Errorf(`a command of an app while the chats are at their limit: got %v, %v; want no error and out["status"] "completed"`, out, err)
	}
	release()
	wg.Wait()
	if _, err := os.Stat(filepath.Join(b.WS.Dir(), "ran")); err == nil {
		t.Error("a cancelled command ran")
	}
}

func TestBashGivesNoInput(t *testing.T) {
	useShell(t)
	b := newBench(t)
	if out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "cat; read x; echo $?", "timeout": 20000}); out.TimedOut || out.Output != "1\n" {
		t.Errorf(`got %+v; want not TimedOut and Output "1\n"`, out)
	}
}

func TestPreviewOfBashNamesItsPrograms(t *testing.T) {
	useShell(t)
	b := newBench(t)
	tool := b.File("bin/tool", "#!/bin/sh\n")
	if err := os.Chmod(tool, 0o755); err != nil {
		t.Fatal(err)
	}
	p := tooltest.Preview(b.Bench, "Bash", tooltest.Args{"command": `FOO=1 'cat' f | "sort" && ./bin/tool $(ls) ; nosuchprogram; $dynamic x; cat g`})
	var names []string
	for _, pr := range p.Programs {
		names = append(names, pr.Name)
		if (pr.Name == "nosuchprogram") != (pr.Path == "") {
			t.Errorf(`got %+v; want a path for each program but nosuchprogram`, pr)
		}
	}
	if got := strings.Join(names, " "); got != "cat sort ./bin/tool ls nosuchprogram" {
		t.Errorf(`programs: got %s, want "cat sort ./bin/tool ls nosuchprogram"`, got)
	}
	if p.Programs[2].Path != tool || p.Shell != "/bin/sh" || p.Folder != b.WS.Dir() || p.Outside {
		t.Errorf(`got %+v; want p.Programs[2].Path %v, p.Shell "/bin/sh", p.Folder %v and not p.Outside`, p, tool, b.WS.Dir())
	}
	if p := tooltest.Preview(b.Bench, "Bash", tooltest.Args{"command": "if ("}); p.Programs != nil || p.Problem != "" {
		t.Errorf("a command that cannot be parsed: got %+v, want no programs and no problem", p)
	}
	t.Setenv("SHELL", tool)
	if p := tooltest.Preview(b.Bench, "Bash", tooltest.Args{"command": "cat"}); p.Programs != nil {
		t.Errorf("a command of another shell: got %+v, want no programs", p)
	}
}
