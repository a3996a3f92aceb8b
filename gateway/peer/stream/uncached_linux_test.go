package stream

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pastCache opens a file for writing past the cache.
func pastCache(t *testing.T) (*os.File, *uncached) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	w := newUncached(f, 0, uncachedFrom)
	if w == nil {
		t.Skip("this file system is not known to write past its cache")
	}
	return f, w
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(b)
	return b
}

func TestWhatIsWrittenPastTheCacheIsAllThereInOrder(t *testing.T) {
	want := randomBytes(5<<20 + 12345)
	for _, aligned := range []bool{true, false} {
		if !aligned { // as on a disk that requires a larger alignment
			was := uncachedBlocks
			defer func() { uncachedBlocks = was }()
			uncachedBlocks = &sync.Pool{New: func() any { return (*[uncachedBlock]byte)(make([]byte, uncachedBlock+100)[100:]) }}
		}
		f, w := pastCache(t)
		rnd := rand.New(rand.NewPCG(1, 2))
		for at := 0; at < len(want); {
			n := min(1+rnd.IntN(300<<10), len(want)-at)
			if err := w.write(want[at : at+n]); err != nil {
				t.Fatal(err)
			}
			if at += n; rnd.IntN(4) == 0 {
				whole := int64(at / uncachedBlock * uncachedBlock)
				if err := w.wait(); err != nil {
					t.Fatal(err)
				}
				if info, err := f.Stat(); err != nil || info.Size() != whole {
					t.Fatalf("of %d bytes %d are written, %v", at, info.Size(), err)
				}
			}
		}
		if err := w.end(true); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("aligned %v: %d bytes, %v", aligned, len(got), err)
		}
	}
}

func TestALargeFileDoesNotFillTheCache(t *testing.T) {
	f, w := pastCache(t)
	if err := errors.Join(w.write(make([]byte, 4<<20+1)), w.end(true)); err != nil {
		t.Fatal(err)
	}
	if inCache(t, f.Name(), 1<<20) {
		t.Error("what was written is in the cache")
	}
	if _, err := os.ReadFile(f.Name()); err != nil || !inCache(t, f.Name(), 1<<20) {
		t.Errorf("what was read is not in the cache, %v", err)
	}
	if _, err := f.WriteAt([]byte("end"), 4<<20+1); err != nil {
		t.Errorf("it is not written as usual afterwards: %v", err)
	}
}

func TestNothingIsWrittenBehindAGap(t *testing.T) {
	f, w := pastCache(t)
	if err := w.write(make([]byte, uncachedBlock)); err != nil {
		t.Fatal(err)
	}
	if err := w.wait(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	more := make([]byte, 3*uncachedBlock)
	if err := w.write(more); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("%v", err)
	}
	if w.f = nil; !errors.Is(w.write(more), fs.ErrClosed) || !errors.Is(w.wait(), fs.ErrClosed) || !errors.Is(w.end(true), fs.ErrClosed) {
		t.Error("it is forgotten that something could not be written")
	}
}

func TestOnlyLargeFilesPassTheCacheBy(t *testing.T) {
	f, w := pastCache(t)
	if err := w.end(false); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at, size int64
		want     bool
	}{
		{0, uncachedFrom - 1, false}, {0, uncachedFrom, true}, {stride, uncachedFrom + stride, true}, {stride, uncachedFrom, false}, {4096, 2 * uncachedFrom, false},
	} {
		w := newUncached(f, c.at, c.size)
		if (w != nil) != c.want {
			t.Errorf("from %d of %d: %v", c.at, c.size, w != nil)
		}
		if w != nil {
			w.end(false)
		}
	}
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("what is not wanted is written: %d, %v", info.Size(), err)
	}
}

// inCache only inspects the cache: a non-blocking read could start a real one that a fast disk
// completes in time.
func inCache(t *testing.T, name string, at int64) bool {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page := os.Getpagesize()
	mapped, err := unix.Mmap(int(f.Fd()), at, page, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(mapped) }()
	var there byte
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(page), uintptr(unsafe.Pointer(&there))); errno != 0 {
		t.Fatal(errno)
	}
	return there&1 != 0
}

// TestALargeFileArrivesPastTheCache: interrupted in the middle, with a hole and data after it.
func TestALargeFileArrivesPastTheCache(t *testing.T) {
	_, w := pastCache(t)
	w.end(false)
	x := newResumer(t)
	x.to = t.TempDir()
	name := filepath.Join(x.from, "f")
	long(t, name, uncachedFrom+20<<20+4321)
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte("behind a hole"), 2*uncachedFrom)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	const got = 40 << 20
	if _, err := x.attempt(got + Window); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	if n := x.part(); n < got {
		t.Errorf("of %d bytes %d are there", got, n)
	}
	if inCache(t, filepath.Join(x.to, (&Receiver{Transfer: "t1"}).partName("f")), 1<<20) {
		t.Error("what was written is in the cache")
	}
	if _, err := x.attempt(0); err != nil || x.r.reread > stride {
		t.Errorf("%v, the destination hashed %d bytes again", err, x.r.reread)
	}
	x.same("f")
	x.to, x.trails = t.TempDir(), t.TempDir()
	if _, err := x.attempt(0); err != nil {
		t.Fatal(err)
	}
	if inCache(t, filepath.Join(x.to, "f"), 1<<20) {
		t.Error("what was written in one go is in the cache")
	}
	x.same("f")
}
