package workspace

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestNoToolReachesTheProgramsFolder(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	ws, own := filepath.Join(base, "ws"), filepath.Join(base, "ws/.local/own")
	put(t, filepath.Join(own, "keys"), "K")
	put(t, filepath.Join(own, "inside/f"), "F")
	put(t, filepath.Join(ws, "f"), "F")
	link(t, own, filepath.Join(base, "alias"))
	link(t, ".local/own/keys", filepath.Join(ws, "link"))
	for _, c := range []Config{{Dir: ws}, {Dir: ws, WholeDisk: true}, {Dir: filepath.Join(ws, ".local"), Grants: []Grant{{Dir: ws}}}} {
		c.Private = filepath.Join(base, "alias")
		r, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, name := range []string{own, filepath.Join(own, "keys"), filepath.Join(own, "none"), filepath.Join(ws, "link"), filepath.Join(own, "inside/f")} {
			p := resolve(t, r, name)
			_, _, err := r.Open(p)
			_, dirErr := r.OpenDir(p)
			_, _, targetErr := r.Target(p)
			_, writeErr := r.Write(p, []byte("x"), "", nil)
			for _, err := range []error{err, dirErr, targetErr, writeErr} {
				if !errors.Is(err, errPrivate) {
					t.Errorf("%s with %+v: got error %v, want %v", name, c, err, errPrivate)
				}
			}
		}
		if _, _, err := r.Open(resolve(t, r, filepath.Join(ws, "f"))); err != nil {
			t.Error(err)
		}
		d, err := r.OpenDir(resolve(t, r, filepath.Join(ws, ".local")))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Skips(d, "own") || r.Skips(d, "owl") || r.Skips(d, "ownx") {
			t.Errorf("with %+v: got skips %v, %v, %v, want that of own alone", c, r.Skips(d, "own"), r.Skips(d, "owl"), r.Skips(d, "ownx"))
		}
		d.Close()
	}
	// It may be made later.
	link(t, filepath.Join(ws, ".local"), filepath.Join(base, "local"))
	late, err := Config{Dir: ws, Private: filepath.Join(base, "local/later/own")}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	put(t, filepath.Join(ws, ".local/later/own/keys"), "K")
	if _, _, err := late.Open(resolve(t, late, ".local/later/own/keys")); !errors.Is(err, errPrivate) {
		t.Errorf("a folder that was made later: %v", err)
	}
	// A workspace inside of it that the person chose works.
	r, err := Config{Dir: filepath.Join(own, "inside"), Private: own}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Write(resolve(t, r, "f"), []byte("x"), "", nil); err != nil {
		t.Error(err)
	}
}

func TestProcessFilesAreRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("no such files here")
	}
	r, err := Config{Dir: t.TempDir(), WholeDisk: true}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, name := range []string{"/proc/self/environ", "/proc/thread-self/comm", "/proc/1/cmdline", "/proc/self", "/proc/self/fd"} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := r.Open(resolve(t, r, name)); !errors.Is(err, errProcess) {
				t.Errorf("%s: got %v; want the error errProcess", name, err)
			}
			if _, err := r.OpenDir(resolve(t, r, name)); !errors.Is(err, errProcess) {
				t.Errorf("%s: got %v; want the error errProcess", name, err)
			}
		})
	}
	f, _, err := r.Open(resolve(t, r, filepath.Join("/proc/self/root", "etc", "passwd"))) // a link to a file is one
	if err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	for dir, want := range map[string][]string{"/": {"proc", "sys"}, "/proc": {"1", "999999"}, "/etc": nil} {
		t.Run(dir, func(t *testing.T) {
			d, err := r.OpenDir(resolve(t, r, dir))
			if err != nil {
				t.Fatal(err)
			}
			var skipped []string
			for _, name := range []string{"proc", "sys", "usr", "1", "999999", "fs"} {
				if r.Skips(d, name) {
					skipped = append(skipped, name)
				}
			}
			d.Close()
			if !slices.Equal(skipped, want) {
				t.Errorf("in %s a search leaves out %v, want %v", dir, skipped, want)
			}
		})
	}
}
