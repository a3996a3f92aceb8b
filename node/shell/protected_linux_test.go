package shell

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/baseline"
	"fairlead/node/floor"
	"fairlead/node/sandbox"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestAnAnswerLiftsTheProtectionOfItsFilesOnly(t *testing.T) {
	useShell(t)
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	if c := b.jobs.confinement.box.Report().Check(sandbox.CheckProtected); !c.Enforced {
		t.Skipf("this machine cannot protect files: %s", c.Why)
	}
	b.File(".envrc", "old")
	b.File(".npmrc", "old")
	b.File(".git/hooks/pre-commit", "old")
	b.File(".git/hooks/pre-push", "old")
	for _, c := range []struct {
		command, lifts string
		call           access.Call
		note           string // "" if it works
	}{
		{command: "echo new >.envrc", note: ".envrc is protected"},
		{command: "echo new >.envrc", lifts: ".envrc"},
		{command: "echo new >.npmrc", lifts: ".envrc", note: ".npmrc is protected"},
		{command: "mv .git g", note: ".git is protected"},
		{command: "echo new >.git/hooks/pre-commit", lifts: ".git/hooks/pre-commit"},
		{command: "echo new >.git/hooks/pre-push", lifts: ".git/hooks/pre-commit", note: ".git/hooks/pre-push is protected"},
		{command: "echo new >.git/hooks/pre-push", call: access.Call{Records: []string{filepath.Join(b.WS.Dir(), ".git/hooks/pre-push")}}},
		{command: "rm -r .git", lifts: ".git"},
		{command: "echo person >.npmrc", call: access.Call{Direct: true}},
	} {
		t.Run(c.command+" "+c.lifts, func(t *testing.T) {
			if c.lifts != "" {
				c.call.Lifts = []string{filepath.Join(b.WS.Dir(), c.lifts)}
			}
			out, err := runBash(t.Context(), b.WS, b.jobs, c.call, bashIn{Command: c.command})
			if err != nil {
				t.Fatal(err)
			}
			if worked := out.Status == "completed"; worked != (c.note == "") || !strings.Contains(out.Note, c.note) {
				t.Errorf("got %s with note %q, want note %q (%s)", out.Status, out.Note, c.note, out.Output)
			}
		})
	}
	if data, err := os.ReadFile(filepath.Join(b.WS.Dir(), ".npmrc")); err != nil || string(data) != "person\n" {
		t.Errorf(`got %q, %v; want no error and "person\n"`, data, err)
	}
}

func TestPathOfADenyRuleCannotBeRequested(t *testing.T) {
	useShell(t)
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	if c := b.jobs.confinement.box.Report().Check(sandbox.CheckProtected); !c.Enforced {
		t.Skipf("this machine cannot protect files: %s", c.Why)
	}
	at := func(rel string) string { return filepath.Join(b.WS.Dir(), rel) }
	for _, rel := range []string{".envrc", ".npmrc", "have/old", "sub/a.key", "sub/b.pem"} {
		b.File(rel, "old")
	}
	rules := &protocol.CommandRules{ReadOnly: []string{at("have"), at(".npmrc"), at("**/*.key")}, Hidden: []string{at("**/*.pem")}}
	for command, want := range map[string]string{
		"echo x >have/new":         "have is denied by the rule \"" + at("have") + "\"",
		"mv have h":                "have is denied by the rule \"" + at("have") + "\"",
		"cd sub && echo x >a.key":  "sub/a.key is denied by the rule \"" + at("**/*.key") + "\"",
		"cp x have/o 2>/dev/null":  "have is denied by the rule",
		"echo x >sub/a.key":        "sub/a.key is denied by the rule \"" + at("**/*.key") + "\"",
		"cat sub/b.pem":            "sub/b.pem is denied by the rule \"" + at("**/*.pem") + "\"",
		"echo x >.npmrc":           ".npmrc is denied by the rule",
		"echo x >.envrc":           ".envrc is protected, because",
		"cp .envrc n; cat .npmrc":  "",
		"cat none; cat /etc/shado": "",
	} {
		t.Run(command, func(t *testing.T) {
			out, err := runBash(t.Context(), b.WS, b.jobs, access.Call{Rules: rules}, bashIn{Command: command})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.Note, want) || want == "" && out.Note != "" || strings.Contains(want, "rule") && strings.Contains(out.Note, protocol.NoteAskFor) {
				t.Errorf("got the note %q, want %q (%s)", out.Note, want, out.Output)
			}
		})
	}
}

