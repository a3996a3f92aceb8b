package watch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"fairlead/node/workspace"

	"golang.org/x/sys/windows"
)

func init() {
	onWine = func() bool { return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil }
}

// removeFolder removes a folder in a way that also works in Wine, unlike [os.RemoveAll].
func removeFolder(dir string) error {
	var list []string
	filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		list = append(list, p)
		return nil
	})
	for _, p := range slices.Backward(list) {
		if err := os.Remove(p); err != nil {
			return err
		}
	}
	return nil
}

// bare returns an empty folder whose tree is watched.
func bare(t *testing.T, tell func(Change)) (dir string, w *Watcher) {
	t.Helper()
	dir, err := os.MkdirTemp("", "tree")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeFolder(dir) })
	r, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if w, err = New(r, tell); err != nil {
		t.Fatal(err)
	}
	return w.looksAt(t, r.Dir()), w
}

func TestWindowsReportsChangesOfATree(t *testing.T) {
	heard := make(chan Change, 1000)
	dir, w := bare(t, func(c Change) { heard <- c })
	defer w.Close()
	put(t, filepath.Join(dir, "a/b/c/f"), "F")
	waitForChanges(t, heard, "a", "a/b", "a/b/c")
	put(t, filepath.Join(dir, "a/b/c/f"), "longer")
	waitForChanges(t, heard, "a/b/c")
	// A handle for each folder would prevent this.
	if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "z")); err != nil {
		t.Fatal(err)
	}
	waitForChanges(t, heard, "z")
	if !onWine() { // Wine does not follow a folder to its new name
		put(t, filepath.Join(dir, "z/b/c/g"), "G")
		waitForChanges(t, heard, "z/b/c")
	}
	have := map[string]bool{"z": true}
	if err := removeFolder(filepath.Join(dir, "z")); err != nil {
		t.Fatal(err)
	}
	until(t, heard, have, func(h map[string]bool) bool { return !h["z"] })
	put(t, filepath.Join(dir, "z/again"), "")
	waitForChanges(t, heard, "z")
}

func TestWindowsOverflowIsARescan(t *testing.T) {
	heard, telling, wait := make(chan Change, 1000), make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(telling) })
	dir, w := bare(t, func(c Change) { first(); <-wait; heard <- c })
	defer w.Close()
	put(t, filepath.Join(dir, "first"), "")
	// Until wait is closed nobody receives the system's reports, however fast files are created.
	<-telling
	for i := range 500 { // each takes some 200 bytes
		put(t, filepath.Join(dir, "a", fmt.Sprintf("%0100d", i)), "")
	}
	close(wait)
	waitForRescan(t, heard)
}

func TestAClosedWatcherHoldsNoTree(t *testing.T) {
	for range 20 {
		dir, w := bare(t, func(Change) {})
		put(t, filepath.Join(dir, "sub/f"), "x")
		w.ws.Close()
		w.Close()
		if err := os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "other")); err != nil {
			t.Errorf("something is still held: %v", err)
		}
	}
}

// rounds and bounds are for systems where trees are polled.
func (w *Watcher) rounds(testing.TB) {}

func (w *Watcher) bounds(testing.TB, string, int) bool { return false }
