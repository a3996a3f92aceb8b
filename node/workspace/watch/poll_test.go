//go:build !windows

package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/node/workspace"
)

func TestPollingUsesAThirtiethOfACore(t *testing.T) {
	for _, c := range []struct{ round, want time.Duration }{
		{0, time.Second}, {time.Millisecond, time.Second}, {time.Second, 32 * time.Second}, {time.Minute, 32 * time.Minute},
	} {
		if got := pauseAfter(c.round, pollPause); got != c.want || float64(c.round)/float64(c.round+got) > 0.0304 {
			t.Errorf("after %v: got %v, want %v", c.round, got, c.want)
		}
	}
}

func TestPollingFindsEveryChangeOfAFile(t *testing.T) {
	heard := make(chan Change, 1000)
	dir, w := pollDeep(t, func(c Change) { heard <- c }, fillThree(t))
	file := filepath.Join(dir, "a/b/c/f")
	// The replacement has the size and time that the file has when it is replaced.
	spare, old := filepath.Join(w.ws.Dir(), "spare"), time.Now().Add(-time.Hour)
	if err := os.WriteFile(spare, []byte("larger"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(spare, old, old); err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct {
		name string
		make func() error
	}{
		{"size", func() error { return os.WriteFile(file, []byte("longer"), 0o644) }},
		{"time", func() error { return os.Chtimes(file, old, old) }},
		{"mode", func() error { return os.Chmod(file, 0o600) }},
		{"inode", func() error { return os.Rename(spare, file) }},
		{"name", func() error { return os.Rename(file, file+"3") }},
		{"gone", func() error { return os.Remove(file + "3") }},
		{"folder", func() error { return os.Mkdir(file, 0o755) }},
		{"folder gone", func() error { return os.Remove(file) }},
		{"link", func() error { return os.Symlink("nowhere", file) }},
	} {
		t.Run(change.name, func(t *testing.T) {
			w.rounds(t)
			time.Sleep(pollTick) // a change just now counts twice
			w.rounds(t)
			for len(heard) > 0 {
				<-heard
			}
			if err := change.make(); err != nil {
				t.Fatal(err)
			}
			t.Log(change.name)
			waitForChanges(t, heard, "a/b/c")
		})
	}
}

// TestPollingSkipsPrivateFolders changes files behind links, in the program's own folder, and
// temporary files: none of the changes is reported.
func TestPollingSkipsPrivateFolders(t *testing.T) {
	base, out := t.TempDir(), t.TempDir()
	private := filepath.Join(base, "sub/own")
	for _, p := range []string{filepath.Join(private, "in/f"), filepath.Join(base, "sub/open/f"), filepath.Join(out, "canary/f")} {
		put(t, p, "")
	}
	link(t, out, filepath.Join(base, "sub/open/link"))
	r, err := workspace.Config{Dir: base, Private: private}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	heard := make(chan Change, 1000)
	w, err := New(r, func(c Change) { heard <- c })
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.byTree, w.pollPause = true, 5*time.Millisecond
	w.looksAt(t, filepath.Join(base, "sub"))
	w.rounds(t)
	time.Sleep(pollTick)
	w.rounds(t)
	for len(heard) > 0 {
		<-heard
	}
	put(t, filepath.Join(private, "in/f"), "changed")
	put(t, filepath.Join(out, "canary/f"), "changed")
	put(t, filepath.Join(base, "sub/open", ".fairlead-1.tmp"), "changed")
	w.rounds(t)
	put(t, filepath.Join(base, "sub/open/f"), "changed")
	for c := range heard {
		if slices.ContainsFunc(c.Folders, func(d string) bool { return d != "open" }) || c.AllFolders {
			t.Fatalf("got changes in %v, want in open alone", c.Folders)
		}
		if len(c.Folders) > 0 {
			break
		}
	}
	if _, err := w.Add(workspace.Path{Abs: private}, true); err == nil {
		t.Error("the program's own folder is watched")
	}
}

// TestPollingStaysInTheFolder replaces a folder by a link and back, again and again.
func TestPollingStaysInTheFolder(t *testing.T) {
	heard := make(chan Change, 10_000)
	out := t.TempDir()
	put(t, filepath.Join(out, "canary/f"), "")
	dir, _ := pollDeep(t, func(c Change) { heard <- c }, fillThree(t))
	at, aside := filepath.Join(dir, "d/e"), filepath.Join(dir, "d/aside")
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		for _, step := range []error{os.Rename(at, aside), os.Symlink(out, at), os.Remove(at), os.Rename(aside, at)} {
			if step != nil {
				t.Fatalf("got error %v, want none", step)
			}
		}
		put(t, filepath.Join(out, "canary", fmt.Sprint(time.Now().UnixNano())), "")
	}
	put(t, filepath.Join(dir, "a/last"), "")
	for c := range heard {
		if c.AllFolders || slices.ContainsFunc(c.Folders, func(d string) bool { return strings.Contains(d, "canary") }) {
			t.Fatalf("got changes in %v, want none outside", c.Folders)
		}
		if slices.Contains(c.Folders, "a") {
			break
		}
	}
}

func TestClosingStopsPolling(t *testing.T) {
	dir, w := pollDeep(t, func(Change) {}, func(dir string) {
		for i := range 3000 {
			put(t, filepath.Join(dir, fmt.Sprint("n", i/100), fmt.Sprint(i)), "")
		}
	})
	w.Remove(dir) // most likely in the first round
	w.pollPause = time.Hour
	w.looksAt(t, dir)
	for first := false; !first; time.Sleep(time.Millisecond) {
		w.each(func(p *poller, _ *treeChanges) { first = p.rounds.Load() > 0 })
	}
	w.Remove(dir) // during the pause: the test must end all the same
}

func TestManyChangesAreOneRescan(t *testing.T) {
	heard := make(chan Change, 1000)
	dir, w := pollDeep(t, func(c Change) { heard <- c }, fillThree(t))
	w.rounds(t)
	aside := filepath.Join(w.ws.Dir(), "aside")
	for i := range maxChangedFolders + 50 {
		put(t, filepath.Join(aside, fmt.Sprint(i), "f"), "")
	}
	if err := os.Rename(aside, filepath.Join(dir, "a/much")); err != nil {
		t.Fatal(err)
	}
	waitForRescan(t, heard)
}

// BenchmarkRoundThrough50000 polls 50,000 files in 2,500 folders.
func BenchmarkRoundThrough50000(b *testing.B) {
	dir, w := pollDeep(b, func(Change) {}, fillLarge(b))
	w.Remove(dir)
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	tree, err := w.openTree(dir)
	if err != nil {
		b.Fatal(err)
	}
	p := tree.(*poller) // its own polling is paused
	p.Close()
	p.quit = make(chan struct{})
	start := used()
	for b.Loop() {
		if err := p.scan(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((used()-start).Microseconds())/1e3/float64(b.N), "cpu-ms/round")
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
	b.ReportMetric(float64(p.entries), "entries")
}