// A rule with a wildcard hides files outside of the workspace, too.
func TestADenyRuleHidesFilesOutside(t *testing.T) {
	useShell(t)
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	if c := b.jobs.confinement.box.Report().Check(sandbox.CheckProtected); !c.Enforced {
		t.Skipf("this machine cannot protect files: %s", c.Why)
	}
	outside, err := os.MkdirTemp("testdata", "clients") // a command has its own /tmp
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(outside)
	if outside, err = filepath.Abs(outside); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(outside, "ann", "private", "key")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, rules := range map[string]*protocol.CommandRules{"no rule": nil, "rule": {Hidden: []string{outside + "/*/private"}}} {
		out, err := runBash(t.Context(), b.WS, b.jobs, access.Call{Rules: rules}, bashIn{Command: "cat " + file})
		if err != nil || strings.Contains(out.Output, "canary") != (rules == nil) {
			t.Errorf("%s: got %+v, %v; want the secret in it: %v", name, out, err, rules == nil)
		}
	}
}

func TestADenyRuleHoldsForWhatTheCommandStarts(t *testing.T) {
	useShell(t)
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	if c := b.jobs.confinement.box.Report().Check(sandbox.CheckPrograms); !c.Enforced {
		t.Skipf("this machine cannot watch programs: %s", c.Why)
	}
	b.File("script", "uname; id")
	for _, direct := range []bool{false, true} {
		call := access.Call{Direct: direct, Rules: &protocol.CommandRules{Programs: [][]string{{"id", "**"}}}}
		out, err := runBash(t.Context(), b.WS, b.jobs, call, bashIn{Command: "sh script"})
		if err != nil {
			t.Fatal(err)
		}
		if out.Status != "failed" || !strings.HasPrefix(out.Output, "Linux") || !strings.Contains(out.Note, "denies id,") {
			t.Errorf(`direct %v: got %s with note %q (%s); want Status "failed", a Output that begins with "Linux" and "denies id," in Note`, direct, out.Status, out.Note, out.Output)
		}
	}
}

