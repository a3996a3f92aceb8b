//go:build unix

package workspace

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAPipeIsNeitherReadNorWritten(t *testing.T) {
	home := t.TempDir()
	w := NewFiles(home, nil)
	if _, err := w.List("main", ""); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(home, "agents", "main", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Read("main", "pipe"); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("got %v; want the error protocol.ErrBadRequest", err)
	}
	if _, err := w.Write("main", "pipe", nil); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("got %v; want the error protocol.ErrBadRequest", err)
	}
}
