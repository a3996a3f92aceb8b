//go:build unix

package shell

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/node/access"
	"fairlead/node/baseline"
	"fairlead/node/floor"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

// newLookingBench makes a bench whose commands are plain children, and are looked at afterwards.
func newLookingBench(t *testing.T) *bench {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	ws, err := workspace.Open(tooltest.Folder(t))
	if err != nil {
		t.Fatal(err)
	}
	list := floor.New()
	t.Cleanup(list.Close)
	store, err := baseline.New(t.TempDir(), ws, list, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	return benchOf(t, ws, JobOptions{Baseline: store, Home: t.TempDir()})
}

// writers are ways to write HOOK or CONFIG, files in .git, without a look at the command.
var writers = []string{
	"echo x >HOOK", "echo x >>HOOK", "printf x | tee HOOK", "cp src HOOK", "cat src >HOOK", "mv src HOOK", "ln src HOOK", "ln -s ../../src HOOK",
	"dd if=src of=HOOK status=none", "install -m 755 src HOOK", "sed -n 'w HOOK' src", "awk '{print > \"HOOK\"}' src", "sort -o HOOK src", "uniq src HOOK",
	"python3 -c 'open(\"HOOK\",\"w\").write(\"x\")'", "perl -e 'open F,\">HOOK\";print F 1'", "mkdir -p t/.git/hooks && cp src t/HOOK && tar -C t -cf - HOOK | tar xf -",
	"mv .git g && cp src g/hooks/pre-commit && mv g .git", "rm -r .git/hooks && mkdir n && cp src n/pre-commit && mv n .git/hooks", "cd .git && cp ../src hooks/pre-commit",
	"ln -s .git d && cp src d/hooks/pre-commit", "rm -r .git/hooks && mkdir n && cp src n/pre-commit && ln -s ../n .git/hooks", "bash -c 'echo x >HOOK'", "(sleep 0; cp src HOOK) & wait",
	"git config core.hooksPath n", "git config core.fsmonitor ./src", "sed -i s/bare/x/ CONFIG", "cp src CONFIG", "rm CONFIG && cp src CONFIG", "truncate -s 0 CONFIG",
	"mkdir -p .husky && cp src .husky/pre-commit", "cp src .envrc", "mkdir -p sub && cp src sub/.envrc", "mkdir -p .vscode && cp src .vscode/tasks.json", "git init -q sub && cp src sub/HOOK",
	"git init -q --bare bare && cp src bare/hooks/pre-commit",
}

func TestNoWayToWriteAProtectedFileSurvivesTheCommand(t *testing.T) {
	useShell(t)
	for _, program := range []string{"git", "python3", "perl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is missing", program)
		}
	}
	b := newLookingBench(t)
	run := func(command string, call access.Call) bashOut {
		t.Helper()
		out, err := runBash(t.Context(), b.WS, b.jobs, call, bashIn{Command: command})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	mine := access.Call{Direct: true}
	for _, w := range writers {
		w = strings.NewReplacer("HOOK", ".git/hooks/pre-commit", "CONFIG", ".git/config").Replace(w)
		t.Run(w, func(t *testing.T) {
			run("rm -rf .git .husky .vscode .envrc sub bare t g n d && git init -q . && printf '#!/bin/sh\n' >src && chmod +x src", mine)
			config, err := os.ReadFile(filepath.Join(b.WS.Dir(), ".git/config"))
			if err != nil {
				t.Fatal(err)
			}
			out := run(w, access.Call{})
			if len(out.PutBack) == 0 || !strings.Contains(out.Note, "This was undone") {
				t.Errorf(`nothing was put back: %s %s %q; want one with "This was undone"`, out.Status, out.Output, out.Note)
			}
			for _, c := range out.PutBack {
				if c.Problem != "" {
					t.Errorf("%s: got %s, want %q", c.Path, c.Problem, "")
				}
			}
			for _, rel := range []string{".git/hooks/pre-commit", ".husky/pre-commit", ".envrc", "sub/.envrc", ".vscode/tasks.json", "sub/.git/hooks/pre-commit", "bare/hooks/pre-commit"} {
				if _, err := os.Stat(filepath.Join(b.WS.Dir(), rel)); err == nil {
					t.Errorf("%s exists, want an error", rel)
				}
			}
			if now, err := os.ReadFile(filepath.Join(b.WS.Dir(), ".git/config")); err != nil || string(now) != string(config) {
				t.Errorf(".git/config: got %q (%v); want no error and now %v", now, err, string(config))
			}
		})
	}
}

