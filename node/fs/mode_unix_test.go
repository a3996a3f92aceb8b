//go:build unix

package fs

import (
	"os"
	"syscall"
	"testing"

	"fairlead/node/tooltest"
)

func TestModeOfAWrittenFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	path := in(b, "run.sh")
	write(b, tooltest.Args{"path": path, "mode": "0750", "chunk_b64": b64("x"), "done": true})
	if mode(path) != 0o750 {
		t.Errorf("got mode %o, want 750", mode(path))
	}
	tooltest.Must[fetchOut](b, "fs_fetch", tooltest.Args{"path": in(b, "fetched"), "url": server(t) + "/hello", "mode": "0600"})
	if mode(in(b, "fetched")) != 0o600 {
		t.Errorf("got mode %o of a download, want 600", mode(in(b, "fetched")))
	}
	write(b, tooltest.Args{"path": path, "chunk_b64": b64("y"), "done": true})
	if mode(path) != 0o750 {
		t.Errorf("got mode %o, want the old file's 750", mode(path))
	}
}

func TestNewFilesAndFoldersHaveTheDefaultMode(t *testing.T) {
	url := server(t)
	for umask, want := range map[int][2]os.FileMode{0: {0o644, 0o755}, 0o077: {0o600, 0o700}} {
		b := newBench(t)
		b.File("old", "x")
		old := syscall.Umask(umask)
		write(b, tooltest.Args{"path": in(b, "new"), "chunk_b64": b64("x"), "done": true})
		tooltest.Must[fetchOut](b, "fs_fetch", tooltest.Args{"path": in(b, "fetched"), "url": url + "/hello"})
		tooltest.Must[doneOut](b, "fs_mkdir", tooltest.Args{"path": in(b, "d")})
		tooltest.Must[doneOut](b, "fs_mkdir", tooltest.Args{"path": in(b, "e"), "recursive": true})
		syscall.Umask(old)
		for name, mode := range map[string]os.FileMode{"new": want[0], "fetched": want[0], "d": want[1], "e": want[1]} {
			if info, err := os.Stat(in(b, name)); err != nil || info.Mode().Perm() != mode {
				t.Errorf("umask %o: %s has mode %v, %v, want %v", umask, name, info.Mode(), err, mode)
			}
		}
	}
}
