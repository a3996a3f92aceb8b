//go:build unix

package baseline

import (
	"os"
	"strconv"
	"testing"

	"fairlead/gateway/protocol"
)

// needsUser skips a test for a user who can read closed folders.
func needsUser(t *testing.T) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("root can read closed folders; node/sandbox tries this as an ordinary user")
	}
}

func (k *kit) chmod(rel string, mode os.FileMode) {
	k.t.Helper()
	if err := os.Chmod(k.at(rel), mode); err != nil {
		k.t.Fatal(err)
	}
}

func TestClosedFoldersHideNoChange(t *testing.T) {
	needsUser(t)
	k := newKit(t)
	k.write(".envrc", "old")
	k.write("sub/.envrc", "old")
	k.write("private/.envrc", "mine")
	k.chmod("private", 0)
	run := k.Begin(Command{ID: "1"})
	k.write(".envrc", "evil")
	k.write("sub/.envrc", "evil")
	k.write(".idea/a/b.xml", "evil")
	for _, dir := range []string{"sub", ".idea/a", ".idea", ""} {
		k.chmod(dir, 0)
	}
	k.expect(run.End(), map[string]string{
		".envrc": protocol.ProtectedChanged, "sub/.envrc": protocol.ProtectedChanged, ".idea/a/b.xml": protocol.ProtectedCreated,
	})
	k.check(map[string]string{".envrc": "old", "sub/.envrc": "old", ".idea/a/b.xml": ""})
	if _, err := os.ReadFile(k.at("private/.envrc")); err == nil {
		t.Error("a folder that the person has closed was opened")
	}
	run = k.Begin(Command{ID: "2"})
	k.chmod("private", 0o700)
	k.expect(run.End(), map[string]string{}) // what was in it is unknown
	k.check(map[string]string{"private/.envrc": "mine"})
}

func TestFoldersInPlaceOfFilesAreRemoved(t *testing.T) {
	k := newKit(t)
	k.write(".envrc", "old")
	k.write(".npmrc", "old")
	run := k.Begin(Command{ID: "1"})
	k.write(".envrc", "")
	k.write(".envrc/a/b", "evil")
	k.write(".npmrc", "")
	if err := os.Mkdir(k.at(".npmrc"), 0o700); err != nil {
		t.Fatal(err)
	}
	k.expect(run.End(), map[string]string{".envrc": protocol.ProtectedChanged, ".npmrc": protocol.ProtectedChanged})
	k.check(map[string]string{".envrc": "old", ".npmrc": "old"})
}

func TestManyNewFilesHideNone(t *testing.T) {
	k := newKit(t)
	k.maxBelow = 10
	k.write(".husky/zz", "old")
	for i := range 25 {
		k.write(".idea/"+strconv.Itoa(i), "mine")
	}
	run := k.Begin(Command{ID: "1"})
	for i := range 25 {
		k.write(".husky/"+strconv.Itoa(i), "evil")
	}
	k.write(".husky/zz", "evil")
	if err := os.Remove(k.at(".idea/0")); err != nil {
		t.Fatal(err)
	}
	if n := len(run.End().PutBack); n != 27 {
		t.Errorf("got %d files put back, want 27", n)
	}
	k.check(map[string]string{".husky/0": "", ".husky/24": "", ".husky/9": "", ".husky/zz": "old", ".idea/0": "mine", ".idea/24": "mine", ".idea/9": "mine"})
}

func TestWritableConfigurationIsReverted(t *testing.T) {
	k := newKit(t)
	k.write(".git/HEAD", "ref: refs/heads/main")
	k.write(".git/config", "[core]\n\tbare = false\n")
	run := k.Begin(Command{ID: "1"})
	k.chmod(".git/config", 0o666)
	k.expect(run.End(), map[string]string{".git/config": protocol.ProtectedChanged})
	if info, err := os.Stat(k.at(".git/config")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got mode %v (%v), want 0700", info.Mode(), err)
	}
}

func TestLinkTargetsAreChecked(t *testing.T) {
	k := newKit(t)
	k.write("conf/profile", "old")
	k.write("conf/hooks/a", "old")
	k.write("other", "mine")
	for link, target := range map[string]string{".profile": "conf/profile", ".lefthook": "conf/hooks"} {
		if err := os.Symlink(target, k.at(link)); err != nil {
			t.Fatal(err)
		}
	}
	run := k.Begin(Command{ID: "1"})
	k.write("conf/profile", "evil")
	k.write("conf/hooks/a", "evil")
	k.write("conf/hooks/b", "evil")
	k.write("conf/x", "x")
	if err := os.Symlink("other", k.at(".zshrc")); err != nil {
		t.Fatal(err)
	}
	k.expect(run.End(), map[string]string{
		"conf/profile": protocol.ProtectedChanged, "conf/hooks/a": protocol.ProtectedChanged, "conf/hooks/b": protocol.ProtectedCreated, ".zshrc": protocol.ProtectedCreated,
	})
	k.check(map[string]string{"conf/profile": "old", "conf/hooks/a": "old", "conf/hooks/b": "", "conf/x": "x", "other": "mine"})
	run = k.Begin(Command{ID: "2", Lifts: []string{k.at(".profile")}})
	k.write(".profile", "")
	k.write(".profile", "new")
	k.expect(run.End(), map[string]string{})
	k.check(map[string]string{".profile": "new", "conf/profile": "old"})
}
