package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/node/access"
	"fairlead/node/sandbox"
	"fairlead/node/tooltest"
)

// newRepository makes a repository in the workspace whose branches main and topic differ in start-up
// files, and a folder that contains one.
func newRepository(t *testing.T) *bench {
	t.Helper()
	useShell(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is missing: packaging/deps.sh test installs it")
	}
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	out, err := runBash(t.Context(), b.WS, b.jobs, access.Call{Direct: true}, bashIn{Command: `git init -q -b main && git config user.name n && git config user.email e &&
mkdir -p .vscode packages/a packages/b vendor && echo 1 >.envrc && echo 1 >file && echo 1 >packages/b/.npmrc && echo 1 >packages/a/x && echo 1 >packages/b/y && echo 1 >vendor/.npmrc &&
git add -A && git commit -qm first && git checkout -qb topic && echo 2 >.envrc && echo 2 >.vscode/tasks.json && echo 2 >vendor/.npmrc && git add -A && git commit -qm topic &&
git checkout -qb twice && echo 1 >.envrc && git rm -q .vscode/tasks.json && git commit -qam twice &&
git checkout -qb plain main && echo 2 >file && git commit -qam plain && git checkout -q main &&
git diff main topic >topic.patch && git format-patch -q --stdout main..topic >topic.mbox`})
	if err != nil || out.Status != "completed" {
		t.Fatalf(`preparing: got %+v, %v; want no error and Status "completed"`, out, err)
	}
	return b
}

