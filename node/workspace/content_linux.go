package workspace

import (
	"io"

	"golang.org/x/sys/unix"
)

// Content is a regular file that is open for reading. The caller closes it.
type Content struct {
	// Size is the size in bytes when the file was opened. Files that the kernel generates, as in
	// /proc, have 0.
	Size int64
	fd   int
}

// Read implements [io.Reader].
func (c Content) Read(p []byte) (int, error) {
	return count(retry(func() (int, error) { return unix.Read(c.fd, p) }))
}

// ReadAt reads at most len(p) bytes at an offset. Unlike an [io.ReaderAt] it may return fewer; at
// the end it returns [io.EOF].
func (c Content) ReadAt(p []byte, off int64) (int, error) {
	return count(retry(func() (int, error) { return unix.Pread(c.fd, p, off) }))
}

// Close closes the file.
func (c Content) Close() { unix.Close(c.fd) }

// Content opens a regular file for searching, as [Root.Open] does.
func (r *Root) Content(p Path) (Content, error) {
	f, info, err := r.Open(p)
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return Content{}, err
	}
	fd := -1
	if rawErr := raw.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }); rawErr != nil {
		return Content{}, rawErr
	}
	return Content{Size: info.Size(), fd: fd}, err
}

func count(n int, err error) (int, error) {
	switch {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}
