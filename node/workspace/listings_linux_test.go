package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// namesIn reads a folder; folders have a slash.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := r.Resolve("")
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.OpenDir(p)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	names := []string{}
	if err := d.Each(func(e Entry) bool {
		if e.IsDir() {
			e.Name += "/"
		}
		names = append(names, e.Name)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// useSettledCache gives the test an empty cache whose clock is an hour ahead, so that all folders
// have settled.
func useSettledCache(t *testing.T) {
	t.Helper()
	was := cachedListings.now
	empty := func(now func() time.Time) {
		cachedListings.mu.Lock()
		defer cachedListings.mu.Unlock()
		cachedListings.listings, cachedListings.size, cachedListings.now = nil, 0, now
	}
	empty(func() time.Time { return time.Now().Add(time.Hour) })
	t.Cleanup(func() { empty(was) })
}

func isCached(t *testing.T, dir string) bool {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		t.Fatal(err)
	}
	cachedListings.mu.Lock()
	defer cachedListings.mu.Unlock()
	_, ok := cachedListings.listings[folderID{st.Dev, st.Ino}]
	return ok
}

// waitClockTick changes a folder until its time shows it: the clock of a file system goes in steps
// of some milliseconds.
func waitClockTick(t *testing.T, dir string) {
	t.Helper()
	var was, now unix.Stat_t
	if err := unix.Stat(dir, &was); err != nil {
		t.Fatal(err)
	}
	for now = was; now.Mtim == was.Mtim; {
		f, err := os.CreateTemp(dir, "tick-")
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := os.Remove(f.Name()); err != nil {
			t.Fatal(err)
		}
		if err := unix.Stat(dir, &now); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAListingIsRememberedUntilItsFolderChanges(t *testing.T) {
	useSettledCache(t)
	dir := t.TempDir()
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil || !trustedFileSystems[fs.Type] {
		t.Skipf("this file system (%x) is not trusted", fs.Type)
	}
	do := func(what string, change func() error, want ...string) {
		t.Helper()
		waitClockTick(t, dir) // the change is not in the same tick of the clock as the listing before
		if err := change(); err != nil {
			t.Fatal(err)
		}
		for _, again := range []bool{false, true} {
			if got := namesIn(t, dir); !slices.Equal(got, want) {
				t.Errorf("%s, again %v: %v, want %v", what, again, got, want)
			}
			if !isCached(t, dir) {
				t.Errorf("%s: got no cached listing, want one", what)
			}
		}
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	do("a file", func() error { return os.WriteFile(path("a"), nil, 0o600) }, "a")
	do("a folder", func() error { return os.Mkdir(path("b"), 0o700) }, "a", "b/")
	do("a file below", func() error { return os.WriteFile(path("b/c"), nil, 0o600) }, "a", "b/")
	do("renamed", func() error { return os.Rename(path("a"), path("d")) }, "b/", "d")
	do("a folder in place of a file", func() error {
		if err := os.Remove(path("d")); err != nil {
			return err
		}
		return os.Mkdir(path("d"), 0o700)
	}, "b/", "d/")
	do("removed", func() error { return os.Remove(path("d")) }, "b/")
	do("another folder of the same name", func() error {
		parent := filepath.Dir(dir)
		old := filepath.Join(parent, "old")
		if err := os.Rename(dir, old); err != nil {
			return err
		}
		return os.Mkdir(dir, 0o700)
	})
}

func TestAFolderThatChangedLatelyIsNotRemembered(t *testing.T) {
	useSettledCache(t)
	cachedListings.now = time.Now
	dir := t.TempDir()
	for i := range 3 {
		name := fmt.Sprint(i)
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := namesIn(t, dir); len(got) != i+1 {
			t.Fatalf("got %v, want %d names", got, i+1)
		}
	}
	if isCached(t, dir) {
		t.Error("what changes within the same step of the clock would be missed")
	}
}

func TestListingsTakeLittleMemoryAndAreForgotten(t *testing.T) {
	useSettledCache(t)
	c := &listingCache{now: cachedListings.now}
	entries := strings.Repeat("x", 100<<10)
	for i := range 500 {
		c.put(listing{folder: folderID{inode: uint64(i % 300)}, entries: entries})
		size := 0
		for _, l := range c.listings {
			size += len(l.entries) + listingSize
		}
		if size != c.size || size > maxListings {
			t.Fatalf("got %d bytes, want %d, and at most %d", c.size, size, maxListings)
		}
	}
	c.used = c.now().Add(-listingLifetime / 2)
	c.expire()
	if c.listings == nil {
		t.Error("it is forgotten while it is used")
	}
	c.used = c.now().Add(-listingLifetime)
	c.expire()
	if c.listings != nil || c.size != 0 || c.timer != nil {
		t.Error("it is not forgotten")
	}
}
