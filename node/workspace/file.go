package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"fairlead/gateway/peer/format"
)

// Absent stands for the hash of a file that does not exist.
const Absent = "absent"

// ErrChanged is the error when a file is not the one that the person or the caller saw. Nothing was
// written.
//
//lint:ignore ST1005 the text goes to the model as it is
var ErrChanged = errors.New("The file changed after it was shown. Nothing was written; ask again.")

// TooLargeError is the error for a file that does not fit in memory.
type TooLargeError struct{ Size, Max int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("File too large (%d bytes, at most %d)", e.Size, e.Max)
}

// Open opens a regular file for reading. Directories, pipes, sockets and devices are refused
// without blocking. The caller closes the file. Errors do not contain the path.
func (r *Root) Open(p Path) (*os.File, os.FileInfo, error) {
	real, err := r.paths.follow(p)
	if err != nil {
		return nil, nil, err
	}
	return openRegular(r.paths.fs, real.Abs)
}

type opener interface {
	OpenFile(name string, flag int, perm os.FileMode) (*os.File, error)
	Lstat(name string) (os.FileInfo, error)
}

func openRegular(t opener, name string) (*os.File, os.FileInfo, error) {
	// Check before opening, because opening rewinds a tape and starts a watchdog. For a link, the
	// type of the opened file counts.
	if info, err := t.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		if err := checkRegular(info.Mode()); err != nil {
			return nil, nil, err
		}
	}
	f, err := t.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, format.WithoutPath(err)
	}
	info, err := checkOpened(f)
	if err != nil {
		return nil, nil, err
	}
	return f, info, nil
}

// checkOpened closes a file that is not a regular one. Files of the kernel have no size, and some
// block until there is data, so they get a deadline. Other files support none and need none.
func checkOpened(f *os.File) (os.FileInfo, error) {
	info, err := f.Stat()
	if err == nil {
		err = checkRegular(info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, format.WithoutPath(err)
	}
	if info.Size() == 0 {
		f.SetReadDeadline(time.Now().Add(generatedReadLimit))
	}
	return info, nil
}

const generatedReadLimit = 3 * time.Second

// ErrNotRegular is the error for a folder, a pipe or a device where a file is needed. Its text says
// what it is.
var ErrNotRegular error = notRegularError("it is not a regular file")

func checkRegular(m fs.FileMode) error {
	switch {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return notRegularError("it is a directory")
	case m&fs.ModeNamedPipe != 0:
		return notRegularError("it is a named pipe, not a file")
	case m&fs.ModeSocket != 0:
		return notRegularError("it is a socket, not a file")
	case m&fs.ModeDevice != 0:
		return notRegularError("it is a device, not a file")
	}
	return notRegularError("it is not a regular file")
}

// notRegularError says that something is not a regular file.
type notRegularError string

func (e notRegularError) Error() string   { return string(e) }
func (notRegularError) Is(err error) bool { return err == ErrNotRegular }

// ReadFile reads a whole regular file of at most limit bytes and returns its SHA-256 in hex. A
// larger one is a *TooLargeError.
func (r *Root) ReadFile(p Path, limit int64) (data []byte, sum string, err error) {
	f, info, err := r.Open(p)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, "", &TooLargeError{Size: info.Size(), Max: limit}
	}
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, "", format.WithoutPath(err)
	}
	if int64(len(data)) > limit {
		return nil, "", &TooLargeError{Size: int64(len(data)), Max: limit}
	}
	return data, hashOf(data), nil
}

// Hash returns the SHA-256 of a regular file in hex, or [Absent].
func (r *Root) Hash(p Path) (string, error) {
	f, _, err := r.Open(p)
	return hashOpened(f, err)
}

// hashOpened returns the hash of a file that was opened with err, and closes it.
func hashOpened(f *os.File, err error) (string, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return Absent, nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", format.WithoutPath(err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func hashOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
