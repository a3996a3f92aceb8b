package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

func TestWritePreservesModeAndFollowsLinks(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	file := filepath.Join(r.Dir(), "script")
	put(t, file, "old")
	if err := os.Chmod(file, 0o751); err != nil {
		t.Fatal(err)
	}
	link(t, "script", filepath.Join(r.Dir(), "name"))
	if _, err := r.Write(resolve(t, r, "name"), []byte("new"), "", nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(r.Dir(), "name"))
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if info, _ := os.Stat(file); runtime.GOOS != "windows" && info.Mode().Perm() != 0o751 {
		t.Errorf("got mode %v, want 751", info.Mode())
	}
	if data, _ := os.ReadFile(file); string(data) != "new" {
		t.Errorf("got %q, want new", data)
	}
	entries, _ := os.ReadDir(r.Dir())
	if len(entries) != 2 {
		t.Errorf("got files %v, want two", entries)
	}
}

func TestWriteRefusesAFileThatChanged(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	put(t, filepath.Join(r.Dir(), "f"), "one")
	p := resolve(t, r, "f")
	seen, err := r.Hash(p)
	if err != nil {
		t.Fatal(err)
	}
	for name, expect := range map[string]string{"f": Absent, "g": seen} {
		t.Run(name, func(t *testing.T) {
			if _, err := r.Write(resolve(t, r, name), []byte("x"), expect, nil); !errors.Is(err, ErrChanged) {
				t.Errorf("%s: got %v; want the error ErrChanged", name, err)
			}
		})
	}
	put(t, filepath.Join(r.Dir(), "f"), "two")
	if _, err := r.Write(p, []byte("x"), seen, nil); !errors.Is(err, ErrChanged) {
		t.Errorf("changed file: %v", err)
	}
	if data, _ := os.ReadFile(p.Abs); string(data) != "two" {
		t.Errorf("got %q, want two", data)
	}
	if entries, _ := os.ReadDir(r.Dir()); len(entries) != 1 {
		t.Errorf("got files %v, want one", entries)
	}
	if sum, err := r.Hash(resolve(t, r, "none")); sum != Absent || err != nil {
		t.Errorf("a missing file: got %q, error %v, want %q", sum, err, Absent)
	}
}

func TestAFileInTheWayIsADirError(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	put(t, filepath.Join(r.Dir(), "f"), "")
	for _, name := range []string{"f/g", "f/g/h"} {
		t.Run(name, func(t *testing.T) {
			var dir *DirError
			if _, err := r.Write(resolve(t, r, name), nil, "", nil); !errors.As(err, &dir) {
				t.Errorf("%s: a file was used as a folder: %v", name, err)
			}
		})
	}
	if _, err := r.Write(resolve(t, r, ""), nil, "", nil); err == nil {
		t.Error("the workspace itself was overwritten")
	}
}

func TestLockIsHeldByOneAtATimeAndGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	p := resolve(t, r, "f")
	count := 0
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			unlock, err := r.Lock(t.Context(), p)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			count++ // the race detector sees it if two are in here
		})
	}
	wg.Wait()
	if count != 200 || len(r.locks.paths) != 0 {
		t.Errorf("got count %d, %d locks, want 200, 0", count, len(r.locks.paths))
	}
	unlock, err := r.Lock(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Lock(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("Lock with an ended context: %v", err)
	}
	unlock()
	if len(r.locks.paths) != 0 {
		t.Error("a lock was left")
	}
}
