package workspace

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// deep watches a new workspace's folder sub with all that is below it, after fill has put there what it is to begin with.
func deep(t testing.TB, tell func(Changed), fill func(dir string)) (dir string, w *Watcher) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells of what is below a folder")
	}
	r, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	sub := filepath.Join(r.Dir(), "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	fill(sub)
	if w, err = r.NewWatcher(tell); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w.looksAt(t, sub), w
}

// looksAt watches a folder with all below it, as one that was listed just now.
func (w *Watcher) looksAt(t testing.TB, abs string) string {
	t.Helper()
	dir, err := w.Add(Path{Abs: abs}, true)
	if err != nil {
		t.Fatal(err)
	}
	d, err := w.ws.OpenDir(Path{Abs: abs})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release()
	var list []Info
	if err := d.Infos(func(i Info) bool { list = append(list, i); return true }); err != nil {
		t.Fatal(err)
	}
	w.Know(dir, list)
	return dir
}

// settles waits until exactly the folders below dir are watched, by the watcher's account and by the system's.
func (w *Watcher) settles(t testing.TB, dir string) {
	t.Helper()
	var want, have []string
	for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		want = nil
		filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() && p != dir {
				want = append(want, p)
			}
			return nil
		})
		w.mu.Lock()
		have = slices.Sorted(maps.Keys(w.under))
		w.mu.Unlock()
		system := slices.DeleteFunc(w.fsn.WatchList(), func(p string) bool { return p == dir })
		slices.Sort(system)
		slices.Sort(want)
		if slices.Equal(want, have) && slices.Equal(want, system) {
			return
		}
	}
	t.Fatalf("after 10 s it watches %d folders in place of %d: %.300q, %.300q", len(have), len(want), have, want)
}

