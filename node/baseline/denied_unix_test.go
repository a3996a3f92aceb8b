//go:build unix

package baseline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestDeniedFilesThatACommandCreatesAreSetAside(t *testing.T) {
	k := newKit(t)
	k.write("old.txt", "old")
	k.write("dir/x", "x")
	rule := func(rel string) string { return filepath.ToSlash(k.at(rel)) }
	c := Command{ID: "1", Denied: []string{rule("release.txt"), rule("dist"), rule("old.txt"), rule("dir/sub/a"), rule("**/*.pem"), "/etc/none"}}
	run := k.Begin(c)
	k.expect(run.Look(), nil)
	k.write("release.txt", "evil")
	k.write("dist/a/b", "evil")
	k.write("old.txt", "new") // the machine protects what exists
	k.write("a.pem", "x")     // the policy asks
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
		t.Errorf("note: got %q", note)
	}
	k.write("release.txt", "again")
	k.expect(run.End(), map[string]string{"release.txt": protocol.ProtectedCreated})
	k.check(map[string]string{"release.txt": "", "dist/a/b": "", "old.txt": "new", "a.pem": "x", "dir/x": "x"})
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
	k.Begin(Command{ID: "1", Denied: []string{filepath.ToSlash(k.at("release.txt"))}})
	k.write("release.txt", "evil")
	k.open()
	if list := k.Recover(); len(list) != 1 {
		t.Errorf("got %v, want the file", list)
	}
	k.check(map[string]string{"release.txt": ""})
}
