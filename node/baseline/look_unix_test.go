//go:build unix

package baseline

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
)

func TestRemovedFoldersAreRestored(t *testing.T) {
	k := newKit(t)
	k.write(".vscode/tasks.json", "tasks")
	k.write(".config/mise/config.toml", "mise")
	k.write("p/.git/HEAD", "ref: refs/heads/main")
	k.write("p/.git/config", "[core]\n\tbare = false\n\thooksPath = x\n")
	k.write("p/.git/hooks/pre-commit", "hook")
	k.write("p/.git/hooks/pre-push.sample", "sample")
	k.write("gone/.git/hooks/pre-commit", "hook")
	k.write("gone/.envrc", "env")
	k.write("bare.git/HEAD", "ref: refs/heads/main")
	k.write("bare.git/hooks/update", "hook")
	if err := os.Chmod(k.at(".vscode"), 0o710); err != nil {
		t.Fatal(err)
	}
	run := k.Begin(Command{ID: "1"})
	for _, dir := range []string{".vscode", ".config", "p/.git", "gone", "bare.git"} {
		if err := os.RemoveAll(k.at(dir)); err != nil {
			t.Fatal(err)
		}
	}
	k.expect(run.End(), map[string]string{
		".vscode/tasks.json": protocol.ProtectedRemoved, ".config/mise/config.toml": protocol.ProtectedRemoved,
		"p/.git/config": protocol.ProtectedRemoved, "p/.git/hooks/pre-commit": protocol.ProtectedRemoved,
	})
	k.check(map[string]string{
		".vscode/tasks.json": "tasks", ".config/mise/config.toml": "mise", "p/.git/hooks/pre-commit": "hook", "p/.git/hooks/pre-push.sample": "",
		"gone/.git/hooks/pre-commit": "", "gone/.envrc": "", "bare.git/hooks/update": "",
	})
	if info, err := os.Stat(k.at(".vscode")); err != nil || info.Mode().Perm() != 0o710 {
		t.Errorf("mode of .vscode: got %v (%v), want 0710", info.Mode(), err)
	}
}

