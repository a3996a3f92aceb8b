package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestWriteReplacesContentAndMode(t *testing.T) {
	name := filepath.Join(t.TempDir(), "new", "file")
	for _, want := range []string{"first", "second"} {
		if err := Write(name, []byte(want), 0o640); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Fatalf("content: got %q, %v, want %q", got, err, want)
		}
	}
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("mode: got %v, %v, want 0640", info.Mode(), err)
	}
}

func TestFailedWriteLeavesTheOldFileAlone(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	_, err := Fill(name, 0o600, func(w io.Writer) error {
		io.WriteString(w, "half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error: got %v, want %v", err, broken)
	}
	if got, _ := os.ReadFile(name); string(got) != "old" {
		t.Errorf("content: got %q, want the old one", got)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("files in the folder: got %v, want only the old one", list)
	}
}
