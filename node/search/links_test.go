package search

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fairlead/node/tooltest"
)

func TestGrepFollowsLinksInsideOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	out := tooltest.Folder(t)
	if err := os.WriteFile(filepath.Join(out, "f"), []byte("needle"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.File("real/f", "needle")
	b.File("search/own", "needle")
	for name, target := range map[string]string{
		"search/file": "../real/f", "search/dir": "../real", "search/again": "../real", "search/self": ".", "search/up": "..", "search/out": out,
		"search/outfile": filepath.Join(out, "f"), "search/dangling": "none", "real/back": "../search", "real/loop": "loop",
		"search/abs": filepath.Join(b.WS.Dir(), "real", "f"),
	} {
		if err := os.Symlink(target, filepath.Join(b.WS.Dir(), filepath.FromSlash(name))); err != nil {
			t.Skipf("this system lets nobody make symbolic links here: %v", err)
		}
	}
	got := matchLines(b, tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "needle", "path": "search"}))
	if want := []string{"search/abs:1:needle", "search/again/f:1:needle", "search/file:1:needle", "search/own:1:needle"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
