package baseline

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/floor"
	"fairlead/node/workspace"
)

type kit struct {
	*Store
	t        testing.TB
	dir, own string
	reports  []protocol.PutBack
}

func newKit(t testing.TB) *kit {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{t: t, dir: dir, own: t.TempDir()}
	k.open()
	return k
}

// open opens the store as a node does at its start.
func (k *kit) open() {
	k.t.Helper()
	ws, err := workspace.Open(k.dir)
	if err != nil {
		k.t.Fatal(err)
	}
	list := floor.New()
	k.t.Cleanup(func() {
		list.Close()
		ws.Close()
	})
	if k.Store, err = New(k.own, ws, list, slog.New(slog.DiscardHandler), func(b protocol.PutBack) { k.reports = append(k.reports, b) }); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kit) at(rel string) string { return filepath.Join(k.dir, filepath.FromSlash(rel)) }

// write writes a file of the workspace; an empty text removes it.
func (k *kit) write(rel, text string) {
	k.t.Helper()
	err := os.MkdirAll(filepath.Dir(k.at(rel)), 0o700)
	if err == nil && text == "" {
		err = os.Remove(k.at(rel))
	} else if err == nil {
		err = os.WriteFile(k.at(rel), []byte(text), 0o700)
	}
	if err != nil {
		k.t.Fatal(err)
	}
}

// check compares files with their expected texts; empty for a missing one.
func (k *kit) check(want map[string]string) {
	k.t.Helper()
	for rel, text := range want {
		data, err := os.ReadFile(k.at(rel))
		if string(data) != text || (err == nil) != (text != "") {
			k.t.Errorf("%s: got %q (%v), want %q", rel, data, err, text)
		}
	}
}

func (k *kit) kinds(list []protocol.ProtectedChange) map[string]string {
	got := map[string]string{}
	for _, c := range list {
		rel, err := filepath.Rel(k.dir, c.Path)
		if err != nil || c.Problem != "" {
			k.t.Errorf("%s: got problem %q, error %v, want none", c.Path, c.Problem, err)
		}
		got[filepath.ToSlash(rel)] = c.Kind
	}
	return got
}

func (k *kit) expect(found Findings, want map[string]string) {
	k.t.Helper()
	got := k.kinds(found.PutBack)
	for path, kind := range want {
		if got[path] != kind {
			k.t.Errorf("%s: got %q, want %q", path, got[path], kind)
		}
	}
	if len(got) != len(want) {
		k.t.Errorf("got %v, want %v", got, want)
	}
}

func TestChangesOfACommandAreReverted(t *testing.T) {
	k := newKit(t)
	k.write(".envrc", "old")
	k.write(".npmrc", "old")
	k.write(".vscode/tasks.json", "old")
	run := k.Begin(Command{ID: "1", Text: "evil"})
	k.write(".envrc", "new")
	k.write(".npmrc", "")
	k.write(".husky/pre-commit", "new")
	k.write("src/main.go", "new")
	if err := os.Chmod(k.at(".vscode/tasks.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := run.End()
	k.expect(found, map[string]string{
		".envrc": protocol.ProtectedChanged, ".npmrc": protocol.ProtectedRemoved, ".husky/pre-commit": protocol.ProtectedCreated,
		".vscode/tasks.json": protocol.ProtectedChanged,
	})
	k.check(map[string]string{".envrc": "old", ".npmrc": "old", ".husky/pre-commit": "", "src/main.go": "new"})
	if info, err := os.Stat(k.at(".vscode/tasks.json")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode: got %v (%v), want 0700", info.Mode(), err)
	}
	for _, c := range found.PutBack {
		if c.Path == k.at(".husky/pre-commit") {
			if c.Why != "runs at your next commit" {
				t.Errorf("why: got %q, want %q", c.Why, "runs at your next commit")
			}
			data, err := os.ReadFile(k.at(".fairlead-trash/" + c.Trash + "/pre-commit"))
			if err != nil || string(data) != "new" {
				t.Errorf("in the trash: got %q, error %v, want %q", data, err, "new")
			}
		}
	}
	k.expect(k.Begin(Command{ID: "2"}).End(), nil)
}

func TestChangesOfOthersStay(t *testing.T) {
	for name, c := range map[string]struct {
		command Command
		act     func(*kit, *Run)
	}{
		"an answer named it":         {command: Command{Lifts: []string{".envrc"}}},
		"the command is the owner's": {command: Command{Direct: true}},
		"a tool wrote it":            {act: func(k *kit, _ *Run) { k.Edit(k.at(".envrc"))() }},
		"a file tool wrote it": {act: func(k *kit, _ *Run) {
			at, err := k.ws.At(k.at(".envrc"))
			if err == nil {
				_, err = k.ws.WithChanging(k.Edit).Write(at, []byte("new"), "", nil)
			}
			if err != nil {
				k.t.Fatal(err)
			}
		}},
		"the machine protects it":  {act: func(k *kit, r *Run) { r.Protect([]string{k.at(".envrc")}) }},
		"the owner's command runs": {act: func(k *kit, _ *Run) { k.Begin(Command{ID: "own", Direct: true}) }},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.write(".envrc", "old")
			for i, l := range c.command.Lifts {
				c.command.Lifts[i] = k.at(l)
			}
			c.command.ID = "1"
			run := k.Begin(c.command)
			if c.act != nil {
				c.act(k, run)
			}
			k.write(".envrc", "new")
			k.expect(run.End(), nil)
			k.check(map[string]string{".envrc": "new"})
		})
	}
	k := newKit(t)
	k.Begin(Command{ID: "1"}).End()
	k.write(".envrc", "new") // nothing runs
	k.expect(k.Begin(Command{ID: "2"}).End(), nil)
	k.check(map[string]string{".envrc": "new"})
}