// TestGitRecordsOnlyWhatIsItsOwn has a hook of the person that starts code of the project while git
// may record a branch.
func TestGitRecordsOnlyWhatIsItsOwn(t *testing.T) {
	useShell(t)
	useGit(t)
	b := newLookingBench(t)
	run := func(command string, call access.Call) bashOut {
		t.Helper()
		out, err := runBash(t.Context(), b.WS, b.jobs, call, bashIn{Command: command})
		if err != nil {
			t.Fatal(err)
		}
		if out.Status != "completed" {
			t.Errorf(`%s: got %s (%s), want "completed"`, command, out.Status, out.Output)
		}
		return out
	}
	run(`git init -q -b main . && git commit -q --allow-empty -m a && git init -q --bare r.git && git remote add origin ./r.git && echo true >script &&
printf '#!/bin/sh\nsh script\n' >.git/hooks/pre-push && chmod +x .git/hooks/pre-push`, access.Call{Direct: true})
	records := access.Call{Records: []string{filepath.Join(b.WS.Dir(), ".git/config")}}
	config := func() string {
		data, err := os.ReadFile(filepath.Join(b.WS.Dir(), ".git/config"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if out := run("git push -q -u origin main", records); len(out.PutBack) > 0 || !strings.Contains(config(), `[branch "main"]`) {
		t.Errorf("a branch: got %v put back, and the configuration %s; want no PutBack and `[branch \"main\"]` in config", out.PutBack, config())
	}
	before := config()
	for _, evil := range []string{"git config core.fsmonitor ./evil", "git config remote.origin.uploadpack ./evil", "git config include.path ../evil", "printf '[alias]\\nst=!evil' >>.git/config"} {
		run("printf '"+evil+"' >script", access.Call{})
		if out := run("git push -q -u origin main:other", records); len(out.PutBack) != 1 || config() != before {
			t.Errorf("%s: got %v put back, and the configuration %s; want PutBack of length 1 and config %v", evil, out.PutBack, config(), before)
		}
		run("git push -q origin :other", access.Call{})
	}
}

func TestRunningCommandIsChecked(t *testing.T) {
	useShell(t)
	b := newLookingBench(t)
	yield := float64(2000)
	out, err := runBash(t.Context(), b.WS, b.jobs, access.Call{}, bashIn{Command: "echo x >.envrc; exec sleep 60", YieldMs: &yield})
	if err != nil {
		t.Fatal(err)
	}
	if out.Status != "running" || len(out.PutBack) != 1 || !strings.Contains(out.Note, ".envrc was created") {
		t.Errorf(`got %s, %v, %q; want Status "running", PutBack of length 1 and ".envrc was created" in Note`, out.Status, out.PutBack, out.Note)
	}
	if _, err := os.Stat(filepath.Join(b.WS.Dir(), ".envrc")); err == nil {
		t.Error(".envrc exists")
	}
}

func TestPermissionsOpenedToOthersAreReported(t *testing.T) {
	useShell(t)
	b := newLookingBench(t)
	run := func(command string) bashOut {
		t.Helper()
		out, err := runBash(t.Context(), b.WS, b.jobs, access.Call{}, bashIn{Command: command})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	out := run("cp /bin/true mine && chmod 4755 mine")
	if want := "This command made " + filepath.Join(b.WS.Dir(), "mine") + " set-uid: whoever starts it has the rights of its owner or group."; !strings.Contains(out.Note, want) {
		t.Errorf("got note %q, want %q", out.Note, want)
	}
	if out := run("echo x >other"); out.Note != "" {
		t.Errorf("note of the next command: got %q, want an empty Note", out.Note)
	}
}

func TestFairleadsFilesAreRestrictedAfterACommand(t *testing.T) {
	useShell(t)
	b := newLookingBench(t)
	home := b.jobs.confinement.home
	secrets := filepath.Join(home, "secrets.json")
	if err := os.WriteFile(secrets, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runBash(t.Context(), b.WS, b.jobs, access.Call{}, bashIn{Command: "chmod 755 " + home + " && chmod 4755 " + secrets}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{home: "drwx------", secrets: "-rwx------"} {
		if info, err := os.Stat(path); err != nil || info.Mode().String() != want {
			t.Errorf("%s: got %v (%v), want %s", path, info.Mode(), err, want)
		}
	}
}
