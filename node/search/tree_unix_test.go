//go:build unix

package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairlead/node/access"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestUnreadableFilesDoNotStopASearch(t *testing.T) {
	b := newBench(t)
	b.File("a/f", "needle\n")
	b.File("z/f", "needle\n")
	b.File("locked/f", "needle\n")
	b.File("unreadable", "needle\n")
	b.File("bad\xffname", "needle\n")
	if err := syscall.Mkfifo(filepath.Join(b.WS.Dir(), "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err == nil {
		defer syscall.Close(l)
		_ = syscall.Bind(l, &syscall.SockaddrUnix{Name: filepath.Join(b.WS.Dir(), "socket")}) // its path may be too long
	}
	for name, mode := range map[string]os.FileMode{"locked": 0, "unreadable": 0} {
		path := filepath.Join(b.WS.Dir(), name)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, 0o700) })
	}
	want := []string{"a/f", "z/f"}
	if os.Geteuid() == 0 { // who may read everything
		want = []string{"a/f", "locked/f", "unreadable", "z/f"}
	}
	var got []string
	for _, m := range tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "needle"}).Matches {
		if rel := rel(b, m.Path)[0]; !strings.HasPrefix(rel, "bad") {
			got = append(got, rel)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	globbed := rel(b, tooltest.Must[globOut](b, "Glob", tooltest.Args{"pattern": "*"}).Matches...)
	for _, name := range []string{"pipe", "locked", "unreadable"} {
		if !slices.Contains(globbed, name) {
			t.Errorf("got %q, want %s among them", globbed, name)
		}
	}
}

func TestChangingFilesDoNotDisturbASearch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 50 {
		b.File(fmt.Sprintf("stay/%02d", i), "needle\n")
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			dir := filepath.Join(b.WS.Dir(), fmt.Sprintf("come%d", n%5))
			os.MkdirAll(dir, 0o755)
			name := filepath.Join(dir, "f")
			os.WriteFile(name, []byte(strings.Repeat("text\n", n%40_000)), 0o644)
			if n%3 == 0 {
				os.Truncate(name, 3)
			}
			os.RemoveAll(dir)
		}
	})
	for range 30 {
		if out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "needle"}); out.Count == nil || *out.Count != 50 {
			t.Fatalf("Grep: got count %+v, want 50", out.Count)
		}
		if out := tooltest.Must[globOut](b, "Glob", tooltest.Args{"pattern": "stay/*"}); out.Count != 50 {
			t.Fatalf("Glob: got count %d, want 50", out.Count)
		}
	}
	close(stop)
	wg.Wait()
}

func TestGrepOfProcEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	ws, err := workspace.Open("/proc/self")
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	out, err := runGrep(t.Context(), ws, access.Call{}, grepIn{Pattern: `^Pid:`, Include: "status"})
	if err != nil || len(out.Matches) == 0 {
		t.Errorf("got %+v, error %v, want matches", out, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	begun := time.Now()
	if _, err := runGrep(ctx, ws, access.Call{}, grepIn{Pattern: "zz_no[a-z]such"}); err != nil && ctx.Err() == nil || time.Since(begun) > 5*time.Minute {
		t.Errorf("after %v: %v; want either no error or Err set and time since begun at most %v", time.Since(begun), err, 5*time.Minute)
	}
}

func TestSwappedFolderCannotLeadASearchOutside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	out := t.TempDir()
	for i := range 20 {
		if err := os.MkdirAll(filepath.Join(out, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(out, "sub", fmt.Sprint(i)), []byte("outside needle\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		b.File(fmt.Sprintf("d/sub/%d", i), "inside needle\n")
	}
	dir, aside, door := filepath.Join(b.WS.Dir(), "d"), filepath.Join(b.WS.Dir(), "aside"), filepath.Join(b.WS.Dir(), "door")
	if err := os.Symlink(out, door); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(dir, aside)
			os.Rename(door, dir)
			os.Rename(dir, door)
			os.Rename(aside, dir)
		}
	})
	found := 0
	begun := time.Now()
	for least, most := begun.Add(time.Second), begun.Add(3*time.Minute); time.Now().Before(least) || found == 0 && time.Now().Before(most); {
		got, err := runGrep(t.Context(), b.WS, access.Call{}, grepIn{Pattern: "needle"})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range got.Matches {
			found++
			if m.Content != "inside needle" {
				t.Fatalf("got %+v, want the match inside", m)
			}
		}
		globbed, err := runGlob(t.Context(), b.WS, "", globIn{Pattern: "**/sub/*"}, maxGlob, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(globbed.Matches) > 40 {
			t.Fatalf("got %q, want at most 40", globbed.Matches)
		}
	}
	close(stop)
	wg.Wait()
	if found == 0 {
		t.Error("nothing was ever found: nothing was tested")
	}
}

func TestSearchesLeaveNoFolderOpen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc to look at")
	}
	b := newBench(t)
	open := func() (n int) { // other tests open other files
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if path, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.HasPrefix(path, b.WS.Dir()) {
				n++
			}
		}
		return n
	}
	for i := range 300 {
		b.File(fmt.Sprintf("d%d/e%d/f", i%20, i), "needle\n")
	}
	for i := range 5 {
		if err := os.Symlink("d1", filepath.Join(b.WS.Dir(), fmt.Sprintf("l%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	before := open()
	if before == 0 {
		t.Fatal("the workspace itself is not among the open files")
	}
	for i := range 40 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%10)*100*time.Microsecond)
		if i%2 == 0 {
			ctx = t.Context()
		}
		_, _ = runGrep(ctx, b.WS, access.Call{}, grepIn{Pattern: "needle"})
		_, _ = runGrep(ctx, b.WS, access.Call{}, grepIn{Pattern: "needles"})
		_, _ = runGlob(ctx, b.WS, "", globIn{Pattern: "**/f"}, 3, nil)
		cancel()
	}
	if after := open(); after > before {
		t.Errorf("got %d open files, want %d as before", after, before)
	}
}