func TestOpenedFilesAreReported(t *testing.T) {
	k := newKit(t)
	k.write("old", "x")
	k.write("deep/id_ed25519", "key")
	k.write("private/id_rsa", "key")
	for path, mode := range map[string]os.FileMode{"old": 0o755, "deep": 0o755, "deep/id_ed25519": 0o600, "private": 0o700} {
		if err := os.Chmod(k.at(path), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Dir(k.dir), 0o755); err != nil { // of the test
		t.Fatal(err)
	}
	for _, c := range []struct{ command, setUID, readable string }{
		{"chmod u+s old", "old", ""},
		{"cp -p old new && chmod 4755 new", "new", ""},
		{"install -D -m 2755 old sub/new", "sub/new", ""},
		{"chmod 644 deep/id_ed25519", "", "deep/id_ed25519"},
		{"echo x >deep/secrets.json", "", "deep/secrets.json"},
		{"cp old file && chmod 755 file", "", ""},
		{"chmod 644 private/id_rsa", "", ""},
		{"chmod g+s deep", "", ""},
		{"mkdir -p node_modules/a && install -m 4755 old node_modules/a/b", "node_modules/a/b", ""},
		{"install -m 2755 old node_modules/c", "node_modules/c", ""},
		{"mkdir -p target/debug && cp old target/debug && chmod u+s target/debug/old", "target/debug/old", ""},
		{"echo x >target/secrets.json", "", "target/secrets.json"},
		{"mkdir -p .git/objects && echo x >.git/objects/id_rsa", "", ".git/objects/id_rsa"},
		{"chmod 4711 .git/objects/id_rsa", ".git/objects/id_rsa", ""},
	} {
		t.Run(c.command, func(t *testing.T) {
			if c.readable != "" && !isReachable(k.dir) {
				t.Skip("other users cannot reach the folder for temporary files")
			}
			run := k.Begin(Command{ID: "1"})
			cmd := exec.CommandContext(t.Context(), "sh", "-c", "umask 022; "+c.command)
			cmd.Dir = k.dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("got error %v, want none: %s", err, out)
			}
			got := run.End()
			var want Findings
			if c.setUID != "" {
				want.Exposed.SetUID = []string{k.at(c.setUID)}
			}
			if c.readable != "" {
				want.Exposed.Readable = []string{k.at(c.readable)}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewRepositoriesAreProtectedFromTheNextCommandOn(t *testing.T) {
	for name, make := range map[string]string{
		"init": "git init -q new", "without hooks": "git init -q --template= new", "bare": "git init -q --bare new", "clone": "git init -q a && git clone -q a new 2>&1",
		"work tree": "git init -q a && git -C a -c user.name=a -c user.email=a@b commit -q --allow-empty -m a && git -C a worktree add -q ../new && rm -r a/.git/hooks",
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			run := k.Begin(Command{ID: "1"})
			cmd := exec.CommandContext(t.Context(), "sh", "-c", make)
			cmd.Dir = k.dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("got error %v, want none: %s", err, out)
			}
			k.expect(run.End(), nil)
			store := "new/.git"
			switch name {
			case "bare":
				store = "new"
			case "work tree":
				store = "a/.git"
			}
			if !slices.ContainsFunc(k.list.Files(k.dir), func(f string) bool { return f == k.at(store+"/config") }) {
				t.Errorf("%s/config: got no protection from writing, want it protected", store)
			}
			config, err := os.ReadFile(k.at(store + "/config"))
			if err != nil {
				t.Fatal(err)
			}
			run = k.Begin(Command{ID: "2"})
			k.write(store+"/hooks/pre-commit", "evil")
			k.write(store+"/config", string(config)+"[core]\n\tfsmonitor = ./evil\n")
			k.expect(run.End(), map[string]string{store + "/hooks/pre-commit": protocol.ProtectedCreated, store + "/config": protocol.ProtectedChanged})
			k.check(map[string]string{store + "/hooks/pre-commit": "", store + "/config": string(config)})
		})
	}
}

func TestAnAnswerIsForAllFiles(t *testing.T) {
	k := newKit(t)
	run := k.Begin(Command{ID: "1", Call: "c", Text: "setup"})
	for i := range maxNamed + 3 {
		k.write(fmt.Sprintf(".husky/hook-%03d", i), "x")
	}
	if found := run.End(); len(found.PutBack) != maxNamed+3 {
		t.Fatalf("put back: got %d, want %d", len(found.PutBack), maxNamed+3)
	}
	if len(k.reports) != 1 || len(k.reports[0].Changes) != maxNamed || k.reports[0].More != 3 {
		t.Fatalf("got %d reports, want one with %d changes and 3 more", len(k.reports), maxNamed)
	}
	in := protocol.KeepArgs{ID: k.reports[0].ID, More: 3}
	for _, c := range k.Questions.Pending()[0].Changes {
		in.Paths = append(in.Paths, c.Path)
	}
	if p := k.Questions.preview(in); p.Problem != "" {
		t.Errorf("preview: got problem %q, want none", p.Problem)
	}
	in.More = 2
	if p := k.Questions.preview(in); p.Problem == "" {
		t.Error("a question that counts other files is accepted")
	}
	if _, err := k.Questions.keep(t.Context(), access.Call{}, in); err != nil {
		t.Fatal(err)
	}
	k.check(map[string]string{".husky/hook-000": "x", fmt.Sprintf(".husky/hook-%03d", maxNamed+2): "x"})
}

// TestToolsDoNotWaitForAScan looks at a file that takes as long as the test wants.
func TestToolsDoNotWaitForAScan(t *testing.T) {
	k := newKit(t)
	run := k.Begin(Command{ID: "1"})
	k.looking <- struct{}{} // a look that takes for ever
	ended := make(chan struct{})
	go func() {
		run.End()
		close(ended)
	}()
	k.Edit(k.at("file"))()
	run.Protect([]string{k.at(".envrc")})
	<-k.looking
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the look does not end")
	}
}

func TestEditDuringAScanStays(t *testing.T) {
	k := newKit(t)
	k.write(".envrc", "old")
	run := k.Begin(Command{ID: "1"})
	k.looking <- struct{}{}
	done := k.Edit(k.at(".envrc"))
	k.write(".envrc", "new")
	<-k.looking
	k.expect(run.Look(), nil)
	done()
	k.expect(run.End(), nil)
	k.check(map[string]string{".envrc": "new"})
}
