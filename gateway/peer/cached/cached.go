package cached

import (
	"io"
	"os"
	"syscall"
)

// Reader reads a file from its offset on, which other reads and seeks of the file share. It is for files that do not change their kind: regular ones.
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
	try func(fd uintptr) // made once: one for each read would be on the heap
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
