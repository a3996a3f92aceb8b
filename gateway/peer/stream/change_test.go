package stream

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// files creates a folder of n files of size bytes each, named 00000 and so on.
func files(t *testing.T, n, size int) (Item, string) {
	t.Helper()
	dir := inMemory(t)
	data := make([]byte, size)
	rand.Read(data)
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("%03d", i/1000), fmt.Sprintf("%05d", i))
		if i%1000 == 0 {
			if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		copy(data, fmt.Sprint(i, " "))
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Item{Root: open(t, dir), At: ".", Name: "tree", Abs: dir}, dir
}

// memory is the in-memory file system, on systems that have it.
const memory = "/dev/shm"

// inMemory returns a folder in memory if there is one with enough space: containers have only 64
// MiB.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory, "fairlead-stream-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if FreeSpace(open(t, dir)) < 1<<30 {
		return t.TempDir()
	}
	return dir
}

// behind is the number of a frame of files that is sent after some of them were written and before
// others: they have 6 MB in all.
const behind = Window/(100<<10) + 16

// equal checks that every file at the destination equals its source, and returns their number.
func equal(t *testing.T, from, to string) (n int) {
	t.Helper()
	err := filepath.WalkDir(to, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(p, partSuffix) {
			return err
		}
		rel, _ := filepath.Rel(to, p)
		got, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(filepath.Join(from, rel))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is another file: %v", rel, err)
		}
		n++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFileRemovedDuringTheTransferFailsAlone(t *testing.T) {
	item, dir := files(t, 60, 100<<10)
	to := t.TempDir()
	gone := filepath.Join(dir, "000", "00059")
	res, sendErr, err := connectBoth(t, []Item{item}, open(t, to), nil, func(n int) bool {
		if n == 5 {
			if err := os.Remove(gone); err != nil {
				t.Error(err)
			}
		}
		return false
	})
	if sendErr != nil || err != nil || res.New != 59 || res.Failed != 1 || len(res.Problems) != 1 || res.Problems[0].Path != "tree/000/00059" {
		t.Fatalf(`got %+v, %v, %v; want no send error, no error, New 59, Failed 1, Problems of length 1 and Problems[0].Path "tree/000/00059"`, res, sendErr, err)
	}
	if n := equal(t, dir, filepath.Join(to, "tree")); n != 59 {
		t.Errorf("%d files arrived, want 59", n)
	}
}

// The destination folder is removed during the transfer.
func TestADestinationThatIsRemovedFailsCleanly(t *testing.T) {
	item, dir := files(t, 60, 100<<10)
	to := t.TempDir()
	res, sendErr, err := connectBoth(t, []Item{item}, open(t, to), nil, func(n int) bool {
		if n == behind {
			if err := os.Rename(filepath.Join(to, "tree"), filepath.Join(t.TempDir(), "elsewhere")); err != nil && os.PathSeparator == '/' {
				t.Errorf("got %v, want no error", err)
			}
		}
		return false
	})
	if sendErr != nil || err != nil {
		t.Fatalf("got %v, %v; want no send error and no error", sendErr, err)
	}
	if n := equal(t, dir, to); res.New+res.Failed != 60 || n > res.New {
		t.Errorf("%d files are there after %+v, want at most the new ones, and 60 new and failed ones", n, res)
	}
}

func TestFileChangedDuringTheTransferArrivesWholeOrNotAtAll(t *testing.T) {
	for what, change := range map[string]func(f *os.File) error{
		"shorter":  func(f *os.File) error { return f.Truncate(1 << 20) },
		"longer":   func(f *os.File) error { _, err := f.WriteAt([]byte("more"), 8<<20); return err },
		"the same": func(f *os.File) error { _, err := f.WriteAt([]byte("other"), 100); return err },
	} {
		t.Run(what, func(t *testing.T) {
			dir, to := t.TempDir(), t.TempDir()
			name := filepath.Join(dir, "f")
			data := make([]byte, 8<<20)
			rand.Read(data)
			old := time.Now().Add(-time.Hour)
			if err := errors.Join(os.WriteFile(name, data, 0o644), os.Chtimes(name, old, old)); err != nil {
				t.Fatal(err)
			}
			res, sendErr, err := connectBoth(t, []Item{{Root: open(t, dir), At: "f", Name: "f"}}, open(t, to), nil, func(n int) bool {
				if n == 10 {
					f, err := os.OpenFile(name, os.O_WRONLY, 0)
					if err = errors.Join(err, change(f), f.Close()); err != nil {
						t.Error(what, err)
					}
				}
				return false
			})
			now, readErr := os.ReadFile(name)
			if sendErr != nil || err != nil || readErr != nil || res.New != 1 {
				t.Fatalf("%s: got %+v, %v %v %v; want no send error, no error, no read error and New 1", what, res, sendErr, err, readErr)
			}
			if got, err := os.ReadFile(filepath.Join(to, "f")); err != nil || !bytes.Equal(got, now) {
				t.Errorf("%s: a mixture of both arrived, %v; want no error", what, err)
			}
		})
	}
}

// The clock of either machine is changed between attempts: existing data is recognized by its
// content.
func TestClockJumpsDoNotAffectTransfers(t *testing.T) {
	for _, at := range []time.Time{time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)} {
		dir, to := t.TempDir(), t.TempDir()
		name, data := filepath.Join(dir, "f"), make([]byte, 10<<20)
		rand.Read(data)
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		item := Item{Root: open(t, dir), At: "f", Name: "f"}
		if _, _, err := connectBoth(t, []Item{item}, open(t, to), nil, func(n int) bool { return n > 30 }); !errors.Is(err, errCut) {
			t.Fatalf("got %v; want the error errCut", err)
		}
		part, err := filepath.Glob(filepath.Join(to, "*"+partSuffix))
		if len(part) == 0 {
			part, err = filepath.Glob(filepath.Join(to, ".*"+partSuffix))
		}
		if err != nil || len(part) != 1 {
			t.Fatalf("got %v, %v; want 1 entry and no error", part, err)
		}
		if err := errors.Join(os.Chtimes(part[0], at, at), os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
		frames := 0
		res, sendErr, err := connectBoth(t, []Item{item}, open(t, to), nil, func(n int) bool { frames = n; return false })
		if sendErr != nil || err != nil || res.New != 1 || frames > 20 {
			t.Fatalf("%d frames: %+v, %v %v; want no send error, no error, New 1 and frames at most 20", frames, res, sendErr, err)
		}
		info, err := os.Stat(filepath.Join(to, "f"))
		if err != nil || !info.ModTime().Equal(at) || equal(t, dir, to) != 1 {
			t.Errorf("it arrived with the time %v, %v", info.ModTime(), err)
		}
	}
}

// FAIRLEAD_MANY=1 sends 100,000 files.
func TestManySmallFilesArrive(t *testing.T) {
	n := 10_000
	switch {
	case os.Getenv("FAIRLEAD_MANY") != "":
		n = 100_000
	case testing.Short():
		n = 1000
	}
	item, dir := files(t, n, 120)
	to := inMemory(t)
	began := time.Now()
	res, sendErr, err := connectBoth(t, []Item{item}, open(t, to), nil, nil)
	if sendErr != nil || err != nil || res.New != n || res.Failed != 0 {
		t.Fatalf("got %+v, %v, %v; want no send error, no error, New %v and Failed 0", res, sendErr, err, n)
	}
	took := time.Since(began)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	t.Logf("%d files in %s, %d MiB of memory at both ends together", n, took.Round(time.Millisecond), mem.Sys>>20)
	if want, got := sums(t, dir), sums(t, filepath.Join(to, "tree")); !maps.Equal(want, got) {
		t.Errorf("%d files are there, and not the same ones", len(got))
	}
}

// sums returns the checksum of every file in a folder, by path.
func sums(t *testing.T, dir string) map[string]uint32 {
	t.Helper()
	out := make(map[string]uint32)
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, p))
		out[p] = crc32.ChecksumIEEE(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
