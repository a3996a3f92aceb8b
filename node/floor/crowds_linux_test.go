package floor

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestCrowdedFoldersAreScanned(t *testing.T) {
	dir, at := newTree(t)
	crowded := []string{"node_modules/a", "web/node_modules/.bin", "target/debug", ".git/objects/ab", "venv/bin", "vendor/a", ".husky"}
	for _, c := range crowded {
		write(t, at(c+"/old"))
	}
	list := New()
	defer list.Close()
	list.Files(dir)
	if first := list.Touched(); len(first) != 0 {
		t.Errorf("first look: got %q, want nothing", first)
	}
	setUID := func(rel string) {
		t.Helper()
		write(t, at(rel))
		if err := os.Chmod(at(rel), 0o755|os.ModeSetuid); err != nil {
			t.Fatal(err)
		}
	}
	look := func(want ...string) {
		t.Helper()
		list.Files(dir)
		got := list.Touched()
		for i := range want {
			want[i] = at(want[i])
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, c := range crowded {
		setUID(c + "/old")
		setUID(c + "/new/deep/program")
		write(t, at(c+"/id_rsa"), at(c+"/other"))
		look(c+"/old", c+"/new/deep/program", c+"/id_rsa")
	}
	look()
	for _, move := range [][2]string{{"node_modules/a", "node_modules/b"}, {"web", "site"}, {"target", "old"}} {
		if err := os.Rename(at(move[0]), at(move[1])); err != nil {
			t.Fatal(err)
		}
	}
	list.Files(dir)
	list.Touched() // everything that moved
	setUID("node_modules/b/late")
	setUID("site/node_modules/.bin/late")
	setUID("target/late")
	look("node_modules/b/late", "site/node_modules/.bin/late", "target/late")
}

func TestLostReportsHideNoOpenFile(t *testing.T) {
	dir, at := newTree(t)
	write(t, at("target/x"), at("target/program"))
	list := New()
	defer list.Close()
	list.Files(dir)
	list.Touched()
	text, _ := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range limit + 1 {
		if err := os.Rename(at(fmt.Sprintf("target/%c", 'x'+i%2)), at(fmt.Sprintf("target/%c", 'y'-i%2))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(at("target/program"), 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	list.Files(dir)
	if got, want := list.Touched(), []string{at("target/program")}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUnchangedCrowdedFoldersAreNotReadAgain counts folders, as the time of a look depends on the
// machine.
func TestUnchangedCrowdedFoldersAreNotReadAgain(t *testing.T) {
	dir, at := newTree(t)
	for i := range 200 {
		write(t, at("node_modules/"+strconv.Itoa(i)+"/index.js"))
	}
	list := New()
	defer list.Close()
	list.Files(dir)
	list.Touched()
	before := list.crowds.reads
	write(t, at("node_modules/7/new.js"), at("node_modules/new/index.js"))
	for range 3 {
		list.Files(dir)
		list.Touched()
	}
	if got := list.crowds.reads - before; before < 200 || got != 1 {
		t.Errorf("got %d folders read at first and %d later, want at least 200 and 1", before, got)
	}
}
