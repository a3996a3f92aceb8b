package watch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/node/workspace"
)

func TestWatcherReportsChangedSubfolders(t *testing.T) {
	inEachWay(t, func(t *testing.T, watchDeep deepWatch) {
		heard := make(chan Change, 100)
		dir, w := watchDeep(t, func(c Change) { heard <- c }, fillThree(t))
		w.settles(t, dir)
		put(t, filepath.Join(dir, "a/b/c/f"), "longer")
		waitForChanges(t, heard, "a/b/c")
		before := time.Now()
		put(t, filepath.Join(dir, "d/new"), "")
		for c := range heard {
			if i := slices.IndexFunc(c.Entries, func(i workspace.Info) bool { return i.Name == "d" }); i >= 0 {
				if c.Entries[i].Time.Before(before.Add(-time.Second)) {
					t.Errorf("got the folder's time %v, want a new one", c.Entries[i].Time)
				}
				break
			}
		}
	})
}

func TestNewFullFolderIsWatched(t *testing.T) {
	inEachWay(t, func(t *testing.T, watchDeep deepWatch) {
		heard := make(chan Change, 10_000)
		dir, w := watchDeep(t, func(c Change) { heard <- c }, fillThree(t))
		for i := range 50 { // while the first walk is under way, too
			put(t, filepath.Join(dir, fmt.Sprintf("n%d/1/2/3/f", i)), "")
		}
		w.settles(t, dir)
		for len(heard) > 0 {
			<-heard
		}
		put(t, filepath.Join(dir, "n7/1/2/3/g"), "")
		waitForChanges(t, heard, "n7/1/2/3")
		put(t, filepath.Join(dir, "d/made/at/once"), "")
		waitForChanges(t, heard, "d", "d/made", "d/made/at")
	})
}

func TestARenamedFolderIsWatchedUnderItsNewName(t *testing.T) {
	inEachWay(t, func(t *testing.T, watchDeep deepWatch) {
		heard := make(chan Change, 1000)
		dir, w := watchDeep(t, func(c Change) { heard <- c }, fillThree(t))
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
		waitForChanges(t, heard, "d/e/z/b/c")
		rename("d", "q") // there and back, and then another one in its place
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
			if slices.ContainsFunc(c.Folders, func(d string) bool { return d != "d" }) {
				t.Fatalf("got changes in %v, want in d alone", c.Folders)
			}
			if slices.Contains(c.Folders, "d") {
				break
			}
		}
	})
}

func TestTooLargeTreeIsWatchedAtItsTop(t *testing.T) {
	inEachWay(t, func(t *testing.T, watchDeep deepWatch) {
		if runtime.GOOS == "windows" {
			t.Skip("one handle is enough here, however many there are")
		}
		heard := make(chan Change, 100)
		dir, w := watchDeep(t, func(c Change) { heard <- c }, fillThree(t))
		w.settles(t, dir)
		want := "there are more than 10 folders below"
		w.mu.Lock()
		w.maxSubfolders = 10
		w.mu.Unlock()
		if w.bounds(t, dir, 20) {
			want = "there are more than 20 files and folders below, too many to check for changes on this system"
		}
		for i := range 10 {
			put(t, filepath.Join(dir, fmt.Sprint("n", i), "f"), "")
		}
		for c := range heard {
			if c.TreeProblem != "" {
				if c.TreeProblem != want {
					t.Errorf("got problem %q, want %q", c.TreeProblem, want)
				}
				break
			}
		}
		w.mu.Lock()
		left := len(w.watched)
		w.mu.Unlock()
		if left != 0 || len(w.notifier.WatchList()) != 1 {
			t.Errorf("got %d watched folders, %v, want the watched one alone", left, w.notifier.WatchList())
		}
		put(t, filepath.Join(dir, "top"), "")
		until(t, heard, map[string]bool{}, func(h map[string]bool) bool { return h["top"] })
	})
}

func TestLostEventRescansTheTree(t *testing.T) {
	inEachWay(t, func(t *testing.T, watchDeep deepWatch) {
		if text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err == nil {
			if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n > 40_000 {
				t.Skipf("this system queues %d events: it takes too long to make them run over", n)
			}
		}
		heard, wait := make(chan Change, 1000), make(chan struct{})
		var slow atomic.Bool
		dir, w := watchDeep(t, func(c Change) {
			if slow.Load() {
				<-wait
			}
			heard <- c
		}, fillThree(t))
		w.settles(t, dir)
		slow.Store(true)
		put(t, filepath.Join(dir, "blocked"), "") // tell blocks, and the system's queue overflows
		for i := range 60_000 {
			if err := os.Chmod(filepath.Join(dir, []string{"a/b/c/f", "d/e/f"}[i%2]), fs.FileMode(0o600+i%64)); err != nil {
				t.Fatal(err)
			}
		}
		put(t, filepath.Join(dir, "unseen/by/the/system"), "")
		close(wait)
		for limit := time.After(3 * time.Minute); ; {
			select {
			case c := <-heard:
				// Polling loses nothing.
				if !c.AllFolders && !(w.byTree && slices.Contains(c.Folders, "unseen/by/the")) {
					continue
				}
			case <-limit:
				t.Fatal("it did not tell that events were lost")
			}
			break
		}
		w.settles(t, dir)
	})
}

func TestRemovedTreeIsNotWatched(t *testing.T) {
	inEachWay(t, func(t *testing.T, watchDeep deepWatch) {
		heard := make(chan Change, 1000)
		dir, w := watchDeep(t, func(c Change) { heard <- c }, fillThree(t))
		w.settles(t, dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		until(t, heard, map[string]bool{}, func(h map[string]bool) bool { return h["again"] })
		w.settles(t, dir)
	})
}

func TestNestedTreesAreWatched(t *testing.T) {
	inEachWay(t, func(t *testing.T, watchDeep deepWatch) {
		heard := make(chan Change, 1000)
		dir, w := watchDeep(t, func(c Change) { heard <- c }, fillThree(t))
		inner := w.looksAt(t, filepath.Join(dir, "a"))
		w.settles(t, dir)
		w.Remove(inner)
		w.settles(t, dir)
		put(t, filepath.Join(dir, "a/new"), "")
		waitForChanges(t, heard, "a")
		w.looksAt(t, inner)
		w.Remove(dir)
		w.settles(t, inner)
		for len(heard) > 0 {
			<-heard
		}
		put(t, filepath.Join(inner, "b/c/new"), "")
		waitForChanges(t, heard, "b/c")
		if runtime.GOOS == "windows" {
			return // there, a folder above a watched one cannot be renamed
		}
		// The watcher of the inner one gets no event.
		if err := os.Rename(dir, dir+"2"); err != nil {
			t.Fatal(err)
		}
		w.Remove(inner)
		w.settles(t, inner)
	})
}

// BenchmarkTreeOf50000 watches 50,000 files in 2,500 folders.
func BenchmarkTreeOf50000(b *testing.B) {
	dir, w := watchDeep(b, func(Change) {}, fillLarge(b))
	w.settles(b, dir)
	var before, after runtime.MemStats
	for b.Loop() {
		w.mu.Lock()
		w.removeTree("/")
		for p := range w.watched {
			w.removeSubfolder(p)
		}
		w.mu.Unlock()
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		w.addTree(dir, false)
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/walk")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
		b.ReportMetric(float64(len(w.watched)), "folders")
	}
}
