package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Absent is the hash of a file that does not exist.
const Absent = "absent"

// ErrChanged says that a file is not the one that the person or the caller saw. Nothing was written.
var ErrChanged error = changedError{}

type changedError struct{}

func (changedError) Error() string {
	return "The file changed after it was shown. Nothing was written; ask again."
}

// TooLargeError refuses a file that does not fit in memory.
type TooLargeError struct{ Size, Max int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("File too large (%d bytes, at most %d)", e.Size, e.Max)
}

// Open opens a regular file for reading. Directories, pipes, sockets and devices are refused, without waiting for anyone. The caller
// closes the file. Errors are without the path.
func (r *Root) Open(p Path) (*os.File, os.FileInfo, error) {
	real, err := r.follow(p)
	if err != nil {
		return nil, nil, err
	}
	name, err := r.name(real.Abs)
	if err != nil {
		return nil, nil, err
	}
	return openRegular(r.fs, name)
}

type opener interface {
	OpenFile(name string, flag int, perm os.FileMode) (*os.File, error)
}

func openRegular(t opener, name string) (*os.File, os.FileInfo, error) {
	f, err := t.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, reason(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, nil, reason(err)
	}
	return f, info, nil
}

func regular(m fs.FileMode) error {
	switch {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return errors.New("it is a directory")
	case m&fs.ModeNamedPipe != 0:
		return errors.New("it is a named pipe, not a file")
	case m&fs.ModeSocket != 0:
		return errors.New("it is a socket, not a file")
	case m&fs.ModeDevice != 0:
		return errors.New("it is a device, not a file")
	}
	return errors.New("it is not a regular file")
}

// ReadFile reads a whole regular file of at most limit bytes and gives its SHA-256 in hex. A larger one is a *TooLargeError.
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
		return nil, "", reason(err)
	}
	if int64(len(data)) > limit {
		return nil, "", &TooLargeError{Size: int64(len(data)), Max: limit}
	}
	return data, hash(data), nil
}

// Hash is the SHA-256 of a regular file in hex, or [Absent].
func (r *Root) Hash(p Path) (string, error) {
	f, _, err := r.Open(p)
	if errors.Is(err, fs.ErrNotExist) {
		return Absent, nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", reason(err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Lock keeps other writers of this Root from the file until unlock is called, so that reading, changing and writing is one step. Other
// programs are not kept out: [Root.Write] notices them by the file's hash.
func (r *Root) Lock(ctx context.Context, p Path) (unlock func(), err error) {
	real, err := r.follow(p)
	if err != nil {
		real = p // the access that follows reports it
	}
	return r.locks.lock(ctx, real.Abs)
}

// DirError says that a file's folder could not be made.
type DirError struct{ Err error }

func (e *DirError) Error() string { return e.Err.Error() }
func (e *DirError) Unwrap() error { return e.Err }

// Write replaces a file by data, or creates it with its folders (else a *DirError). Whoever looks at the path, even after a crash, sees the old or the new file, never
// a mixture. A symbolic link is followed, not replaced. When expect is not empty and the file's hash differs, the error is [ErrChanged].
// Call it under [Root.Lock].
func (r *Root) Write(p Path, data []byte, expect string) error {
	real, err := r.follow(p)
	if err != nil {
		return err
	}
	name, err := r.name(real.Abs)
	if err != nil {
		return err
	}
	old, err := r.writable(name)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	if old == nil {
		if expect != "" && expect != Absent {
			return ErrChanged
		}
		if err := r.fs.MkdirAll(dir, 0o777); err != nil {
			return &DirError{reason(err)}
		}
	}
	temp, err := r.temp(dir, data, old)
	if err != nil {
		return err
	}
	if expect != "" {
		if now, err := r.Hash(real); err != nil || now != expect {
			r.fs.Remove(temp)
			if err == nil {
				err = ErrChanged
			}
			return err
		}
	}
	if err := r.fs.Rename(temp, name); err != nil {
		r.fs.Remove(temp)
		return reason(err)
	}
	return syncDir(r.fs, dir)
}

// writable checks that name may be overwritten: a rename would not ask the file's own permissions. nil means there is no such file.
func (r *Root) writable(name string) (os.FileInfo, error) {
	info, err := r.fs.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = regular(info.Mode()) // before it is opened: opening a device for writing may do something
	}
	if err != nil {
		return nil, reason(err)
	}
	f, err := r.fs.OpenFile(name, os.O_WRONLY|nonblock, 0)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err == nil {
		err = regular(info.Mode())
	}
	return info, err
}

// temp writes data to a new file in dir with the mode and owner of old, which may be nil.
func (r *Root) temp(dir string, data []byte, old os.FileInfo) (name string, err error) {
	name = filepath.Join(dir, ".fairlead-"+rand.Text()+".tmp")
	f, err := r.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", reason(err)
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			r.fs.Remove(name)
		}
	}()
	if old != nil {
		keepOwner(f, old)
		if err := f.Chmod(old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)); err != nil {
			return "", reason(err)
		}
	}
	if _, err := f.Write(data); err != nil {
		return "", reason(err)
	}
	if err := f.Sync(); err != nil {
		return "", reason(err)
	}
	return name, nil
}
