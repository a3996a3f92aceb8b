//go:build unix

package baseline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestDeniedFilesThatACommandCreatesAreSetAside(t *testing.T) {
	k := newKit(t)
	k.write("old.txt", "old")
	k.write("dir/x", "x")
	rule := func(rel string) string { return filepath.ToSlash(k.at(rel)) }
	c := Command{ID: "1", Denied: []string{rule("release.txt"), rule("dist"), rule("old.txt"), rule("dir/sub/a"), "/etc/none"}}
	run := k.Begin(c)
	k.expect(run.Look(), nil)
	k.write("release.txt", "evil")
	k.write("dist/a/b", "evil")
	k.write("old.txt", "new") // the machine protects what exists
	if os.Getuid() != 0 {
		k.write("dir/sub/a", "evil")
		k.chmod("dir/sub", 0)
	}
	found := run.Look()
	want := map[string]string{"release.txt": protocol.ProtectedCreated, "dist": protocol.ProtectedCreated}
	if os.Getuid() != 0 {
		want["dir/sub/a"] = protocol.ProtectedCreated
	}
	k.expect(found, want)
	if note := found.Note(); !strings.Contains(note, "release.txt was created, which a rule denies") {
		t.Errorf(`note: got %q; want "release.txt was created, which a rule denies" in it`, note)
	}
	k.write("release.txt", "again")
	k.expect(run.End(), map[string]string{"release.txt": protocol.ProtectedCreated})
	k.check(map[string]string{"release.txt": "", "dist/a/b": "", "old.txt": "new", "dir/x": "x"})
}

func TestDeniedFilesOfPatternsAreSetAside(t *testing.T) {
	k := newKit(t)
	k.write("old.pem", "old")
	k.write("node_modules/p/old.pem", "old")
	k.write("dir/x", "x")
	run := k.Begin(Command{ID: "1", Denied: []string{filepath.ToSlash(k.dir) + "/**/*.pem", filepath.ToSlash(k.dir) + "/out/*"}})
	want := map[string]string{}
	for _, rel := range []string{"a.pem", "node_modules/p/a.pem", "new/sub/b.pem", "dir/UPPER.PEM", "folder.pem/x", "out/x", "old.pem", "a.txt", "dir/x"} {
		k.write(rel, "evil")
	}
	for _, rel := range []string{"a.pem", "node_modules/p/a.pem", "new/sub/b.pem", "dir/UPPER.PEM", "folder.pem", "out/x"} {
		want[rel] = protocol.ProtectedCreated
	}
	if os.Getuid() != 0 {
		for _, dir := range []string{"closed", "target/a/b/c/d/e/f"} {
			k.write(dir+"/a.pem", "evil")
			k.write(dir+"/b", "b")
			k.chmod(dir, 0)
			want[dir+"/a.pem"] = protocol.ProtectedCreated
		}
	}
	if err := os.Symlink("old.pem", k.at("link.pem")); err != nil {
		t.Fatal(err)
	}
	want["link.pem"] = protocol.ProtectedCreated
	k.expect(run.End(), want)
	k.check(map[string]string{"a.pem": "", "old.pem": "evil", "node_modules/p/old.pem": "old", "a.txt": "evil", "new/sub/b.pem": "", "dir/x": "evil"})
	run = k.Begin(Command{ID: "2"})
	k.write("a.pem", "no rule")
	k.expect(run.End(), nil)
}

func TestDeniedTemporaryFilesAreRemoved(t *testing.T) {
	k := newKit(t)
	temp := t.TempDir()
	k.Denials.temp = temp
	put := func(rel, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(temp, rel)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(temp, rel), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("old.key", "old")
	put("changed", "old")
	denied := []string{"/tmp/flag", "/tmp/changed", "/tmp/dir", "/tmp/**/*.key", "/var/tmp/x"}
	run := k.Begin(Command{ID: "1", Denied: denied})
	for _, rel := range []string{"flag", "dir/sub/a", "sub/b.key", "other"} {
		put(rel, "evil")
	}
	put("changed", "new text")
	if err := os.Symlink("/tmp/system.key", filepath.Join(temp, "system.key")); err != nil { // as the sandbox makes it
		t.Fatal(err)
	}
	found := run.End()
	slices.Sort(found.Removed)
	if want := []string{"/tmp/changed", "/tmp/dir", "/tmp/flag", "/tmp/sub/b.key"}; !slices.Equal(found.Removed, want) || len(found.PutBack) > 0 {
		t.Errorf("removed: got %q and put back %v, want %q", found.Removed, found.PutBack, want)
	}
	if note := found.Note(); !strings.HasPrefix(note, "A rule denies writing /tmp/changed") {
		t.Errorf(`note: got %q, want a text that begins with "A rule denies writing /tmp/changed"`, note)
	}
	for rel, want := range map[string]bool{"flag": false, "changed": false, "dir": false, "sub/b.key": false, "other": true, "old.key": true, "system.key": true} {
		if _, err := os.Lstat(filepath.Join(temp, rel)); (err == nil) != want {
			t.Errorf("%s: got %v, want it there: %v", rel, err, want)
		}
	}
	if got, want := k.Denials.Folders(), []string{filepath.ToSlash(k.dir), "/tmp"}; !slices.Equal(got, want) {
		t.Errorf("folders: got %q, want %q", got, want)
	}
}

func TestDeniedFilesOfThePersonStay(t *testing.T) {
	k := newKit(t)
	denied := []string{filepath.ToSlash(k.at("release.txt"))}
	run := k.Begin(Command{ID: "1", Denied: denied})
	done := k.Edit(k.at("release.txt"))
	k.write("release.txt", "mine")
	done()
	k.expect(run.End(), nil)
	k.check(map[string]string{"release.txt": "mine"})
}

// TestDeniedFilesAreFoundAfterACrash lets the node die while a command runs.
func TestDeniedFilesAreFoundAfterACrash(t *testing.T) {
	k := newKit(t)
	k.Begin(Command{ID: "1", Denied: []string{filepath.ToSlash(k.at("release.txt")), filepath.ToSlash(k.dir) + "/*.pem"}})
	k.write("release.txt", "evil")
	k.write("a.pem", "evil")
	k.open()
	if list := k.Recover(); len(list) != 2 {
		t.Errorf("got %v, want both files", list)
	}
	k.check(map[string]string{"release.txt": "", "a.pem": ""})
}
