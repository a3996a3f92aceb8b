//go:build unix

package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/node/access"
	"fairlead/node/tooltest"
)

func useGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "a")
		t.Setenv("GIT_"+who+"_EMAIL", "a@example.com")
	}
}

// bait makes a folder that looks like a bare repository, and a repository, both with a program that
// git would run to look for changed files.
func (b *bench) bait() (ran func() bool) {
	b.T.Helper()
	mark := filepath.Join(b.T.TempDir(), "ran")
	program := b.File("program", "#!/bin/sh\ntouch '"+mark+"'\n")
	if err := os.Chmod(program, 0o755); err != nil {
		b.T.Fatal(err)
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = " + program + "\n"
	for dir, more := range map[string]string{"out/x": "\tworktree = .\n", "repo/.git": ""} {
		b.File(dir+"/HEAD", "ref: refs/heads/main\n")
		b.File(dir+"/config", config+more)
		b.File(dir+"/objects/info/alternates", "")
		b.File(dir+"/refs/heads/none.lock", "")
	}
	return func() bool {
		err := os.Remove(mark)
		return err == nil
	}
}

func TestGitRunsNoProgramThatAFolderNames(t *testing.T) {
	useShell(t)
	useGit(t)
	b := newBench(t)
	ran := b.bait()
	for name, command := range map[string]string{
		"bare repository": "git -C out/x status", "folder of it": "cd out/x/refs && git status", "repository": "git -C repo status",
		"config": "cd out/x && git diff --stat; git ls-files -m",
	} {
		t.Run(name, func(t *testing.T) {
			out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": command})
			if ran() {
				t.Errorf("%s: the program ran (%s), want that it does not", command, out.Output)
			}
		})
	}
	// The test is meaningful only if git would run it otherwise.
	if out, err := tooltest.CallContext[bashOut](t.Context(), access.Call{Direct: true}, b.Bench, "Bash", tooltest.Args{"command": "git -C out/x status; git -C repo status"}); err != nil || !ran() {
		t.Errorf("got %+v, error %v and no program run, want the person's own configuration for the person's own command", out, err)
	}
}

func TestOrdinaryGitWorks(t *testing.T) {
	useShell(t)
	useGit(t)
	b := newBench(t)
	for _, step := range []struct{ name, command, want string }{
		{"repository", "git init -q -b main one && cd one && echo a >f && git add f && git commit -qm first && git status --short && git log --format=%s", "first\n"},
		{"folder in it", "mkdir one/sub && cd one/sub && git rev-parse --show-prefix", "sub/\n"},
		{"worktree", "git -C one worktree add -q ../tree 2>&1 && git -C tree status --short && git -C tree log --format=%s", "first\n"},
		{"clone", "git clone -q one two && git -C two log --format=%s", "first\n"},
		{"bare clone", "git clone -q --bare one bare.git && git --git-dir=bare.git log --format=%s", "first\n"},
		{"push and fetch", "cd two && git remote add b ../bare.git && echo b >>f && git commit -qam second && git push -q b main && git fetch -q b && git log --format=%s b/main", "second\nfirst\n"},
		{"submodule", "cd two && git -c protocol.file.allow=always submodule --quiet add ../bare.git part && git commit -qm third && git status --short --ignore-submodules=none && " +
			"git submodule foreach --quiet 'git log -1 --format=%s' && git -C part status --short", "second\n"},
		{"hook", `cd one && printf '#!/bin/sh\ngit log -1 --format=%%s' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && git commit -qm x --allow-empty 2>&1`, "first\n"},
	} {
		t.Run(step.name, func(t *testing.T) {
			if out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": step.command}); out.Status != "completed" || out.Output != step.want {
				t.Fatalf("%s: got %s and %q, want %q", step.name, out.Status, out.Output, step.want)
			}
		})
	}
}

func TestGitsConfigurationIsAppended(t *testing.T) {
	guard := []string{"safe.bareRepository=explicit", "core.fsmonitor=false"}
	for name, c := range map[string]struct{ env, want []string }{
		"none":     {nil, guard},
		"one":      {[]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"}, append([]string{"a.b=c"}, guard...)},
		"wrong":    {[]string{"GIT_CONFIG_COUNT=x"}, guard},
		"negative": {[]string{"GIT_CONFIG_COUNT=-3"}, guard},
	} {
		t.Run(name, func(t *testing.T) {
			useGit(t)
			cmd := exec.Command("git", "config", "--list", "--show-scope")
			cmd.Env = append(guardGit(c.env), "PATH="+os.Getenv("PATH"))
			out, err := cmd.Output()
			var got []string
			for line := range strings.Lines(string(out)) {
				if entry, ok := strings.CutPrefix(strings.TrimSpace(line), "command\t"); ok {
					got = append(got, entry)
				}
			}
			want := slices.Clone(c.want)
			for i, w := range want {
				want[i] = strings.Replace(w, "bareRepository", "barerepository", 1)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("got %q and error %v, want %q", got, err, want)
			}
		})
	}
}
