package stream

import (
	"errors"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A large file is written past the system's cache (O_DIRECT): copying it into there, writing it out from there and making room for it take as much of a
// processor as encrypting it, push out what the person's programs have there, and leave the disk with seconds of work at the end.
const (
	// uncachedFrom is how much must be to come of a file: smaller ones are likely to be looked at soon.
	uncachedFrom = 64 << 20
	// uncachedBlock is what is written at once: whoever writes waits in the system, and has to be woken. There are two of them: one is filled while the other
	// is written.
	uncachedBlock = 512 << 10
	// uncachedAlign is where blocks begin in memory; no disk asks for more.
	uncachedAlign = 4096
)

// uncachedOn are the file systems that are known to do it well.
var uncachedOn = map[int64]bool{unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true}

var uncachedBlocks = &sync.Pool{New: func() any {
	b := make([]byte, uncachedBlock+uncachedAlign)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (uncachedAlign - 1)
	return (*[uncachedBlock]byte)(b[skip:])
}}

// uncached writes a file from a place on, without gaps. It belongs to one goroutine, which calls end.
type uncached struct {
	f    *os.File
	at   int64 // where block belongs
	n    int   // of block
	now  *[uncachedBlock]byte
	next *[uncachedBlock]byte // being written while done is not nil
	done chan error
	err  error // the first one: nothing is written behind a gap
}

// newUncached is nil where a file is better written as usual, or cannot be written so: size is the file's, at where it is gone on with.
func newUncached(f *os.File, at, size int64) *uncached {
	var fs unix.Statfs_t
	if size-at < uncachedFrom || at%uncachedBlock != 0 || control(f, func(fd int) error { return unix.Fstatfs(fd, &fs) }) != nil || !uncachedOn[int64(fs.Type)] {
		return nil
	}
	if direct(f, true) != nil {
		return nil
	}
	return &uncached{f: f, at: at, now: uncachedBlocks.Get().(*[uncachedBlock]byte), next: uncachedBlocks.Get().(*[uncachedBlock]byte)}
}

func control(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return errors.Join(raw.Control(func(fd uintptr) { err = do(int(fd)) }), err)
}

// direct says whether what is written to f passes the cache by.
func direct(f *os.File, on bool) error {
	return control(f, func(fd int) error {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			return err
		}
		if flags &^= unix.O_DIRECT; on {
			flags |= unix.O_DIRECT
		}
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
		return err
	})
}

// write takes p. An error may be of what was taken before. When the bytes up to the end of a block were taken, [uncached.wait] tells when they are written.
func (w *uncached) write(p []byte) error {
	for len(p) > 0 && w.err == nil {
		k := copy(w.now[w.n:], p)
		w.n += k
		if p = p[k:]; w.n < uncachedBlock || w.wait() != nil {
			continue
		}
		block, at, done := w.now, w.at, make(chan error, 1)
		go func() { done <- w.put(block, at) }()
		w.done, w.now, w.next = done, w.next, w.now
		w.at, w.n = w.at+uncachedBlock, 0
	}
	return w.err
}

func (w *uncached) put(block *[uncachedBlock]byte, at int64) error {
	_, err := w.f.WriteAt(block[:], at)
	if errors.Is(err, unix.EINVAL) && direct(w.f, false) == nil { // not here after all
		_, err = w.f.WriteAt(block[:], at)
	}
	return err
}

// wait waits until all blocks that were full are written.
func (w *uncached) wait() error {
	if w.done != nil {
		if err := <-w.done; w.err == nil {
			w.err = err
		}
		w.done = nil
	}
	return w.err
}

// end writes what is left, unless it is not wanted. w is of no use then; what follows is written to the file as usual.
func (w *uncached) end(wanted bool) error {
	err := w.wait()
	if err == nil && wanted {
		if err = direct(w.f, false); err == nil {
			_, err = w.f.WriteAt(w.now[:w.n], w.at)
		}
	}
	uncachedBlocks.Put(w.now)
	uncachedBlocks.Put(w.next)
	w.now, w.next = nil, nil
	return err
}
