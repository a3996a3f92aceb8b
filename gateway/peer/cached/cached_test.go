package cached

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
)

func TestAFileIsReadWholeWhereverItLies(t *testing.T) {
	want := make([]byte, 100<<10+17)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(want)
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, want, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, from := range []int64{0, 64 << 10} {
		if _, err := f.Seek(from, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(Reader(f), want[from:]); err != nil {
			t.Errorf("from %d: %v", from, err)
		}
	}
	if _, err := f.Seek(5, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 10)
	if _, err := io.ReadFull(Reader(f), got); err != nil || !bytes.Equal(got, want[5:15]) {
		t.Errorf("%x %v", got, err)
	}
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != 15 {
		t.Errorf("the file's offset is %d, %v", at, err)
	}
}

func TestWhatCannotBeReadSaysWhy(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := Reader(dir).Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a folder: %v", err)
	}
	dir.Close()
	if _, err := Reader(dir).Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
}
