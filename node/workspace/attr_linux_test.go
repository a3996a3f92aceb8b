package workspace

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWritePreservesAttributes(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	file := filepath.Join(r.Dir(), "f")
	put(t, file, "old")
	if err := unix.Setxattr(file, "user.fairlead", []byte("kept"), 0); err != nil {
		t.Skipf("no attributes on this file system: %v", err)
	}
	if _, err := r.Write(resolve(t, r, "f"), []byte("new"), "", nil); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 16)
	if n, err := unix.Getxattr(file, "user.fairlead", value); err != nil || string(value[:n]) != "kept" {
		t.Errorf("got %q, error %v, want kept", value, err)
	}
}
