package stream

import (
	"errors"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A large file is written past the system's cache (O_DIRECT). Copying it to the cache, writing it
// from there and reclaiming the memory would take as much processor time as encrypting it, evict
// the data of the person's programs, and leave the disk with seconds of work at the end.
const (
	// uncachedFrom is the minimum number of bytes still to be written: smaller files are likely to
	// be read soon.
	uncachedFrom = 64 << 20
	// uncachedBlock is the size of a write. Each write blocks a thread, which has to be woken.
	// There are two blocks: one is filled while the other is written.
	uncachedBlock = 512 << 10
	// uncachedAlign is the memory alignment of blocks; no disk requires more.
	uncachedAlign = 4096
)

// uncachedOn lists the file systems that are known to support it well.
var uncachedOn = map[int64]bool{unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true}

var uncachedBlocks = &sync.Pool{New: func() any {
	b := make([]byte, uncachedBlock+uncachedAlign)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (uncachedAlign - 1)
	return (*[uncachedBlock]byte)(b[skip:])
}}

// uncached writes a file from an offset on, without gaps. It belongs to one goroutine, which must
// call end.
type uncached struct {
	f    *os.File
	at   int64 // file offset of block
	n    int   // length of the data in block
	now  *[uncachedBlock]byte
	next *[uncachedBlock]byte // being written while done is not nil
	done chan error
	err  error // the first error: nothing is written after a gap
}

// newUncached returns nil if a file is better written as usual, or cannot be written uncached. size
// is the file's size, at the offset to continue at.
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

// direct turns uncached writes to f on or off.
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

// write takes p. An error may concern earlier data. After a block is full, [uncached.wait] waits
// until it is written.
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
	if errors.Is(err, unix.EINVAL) && direct(w.f, false) == nil { // not supported here after all
		_, err = w.f.WriteAt(block[:], at)
	}
	return err
}

// wait waits until all full blocks are written.
func (w *uncached) wait() error {
	if w.done != nil {
		if err := <-w.done; w.err == nil {
			w.err = err
		}
		w.done = nil
	}
	return w.err
}

// end writes the rest if wanted is set. w cannot be used afterwards; further writes go to the file
// as usual.
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
