package watch

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"fairlead/node/workspace"
)

// onWine reports whether this is Wine instead of Windows.
var onWine = func() bool { return false }

// watchDeep watches the folder sub of a new workspace with its tree, after fill has created its initial
// content.
func watchDeep(t testing.TB, tell func(Change), fill func(dir string)) (dir string, w *Watcher) {
	t.Helper()
	return watchDeepBy(t, watchesByTree, tell, fill)
}

// inEachWay runs a test with the system's own way of watching trees, and, where that differs, with
// polling, as on macOS.
func inEachWay(t *testing.T, test func(t *testing.T, watchDeep deepWatch)) {
	t.Run("native", func(t *testing.T) {
		test(t, watchDeep)
	})
	if runtime.GOOS == "linux" {
		t.Run("polled", func(t *testing.T) { test(t, pollDeep) })
	}
}

// deepWatch is the type of watchDeep.
type deepWatch func(t testing.TB, tell func(Change), fill func(dir string)) (string, *Watcher)

func pollDeep(t testing.TB, tell func(Change), fill func(dir string)) (string, *Watcher) {
	t.Helper()
	return watchDeepBy(t, true, tell, fill)
}

func watchDeepBy(t testing.TB, whole bool, tell func(Change), fill func(dir string)) (dir string, w *Watcher) {
	t.Helper()
	if onWine() {
		t.Skip("Wine reports only folders created while it watches")
	}
	r, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	sub := filepath.Join(r.Dir(), "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	fill(sub)
	if w, err = New(r, tell); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	w.byTree, w.pollPause = whole, 5*time.Millisecond
	return w.looksAt(t, sub), w
}

// looksAt watches a folder with its tree as if it had just been listed.
func (w *Watcher) looksAt(t testing.TB, abs string) string {
	t.Helper()
	dir, err := w.Add(workspace.Path{Abs: abs}, true)
	if err != nil {
		t.Fatal(err)
	}
	d, err := w.ws.OpenDir(workspace.Path{Abs: abs})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var list []workspace.Info
	if err := d.Infos(func(i workspace.Info) bool { list = append(list, i); return true }); err != nil {
		t.Fatal(err)
	}
	w.SetContent(dir, list)
	return dir
}

// settles waits until exactly the folders below dir are watched, by the watcher's state and by the
// system's. With one handle for all of them it returns immediately; with polling it waits until a
// round is done and reported.
func (w *Watcher) settles(t testing.TB, dir string) {
	t.Helper()
	if w.byTree {
		w.rounds(t)
		return
	}
	var want, have []string
	for limit := time.Now().Add(3 * time.Minute); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		want = nil
		filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() && p != dir {
				want = append(want, p)
			}
			return nil
		})
		w.mu.Lock()
		have = slices.Sorted(maps.Keys(w.watched))
		w.mu.Unlock()
		system := slices.DeleteFunc(w.notifier.WatchList(), func(p string) bool { return p == dir })
		slices.Sort(system)
		slices.Sort(want)
		if slices.Equal(want, have) && slices.Equal(want, system) {
			return
		}
	}
	t.Fatalf("got watched folders %q, by the system %q, want %q", have, w.notifier.WatchList(), want)
}

// waitForChanges waits for changes in all of some folders below.
func waitForChanges(t *testing.T, heard chan Change, dirs ...string) {
	t.Helper()
	missing := make(map[string]bool)
	for _, d := range dirs {
		missing[d] = true
	}
	for limit := time.After(3 * time.Minute); len(missing) > 0; {
		select {
		case c := <-heard:
			if c.AllFolders {
				return
			}
			for _, d := range c.Folders {
				delete(missing, d)
			}
		case <-limit:
			t.Fatalf("got no changes of %v, want them", slices.Sorted(maps.Keys(missing)))
		}
	}
}

func fillThree(t testing.TB) func(string) {
	return func(dir string) {
		for _, p := range []string{"a/b/c/f", "d/e/f", "x"} {
			p = filepath.Join(dir, p)
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func openTemp(t *testing.T) *workspace.Root {
	t.Helper()
	r, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("this system lets nobody make symbolic links here: %v", err)
	}
}

func resolve(t *testing.T, r *workspace.Root, name string) workspace.Path {
	t.Helper()
	p, err := r.Resolve(name)
	if err != nil {
		t.Fatalf("Resolve(%q): %v", name, err)
	}
	return p
}

// fillLarge returns a function that fills a folder with 50,000 files in 2,500 folders.
func fillLarge(b *testing.B) func(dir string) {
	return func(dir string) {
		for i := range 2500 {
			sub := filepath.Join(dir, fmt.Sprintf("%02d/%02d", i/50, i%50))
			if err := os.MkdirAll(sub, 0o755); err != nil {
				b.Fatal(err)
			}
			for j := range 20 {
				if err := os.WriteFile(filepath.Join(sub, fmt.Sprint("file", j)), nil, 0o644); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

// waitForRescan waits until the watcher reports that anything may have changed.
func waitForRescan(t *testing.T, heard <-chan Change) {
	t.Helper()
	for limit := time.After(3 * time.Minute); ; {
		select {
		case c := <-heard:
			if c.AllFolders {
				return
			}
		case <-limit:
			t.Fatal("got no rescan in time, want one")
		}
	}
}
