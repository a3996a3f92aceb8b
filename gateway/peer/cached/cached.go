package cached

import (
	"io"
	"os"
	"syscall"
)

// Reader reads a file from its current offset, which it shares with other reads and seeks of the
// file. The file must be a regular file.
func Reader(f *os.File) io.Reader {
	raw, err := f.SyscallConn()
	if err != nil {
		return f
	}
	r := &reader{f: f, raw: raw}
	r.try = func(fd uintptr) { r.n, r.ok = Read(int(fd), r.p) }
	return r
}

type reader struct {
	f   *os.File
	raw syscall.RawConn
	try func(fd uintptr) // created once, because a closure for each read would be allocated on the heap
	p   []byte
	n   int
	ok  bool
}

func (r *reader) Read(p []byte) (int, error) {
	r.p, r.n, r.ok = p, 0, false
	err := r.raw.Control(r.try)
	r.p = nil
	switch {
	case err != nil || !r.ok:
		return r.f.Read(p)
	case r.n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return r.n, nil
}