func TestTheNextStartRevertsAfterACrash(t *testing.T) {
	k := newKit(t)
	k.write(".envrc", "old")
	k.Begin(Command{ID: "1"})
	k.write(".envrc", "new")
	k.write(".git/hooks/pre-commit", "new")
	k.open()
	want := map[string]string{".envrc": protocol.ProtectedChanged, ".git/hooks/pre-commit": protocol.ProtectedCreated}
	k.expect(Findings{PutBack: k.Recover()}, want)
	k.check(map[string]string{".envrc": "old", ".git/hooks/pre-commit": ""})
	k.open()
	k.expect(Findings{PutBack: k.Recover()}, nil)
}

func TestABackgroundCommandIsFoundByTheNextOne(t *testing.T) {
	k := newKit(t)
	background := k.Begin(Command{ID: "1"})
	k.write(".envrc", "new")
	second := k.Begin(Command{ID: "2"})
	k.check(map[string]string{".envrc": ""})
	k.write(".npmrc", "new")
	want := map[string]string{".npmrc": protocol.ProtectedCreated}
	k.expect(second.End(), want)
	want[".envrc"] = protocol.ProtectedCreated
	k.expect(background.End(), want)
}

func TestLoaderOfYarnMayOnlyChangeItsPackages(t *testing.T) {
	loader := func(state, code string) string {
		return "#!/usr/bin/env node\n\nconst RAW_RUNTIME_STATE =\n'" + state + "';\n\nfunction setup() { " + code + " }\n"
	}
	before := loader(`{\`+"\n"+`  "a": "it\'s"\`+"\n}", "")
	for name, c := range map[string]struct {
		text string
		want map[string]string
	}{
		"another package":   {loader(`{\`+"\n"+`  "b": "x"\`+"\n}", ""), nil},
		"another code":      {loader("{}", "evil()"), map[string]string{".pnp.cjs": protocol.ProtectedChanged}},
		"code in the state": {loader("{}';evil();'", ""), map[string]string{".pnp.cjs": protocol.ProtectedChanged}},
		"two states":        {before + "const RAW_RUNTIME_STATE =\n'{}';\n", map[string]string{".pnp.cjs": protocol.ProtectedChanged}},
		"removed":           {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.write(".pnp.cjs", before)
			run := k.Begin(Command{ID: "1"})
			k.write(".pnp.cjs", c.text)
			k.expect(run.End(), c.want)
		})
	}
	k := newKit(t)
	run := k.Begin(Command{ID: "1"})
	k.write(".pnp.cjs", before)
	k.expect(run.End(), map[string]string{".pnp.cjs": protocol.ProtectedCreated})
}

func TestCommandsInAnUnfinishedRebaseAreReverted(t *testing.T) {
	const list = ".git/rebase-merge/git-rebase-todo"
	for name, c := range map[string]struct {
		before, after, command string
		want                   string
	}{
		"new state":     {"", "exec evil\n", "python3 x.py", protocol.ProtectedCreated},
		"added":         {"pick 1\nexec make\n", "pick 1\n x\tevil\nexec make\n", "python3 x.py", protocol.ProtectedChanged},
		"next step":     {"pick 1\nexec make\npick 2\n", "exec make\npick 2\n", "git rebase --continue", ""},
		"named":         {"", "pick 1\nexec make test\n", "git rebase -x 'make test' main", ""},
		"only commits":  {"", "pick 1\nfixup 2\n", "git rebase main", ""},
		"ended":         {"exec make\n", "", "git rebase --continue", ""},
		"other command": {"", "exec make evil\n", "git rebase -x make main", protocol.ProtectedCreated},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.write(".git/HEAD", "ref: refs/heads/main")
			if c.before != "" {
				k.write(list, c.before)
			}
			run := k.Begin(Command{ID: "1", Text: c.command})
			k.write(list, c.after)
			want := map[string]string{}
			if c.want != "" {
				want[list] = c.want
			}
			k.expect(run.End(), want)
		})
	}
}

// BenchmarkLooks looks before and after a command in a tree of 50,000 files in 5,000 folders.
func BenchmarkLooks(b *testing.B) {
	for name, folder := range map[string]string{"src": "src/%[2]d/%[1]d", "target": "target/%[2]d/%[1]d", "packages": "node_modules/%d%.0[2]s"} {
		b.Run(name, func(b *testing.B) { benchmarkLooks(b, folder) })
	}
}

func benchmarkLooks(b *testing.B, folder string) {
	k := newKit(b)
	for i := range 5000 {
		for n := range 10 {
			k.write(fmt.Sprintf(folder, i, i%50)+"/"+strconv.Itoa(n)+".go", "x")
		}
	}
	k.write(".git/hooks/pre-commit", "x")
	k.write("7/57/.envrc", "x")
	old := time.Now().Add(-time.Hour)
	filepath.WalkDir(k.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chtimes(path, old, old)
		}
		return err
	})
	k.Prepare()
	for b.Loop() {
		if list := k.Begin(Command{ID: "1"}).End(); len(list.PutBack) > 0 {
			b.Fatalf("got %v, want nothing put back", list)
		}
	}
}