// hears waits for changes in all of some folders below.
func hears(t *testing.T, heard chan Changed, dirs ...string) {
	t.Helper()
	missing := make(map[string]bool)
	for _, d := range dirs {
		missing[d] = true
	}
	for limit := time.After(10 * time.Second); len(missing) > 0; {
		select {
		case c := <-heard:
			if c.Rescan {
				return
			}
			for _, d := range c.Below {
				delete(missing, d)
			}
		case <-limit:
			t.Fatalf("it told nothing of %v within 10 s", slices.Sorted(maps.Keys(missing)))
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

func TestWatcherTellsWhereBelowSomethingChanged(t *testing.T) {
	heard := make(chan Changed, 100)
	dir, w := deep(t, func(c Changed) { heard <- c }, fillThree(t))
	w.settles(t, dir)
	put(t, filepath.Join(dir, "a/b/c/f"), "longer")
	hears(t, heard, "a/b/c")
	before := time.Now()
	put(t, filepath.Join(dir, "d/new"), "")
	for c := range heard {
		if i := slices.IndexFunc(c.Entries, func(i Info) bool { return i.Name == "d" }); i >= 0 {
			if c.Entries[i].Time.Before(before.Add(-time.Second)) {
				t.Errorf("the folder's time is old: %v", c.Entries[i].Time)
			}
			break
		}
	}
}

func TestAFolderThatIsMadeAndFilledAtOnceIsWatchedWhole(t *testing.T) {
	heard := make(chan Changed, 10_000)
	dir, w := deep(t, func(c Changed) { heard <- c }, fillThree(t))
	for i := range 50 { // while the first walk is under way, too
		put(t, filepath.Join(dir, fmt.Sprintf("n%d/1/2/3/f", i)), "")
	}
	w.settles(t, dir)
	for len(heard) > 0 {
		<-heard
	}
	put(t, filepath.Join(dir, "n7/1/2/3/g"), "")
	hears(t, heard, "n7/1/2/3")
	put(t, filepath.Join(dir, "d/made/at/once"), "")
	hears(t, heard, "d", "d/made", "d/made/at")
}

func TestARenamedFolderIsWatchedUnderItsNewName(t *testing.T) {
	heard := make(chan Changed, 1000)
	dir, w := deep(t, func(c Changed) { heard <- c }, fillThree(t))
	w.settles(t, dir)
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	rename("a", "d/e/z")
	w.settles(t, dir)
	for len(heard) > 0 {
		<-heard
	}
	put(t, filepath.Join(dir, "d/e/z/b/c/f"), "in its new place")
	hears(t, heard, "d/e/z/b/c")
	rename("d", "q") // there and back, and another one in its place
	rename("q", "d")
	rename("d", "p")
	put(t, filepath.Join(dir, "d/other"), "")
	w.settles(t, dir)
	rename("p", "../out")
	w.settles(t, dir)
	for len(heard) > 0 {
		<-heard
	}
	put(t, filepath.Join(dir, "../out/e/later"), "")
	put(t, filepath.Join(dir, "d/later"), "")
	for c := range heard {
		if slices.ContainsFunc(c.Below, func(d string) bool { return d != "d" }) {
			t.Fatalf("it told of %v", c.Below)
		}
		if slices.Contains(c.Below, "d") {
			break
		}
	}
}

func TestATreeWithTooManyFoldersIsWatchedAtItsTopOnly(t *testing.T) {
	heard := make(chan Changed, 100)
	dir, w := deep(t, func(c Changed) { heard <- c }, fillThree(t))
	w.settles(t, dir)
	w.mu.Lock()
	w.limit = 10
	w.mu.Unlock()
	for i := range 10 {
		put(t, filepath.Join(dir, fmt.Sprint("n", i), "f"), "")
	}
	for c := range heard {
		if c.Shallow != "" {
			if want := "there are more than 10 folders below"; c.Shallow != want {
				t.Errorf("it said %q", c.Shallow)
			}
			break
		}
	}
	w.mu.Lock()
	left := len(w.under)
	w.mu.Unlock()
	if left != 0 || len(w.fsn.WatchList()) != 1 {
		t.Errorf("it still watches %d folders: %v", left, w.fsn.WatchList())
	}
	put(t, filepath.Join(dir, "top"), "")
	until(t, heard, map[string]bool{}, func(h map[string]bool) bool { return h["top"] })
}

func TestALostEventHasTheTreeScannedAnew(t *testing.T) {
	if text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n > 40_000 {
			t.Skipf("this system queues %d events: it takes too long to make them run over", n)
		}
	}
	heard, wait := make(chan Changed, 1000), make(chan struct{})
	dir, w := deep(t, func(c Changed) { <-wait; heard <- c }, fillThree(t))
	w.settles(t, dir)
	put(t, filepath.Join(dir, "blocked"), "") // tell waits, and the system's queue runs over
	for i := range 60_000 {
		if err := os.Chmod(filepath.Join(dir, []string{"a/b/c/f", "d/e/f"}[i%2]), fs.FileMode(0o600+i%64)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, "unseen/by/the/system"), "")
	close(wait)
	for limit := time.After(10 * time.Second); ; {
		select {
		case c := <-heard:
			if !c.Rescan {
				continue
			}
		case <-limit:
			t.Fatal("it did not tell within 10 s that events were lost")
		}
		break
	}
	w.settles(t, dir)
}

func TestOfATreeThatIsRemovedNothingIsWatched(t *testing.T) {
	heard := make(chan Changed, 1000)
	dir, w := deep(t, func(c Changed) { heard <- c }, fillThree(t))
	w.settles(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	until(t, heard, map[string]bool{}, func(h map[string]bool) bool { return h["again"] })
	w.settles(t, dir)
}

func TestTwoTreesOfWhichOneIsInTheOther(t *testing.T) {
	heard := make(chan Changed, 1000)
	dir, w := deep(t, func(c Changed) { heard <- c }, fillThree(t))
	inner := w.looksAt(t, filepath.Join(dir, "a"))
	w.settles(t, dir)
	w.Remove(inner)
	w.settles(t, dir)
	put(t, filepath.Join(dir, "a/new"), "")
	hears(t, heard, "a")
	w.looksAt(t, inner)
	w.Remove(dir)
	w.settles(t, inner)
	for len(heard) > 0 {
		<-heard
	}
	put(t, filepath.Join(inner, "b/c/new"), "")
	hears(t, heard, "b/c")
	if err := os.Rename(dir, dir+"2"); err != nil { // nobody tells the inner one of that
		t.Fatal(err)
	}
	w.Remove(inner)
	w.settles(t, inner)
}

// BenchmarkTreeOf50000 watches 50,000 files in 2,500 folders.
func BenchmarkTreeOf50000(b *testing.B) {
	dir, w := deep(b, func(Changed) {}, func(dir string) {
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
	})
	w.settles(b, dir)
	var before, after runtime.MemStats
	for b.Loop() {
		w.mu.Lock()
		w.uncover("/")
		for p := range w.under {
			w.forget(p)
		}
		w.mu.Unlock()
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		w.walk(dir, false)
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/walk")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
		b.ReportMetric(float64(len(w.under)), "folders")
	}
}