func TestReplacedStartupFilesAreKnownBefore(t *testing.T) {
	b := newRepository(t)
	const both = ".envrc .vscode/tasks.json"
	b.File("packages/b/.npmrc", "an own edit\n")
	b.File(".zshrc", "an own file\n")
	for command, want := range map[string]string{
		"git checkout topic": both, "git switch -q topic": both, "git merge topic": both, "git reset --hard topic": both, "git rebase topic": both, "git rebase --onto=topic main": both,
		"git cherry-pick topic": both, "git revert topic": both, "git restore --source=topic .": both, "git checkout topic -- .vscode": ".vscode/tasks.json",
		"cd packages && git -C .. checkout topic && ls": both, "git checkout plain && git checkout topic": both, "x=1; (git checkout topic)": both,
		"git apply topic.patch": both, "git -C packages apply ../topic.patch": "", "git am -3 topic.mbox": both, "git apply --check topic.patch": both, "git apply missing.patch": "",
		"git apply --directory=vendor topic.patch": "",
		"git apply <topic.patch":                   both, "cat topic.patch | git apply -p1": both, "git am <topic.mbox": both, "git -C packages apply <topic.patch": "", "git -C packages am <topic.mbox": both,
		"patch -p1 <topic.patch": both, "patch -p1 -i topic.patch": both, "patch -i topic.patch": ".envrc .npmrc", "patch --strip=1 -d packages/b <topic.patch": "packages/b/.envrc packages/b/.vscode/tasks.json",
		"git apply <<'E'\n--- /dev/null\n+++ b/.npmrc\n@@ -0,0 +1 @@\n+x\nE": ".npmrc", "cd packages && patch -p1 <<'E'\nrename from a/x\nrename to .npmrc\nE": "packages/.npmrc",
		"git apply <<'E'\ndiff --git a/.envrc b/.envrc\nold mode 100644\nnew mode 100755\nE": ".envrc", "curl x | git apply": "", "git apply <missing": "", "patch <file": "", "cat topic.patch": "",
		"git apply --exclude=.envrc topic.patch": ".vscode/tasks.json", "git am --abort": "",
		"git bisect start twice main": ".envrc .vscode/tasks.json", "git bisect start twice main && git bisect run make": ".envrc .vscode/tasks.json", "git bisect start": "", "git bisect reset": "",
		"git stash": "packages/b/.npmrc", "git stash push -- file": "", "git stash push packages": "packages/b/.npmrc", "git stash -u": ".zshrc packages/b/.npmrc", "git stash list": "",
		"git checkout -b new": "", "git checkout plain": "", "git merge plain": "", "git status": "", "git checkout none": "", "git commit -m topic": "", "git log topic": "", "echo git checkout topic": "",
		"git checkout $BRANCH": "", "git stash pop": "", "git pull": "", "git checkout --": "",
		"mv packages/b packages/c": "packages/b/.npmrc packages/c/.npmrc", "git mv packages/b packages/a": "packages/a/b/.npmrc packages/b/.npmrc", "mv packages/a packages/c": "", "mv packages/a": "",
	} {
		var got []string
		for _, path := range tooltest.Preview(b.Bench, "Bash", tooltest.Args{"command": command}).Changes {
			rel, err := filepath.Rel(b.WS.Dir(), path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

func TestPatchIsReadBeforeTheQuestion(t *testing.T) {
	b := newRepository(t)
	for command, want := range map[string]bool{
		"git apply topic.patch": true, "git am -3 topic.mbox": true, "git apply <topic.patch": true, "cat topic.patch | git apply -p1": true, "patch -p1 -i topic.patch": true,
		"patch -p1 <topic.patch && git -C packages apply ../topic.patch": true, "git apply <<'E'\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\nE": true,
		"curl x | git apply": false, "git apply missing.patch": false, "git apply topic.patch missing.patch": false, "patch file topic.patch": false, "git apply $P": false,
		"git diff topic | git apply": false, "git am --abort": false, "git apply topic.patch; curl x | patch": false, "git status": false, "cat topic.patch": false,
	} {
		if got := tooltest.Preview(b.Bench, "Bash", tooltest.Args{"command": command}).PatchesRead; got != want {
			t.Errorf("%s: got %v, want %v", command, got, want)
		}
	}
}

// TestLookUpRunsNoProgram: the settings of a repository that a command made are not the person's.
func TestLookUpRunsNoProgram(t *testing.T) {
	b := newRepository(t)
	mark := filepath.Join(b.WS.Dir(), "mark")
	b.File("evil", "#!/bin/sh\ntouch "+mark+"\n")
	if err := os.Chmod(filepath.Join(b.WS.Dir(), "evil"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "diff.external", "filter.x.clean", "core.pager", "diff.x.textconv", "diff.x.command", "core.sshCommand"} {
		out, err := exec.CommandContext(t.Context(), "git", "-C", b.WS.Dir(), "config", key, "./evil").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	b.File(".gitattributes", "* filter=x diff=x\n")
	if got := tooltest.Preview(b.Bench, "Bash", tooltest.Args{"command": "git checkout topic"}).Changes; len(got) != 2 {
		t.Errorf("got %q, want two files", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository ran")
	}
}

func TestGitMovesFilesOutOfAProtectedFolder(t *testing.T) {
	b := newRepository(t)
	if c := b.jobs.confinement.box.Report().Check(sandbox.CheckProtected); !c.Enforced {
		t.Skipf("this machine cannot protect files: %s", c.Why)
	}
	for command, works := range map[string]bool{
		"git mv packages/b/y packages/a/y": true, "git -C packages mv a/x b/x": true, "git mv packages/b/y packages/y; echo 2 >packages/b/.npmrc": false,
	} {
		out, err := runBash(t.Context(), b.WS, b.jobs, access.Call{}, bashIn{Command: command})
		if err != nil || (out.Status == "completed") != works {
			t.Errorf("%s: got %+v, %v; want it to work: %v", command, out, err, works)
		}
	}
	if data, err := os.ReadFile(filepath.Join(b.WS.Dir(), "packages/b/.npmrc")); err != nil || string(data) != "1\n" {
		t.Errorf(`the protected file: got %q, %v; want no error and "1\n"`, data, err)
	}
}

func TestNotesNameNoFolderAboveTheCommand(t *testing.T) {
	protected := []string{"/ws/other/.git", "/ws/repo/.git/config"}
	if got := refusedPaths("error: could not write /ws/repo/.git/config: Device or resource busy\n", refusals, "git config a b", "/ws/repo", protected); !slices.Equal(got, []string{".git/config"}) {
		t.Errorf("got %q, want only the file", got)
	}
}

// TestResultSaysWhatGitHasChanged lets Git stop at a protected file, and follows the advice.
func TestResultSaysWhatGitHasChanged(t *testing.T) {
	b := newRepository(t)
	if c := b.jobs.confinement.box.Report().Check(sandbox.CheckProtected); !c.Enforced {
		t.Skipf("this machine cannot protect files: %s", c.Why)
	}
	run := func(command string, direct bool) bashOut {
		t.Helper()
		out, err := runBash(t.Context(), b.WS, b.jobs, access.Call{Direct: direct}, bashIn{Command: command})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	run(`git clone -q . clone && cd clone && git config user.name n && git config user.email e && cd .. && git checkout -q main &&
echo 2 >file && echo 2 >.envrc && echo new >'a new' && git add file .envrc 'a new' && git commit -qm second`, true)
	for _, c := range []struct{ command, want string }{
		{"git -C clone pull -q --ff-only", "file, a new"}, {"cd clone && git pull -q --rebase", "file, a new"}, {"git -C clone merge -q origin/main", "file, a new"},
	} {
		out := run(c.command, false)
		_, advice, found := strings.Cut(out.Note, "“")
		advice, _, _ = strings.Cut(advice, "”")
		if !strings.Contains(out.Note, ".envrc") || !strings.Contains(out.Note, "of another version: "+c.want+".") || !found {
			t.Errorf("%s: got %+v, want the changed files", c.command, out)
		}
		run("cd clone && { "+advice+"; }", true)
		if status := run("git -C clone status --porcelain", true).Output; status != "" {
			t.Errorf("%s: after %q: got %q, want an unchanged work tree", c.command, advice, status)
		}
	}
	if got := tooltest.Preview(b.Bench, "Bash", tooltest.Args{"command": "git -C clone pull"}).Changes; len(got) != 1 {
		t.Errorf("the next question: got %q, want .envrc, because the commits are here now", got)
	}
	b.File("part", "--- a/.envrc\n+++ b/.envrc\n@@ -1 +1 @@\n-2\n+3\n")
	if out := run("sed s/x/x/ part | git apply", false); !strings.Contains(out.Note, unknownTree) {
		t.Errorf("a patch that nobody knows: got %q, want the general advice", out.Note)
	}
}
