package workspace

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestContentIsTheSameWithAndWithoutThePageCache(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	want := make([]byte, 3<<20+17)
	rnd := rand.NewChaCha8([32]byte{1})
	_, _ = rnd.Read(want)
	f, err := os.Create(filepath.Join(r.Dir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	for _, forget := range []int64{0, 1 << 20, int64(len(want))} { // nothing, a part, all
		if err := unix.Fadvise(int(f.Fd()), int64(len(want))-forget, forget, unix.FADV_DONTNEED); err != nil && forget > 0 {
			t.Fatalf("got %v; want no error or forget at most 0", err)
		}
		c, err := r.Content(resolve(t, r, "f"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.LimitReader(c, 4<<20))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("without %d bytes: got %d bytes, error %v, want %d", forget, len(got), err, len(want))
		}
		if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("at the end: got %d bytes, error %v, want 0, EOF", n, err)
		}
		c.Close()
	}
}