// TestNothingSurvivesUnderADenyRuleForWriting writes denied files that exist and some that do not.
func TestNothingSurvivesUnderADenyRuleForWriting(t *testing.T) {
	useShell(t)
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	if c := b.jobs.confinement.box.Report().Check(sandbox.CheckProtected); !c.Enforced {
		t.Skipf("this machine cannot protect files: %s", c.Why)
	}
	at := func(rel string) string { return filepath.Join(b.WS.Dir(), rel) }
	list := floor.New()
	t.Cleanup(list.Close)
	store, err := baseline.New(t.TempDir(), b.WS, list, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.jobs.baseline = store
	b.File("have/old", "old")
	b.File("sub/x", "x")
	call := access.Call{Rules: &protocol.CommandRules{ReadOnly: []string{at("have"), at("none"), at("sub/release.txt"), at("deep/er/a")}}}
	for _, command := range []string{
		"echo x >have/new; echo x >have/old; rm -r have; mv have h", "mkdir none && echo x >none/a", "echo x >sub/release.txt", "touch x && mv x sub/release.txt",
		"ln -s .. up; cp sub/x up/$(basename $PWD)/sub/release.txt", "ln sub/x sub/release.txt", "ln -s x sub/release.txt", "mkfifo none", "mkdir -p deep/er/a/b; touch deep/er/a/b/c",
		"mkdir -p other/er && echo x >other/er/a && mv other deep", "mkdir -p deep/er; echo x >deep/er/a; chmod 0 deep/er deep", "mv sub s2; mkdir sub; echo x >sub/release.txt",
		"(sleep 0.2; echo x >sub/release.txt) & echo x >sub/release.txt", "setsid sh -c 'sleep 0.2; echo x >sub/release.txt' &",
		`python3 -c 'import os; os.makedirs("none"); open("none/a", "w")'`, "tar cf a.tar sub/x --transform s/x/release.txt/ && tar xf a.tar",
		"git init -q r && cd r && cp ../sub/x release.txt && git add . && cd .. && git --git-dir=r/.git --work-tree=sub checkout-index -fa",
	} {
		t.Run(command, func(t *testing.T) {
			out, err := runBash(t.Context(), b.WS, b.jobs, call, bashIn{Command: command})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(command, "sleep") {
				time.Sleep(300 * time.Millisecond) // for what it may have left running
			}
			for _, rel := range []string{"have/new", "none", "sub/release.txt", "deep/er/a"} {
				if _, err := os.Lstat(at(rel)); err == nil {
					t.Errorf("%s exists (%s %s), want that it does not", rel, out.Output, out.Note)
				}
			}
			if data, err := os.ReadFile(at("have/old")); string(data) != "old" {
				t.Errorf(`have/old: got %q (%v), want "old"`, data, err)
			}
			for _, rel := range []string{"deep", "deep/er"} {
				os.Chmod(at(rel), 0o700)
			}
			for _, rel := range []string{"deep", "other", "s2", "up", "r", "a.tar"} {
				os.RemoveAll(at(rel))
			}
			b.File("sub/x", "x")
		})
	}
}

func TestNewTemporaryFilesNeedNoFolder(t *testing.T) {
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	if c := b.jobs.confinement.box.Report().Check(sandbox.CheckProtected); !c.Enforced {
		t.Skipf("commands have no /tmp of their own: %s", c.Why)
	}
	dir := b.jobs.confinement.box.PrivateTemp(b.jobs.confinement.profile)
	ws, err := workspace.Config{Dir: b.WS.Dir(), PrivateTemp: dir}.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	f, err := os.CreateTemp("/tmp", "existing")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	t.Cleanup(func() { os.Remove(f.Name()) })
	if err := os.Mkdir(filepath.Join(dir, "own"), 0o700); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]int{
		"echo x >" + f.Name() + "-new": 0, "echo x >" + f.Name(): 1, "echo x >/var/tmp/new": 1,
		"echo x >/tmp/own/new": 0, "echo x >/tmp/fresh/new": 0,
	} {
		if got := b.jobs.confinement.neededFolders(ws, command, ws.Dir()); len(got) != want {
			t.Errorf("%s: got the folders %v, want %d", command, got, want)
		}
	}
}

func TestAPullThatStopsHalfWaySaysWhatToDo(t *testing.T) {
	b := newRepository(t)
	if c := b.jobs.confinement.box.Report().Check(sandbox.CheckProtected); !c.Enforced {
		t.Skipf("this machine cannot protect files: %s", c.Why)
	}
	run := func(command string, call access.Call) bashOut {
		t.Helper()
		out, err := runBash(t.Context(), b.WS, b.jobs, call, bashIn{Command: command, Workdir: "clone"})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	b.File("clone/README", "")
	run("rm README; git clone -q .. . && cd .. && echo 3 >.envrc && echo 3 >file && git commit -qam 3", access.Call{Direct: true})
	const pull = "git pull -q"
	out := run(pull, access.Call{})
	if out.Status != "failed" || !strings.Contains(out.Note, `with changes: [".envrc"]`) || !strings.Contains(out.Note, "git restore") {
		t.Errorf("got %s with note %q (%s); want Status \"failed\", `with changes: [\".envrc\"]` in Note and \"git restore\" in Note", out.Status, out.Note, out.Output)
	}
	run("git restore .", access.Call{})
	changes := tooltest.Preview(b.Bench, "Bash", tooltest.Args{"command": pull, "workdir": "clone"}).Changes
	if out := run(pull, access.Call{Lifts: changes}); len(changes) != 1 || out.Status != "completed" || out.Note != "" {
		t.Errorf(`again with %q: got %s with note %q (%s); want length 1, Status "completed" and an empty Note`, changes, out.Status, out.Note, out.Output)
	}
}
