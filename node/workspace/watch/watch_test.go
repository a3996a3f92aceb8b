package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/node/workspace"
)

// watching watches the workspace's folder sub as if it had just been listed.
func watching(t *testing.T) (r *workspace.Root, dir string, w *Watcher, heard chan Change) {
	t.Helper()
	r = openTemp(t)
	put(t, filepath.Join(r.Dir(), "sub/a"), "A")
	put(t, filepath.Join(r.Dir(), "sub/b"), "B")
	heard = make(chan Change, 100)
	w, err := New(r, func(c Change) { heard <- c })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	dir, err = w.Add(resolve(t, r, "sub"), false)
	if err != nil {
		t.Fatal(err)
	}
	w.SetContent(dir, entriesOf(t, r, "sub"))
	return r, dir, w, heard
}

func entriesOf(t *testing.T, r *workspace.Root, name string) (list []workspace.Info) {
	t.Helper()
	d, err := r.OpenDir(resolve(t, r, name))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Infos(func(i workspace.Info) bool { list = append(list, i); return true }); err != nil {
		t.Fatal(err)
	}
	return list
}

// until collects changes until they lead to a state.
func until(t *testing.T, heard chan Change, have map[string]bool, ok func(map[string]bool) bool) {
	t.Helper()
	for limit := time.After(3 * time.Minute); !ok(have); {
		select {
		case c := <-heard:
			for _, i := range c.Entries {
				have[i.Name] = true
			}
			for _, name := range c.Removed {
				delete(have, name)
			}
			if c.MustRelist {
				have["again"] = true
			}
		case <-limit:
			t.Fatalf("got %v in time, want the change", have)
		}
	}
}

func TestWatcherReportsChanges(t *testing.T) {
	_, dir, w, heard := watching(t)
	have := map[string]bool{"a": true, "b": true}
	put(t, filepath.Join(dir, "new"), "N")
	until(t, heard, have, func(h map[string]bool) bool { return h["new"] })
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	until(t, heard, have, func(h map[string]bool) bool { return !h["a"] })
	delete(have, "b")
	put(t, filepath.Join(dir, "b"), "longer")
	until(t, heard, have, func(h map[string]bool) bool { return h["b"] })
	w.Remove(dir)
	w.Remove(dir)
	put(t, filepath.Join(dir, "later"), "L")
	dir2, err := w.Add(workspace.Path{Abs: dir}, false)
	if err != nil || dir2 != dir {
		t.Fatalf("got %s, error %v, want %s", dir2, err, dir)
	}
	w.SetContent(dir, nil)
	put(t, filepath.Join(dir, "last"), "L")
	until(t, heard, have, func(h map[string]bool) bool { return h["last"] })
	if have["later"] {
		t.Error("got a change of a folder that is not watched, want none")
	}
}

func TestWatcherListsABusyFolderAgain(t *testing.T) {
	_, dir, w, heard := watching(t)
	have := map[string]bool{"a": true, "b": true}
	for i := range maxDirtyNames + 100 {
		put(t, filepath.Join(dir, fmt.Sprint("f", i)), "")
	}
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	until(t, heard, have, func(h map[string]bool) bool { return len(h) == maxDirtyNames+101 && !h["a"] })
	// The system lost events and reports none of them.
	w.mu.Lock()
	delete(w.folders[dir].known, "b")
	w.mu.Unlock()
	delete(have, "b")
	w.handleLoss()
	put(t, filepath.Join(dir, "f1"), "more")
	until(t, heard, have, func(h map[string]bool) bool { return h["b"] })
}

func TestWatcherGivesUpAFolderThatIsReplaced(t *testing.T) {
	r, dir, _, heard := watching(t)
	out := t.TempDir()
	put(t, filepath.Join(out, "secret"), "S")
	if err := os.Rename(dir, filepath.Join(r.Dir(), "old")); err != nil {
		t.Fatal(err)
	}
	link(t, out, dir)
	put(t, filepath.Join(out, "secret2"), "S")
	have := map[string]bool{}
	until(t, heard, have, func(h map[string]bool) bool { return h["again"] })
	if slices.ContainsFunc([]string{"secret", "secret2"}, func(s string) bool { return have[s] }) {
		t.Errorf("got changes %v, want none outside", have)
	}
}

func TestChangesBeforeTheListFollowIt(t *testing.T) {
	r := openTemp(t)
	heard := make(chan Change, 10)
	w, err := New(r, func(c Change) { heard <- c })
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	dir, err := w.Add(resolve(t, r, ""), false)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "between"), "B")
	w.SetContent(dir, nil) // the list was made before the change
	until(t, heard, map[string]bool{}, func(h map[string]bool) bool { return h["between"] })
	if _, err := w.Add(workspace.Path{Abs: filepath.Join(dir, "none")}, false); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
