package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"fairlead/gateway/peer/format"
)

// Lock locks a file against other writers of this Root until unlock is called, so that reading,
// changing and writing is one step. Other programs are not locked out: [Root.Write] detects them by
// the file's hash.
func (r *Root) Lock(ctx context.Context, p Path) (unlock func(), err error) {
	real, err := r.paths.follow(p)
	if err != nil {
		real = p // the following access reports the error
	}
	return r.locks.lock(ctx, real.Abs)
}

// DirError says that a file's folder could not be created.
type DirError struct{ Err error }

// newDirError explains a failed creation. Windows reports a file in the place of a folder as one
// that exists.
func newDirError(err error) error {
	if errors.Is(err, fs.ErrExist) {
		err = errNotFolder{}
	}
	return &DirError{format.WithoutPath(err)}
}

// errNotFolder says that a file is in the place of a folder. Windows has no error of its own for it:
// syscall.ENOTDIR says there that something is missing.
type errNotFolder struct{}

func (errNotFolder) Error() string        { return "it is not a folder" }
func (errNotFolder) Is(target error) bool { return target == fs.ErrInvalid }

func (e *DirError) Error() string { return e.Err.Error() }
func (e *DirError) Unwrap() error { return e.Err }

// Written is the result of a write.
type Written struct {
	SHA256  string // of the new content, in hex
	Created bool   // the file did not exist
	// OtherNames is the number of further hard links of the old file. They still have the old
	// content: writing through them could reach outside the workspace, and could not be atomic.
	OtherNames int
}

// Backup receives the content that a write is about to replace, nil if there is no file, with the
// absolute path without links, the new content and its hash. It is called immediately before the
// file is replaced, and cannot prevent that.
type Backup func(abs string, old, now io.Reader, sum string)

// Write replaces a file by data, or creates it with its folders (else a *DirError). Readers of the
// path see the old or the new file, even after a crash, and never a mixture. A symbolic link is
// followed, not replaced. Mode, owner, access list and extended attributes are preserved as far as
// the system permits. If expect is not empty and the file's hash differs, the error is
// [ErrChanged]. The old content is passed to backup, which may be nil. The caller must hold
// [Root.Lock].
func (r *Root) Write(p Path, data []byte, expect string, backup Backup) (Written, error) {
	w, err := r.Replace(p, expect)
	if err != nil {
		return Written{}, err
	}
	defer w.Abort()
	if _, err := w.Write(data); err != nil {
		return Written{}, err
	}
	return w.Commit(0, backup)
}

// Writable returns an error if p cannot be written regardless of its content: a *ReadOnlyError, an
// *OutsideError, a *FolderReplacedError.
func (r *Root) Writable(p Path) error {
	_, err := r.paths.writable(p)
	return err
}

func (r *resolver) writable(p Path) (string, error) {
	if r.config.ReadOnly {
		return "", &ReadOnlyError{Path: p.Abs}
	}
	real, err := r.follow(p)
	if err != nil {
		return "", err
	}
	if a, _, ok := r.areas.find(real.Abs); ok && a.readOnly {
		return "", &ReadOnlyError{Path: p.Abs, Dir: a.dir}
	}
	return real.Abs, nil
}

// replaceable opens the file that a write would replace; nil if it does not have any. A rename
// checks neither the file's own permissions nor its type.
func replaceable(dir *os.Root, name string) (*os.File, error) {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = checkRegular(info.Mode()) // before opening: opening a device for writing may have effects
	}
	if err == nil {
		err = checkSpelling(runtime.GOOS, dir, name)
	}
	if err != nil {
		return nil, format.WithoutPath(err)
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|nonblock, 0)
	if err != nil {
		return nil, format.WithoutPath(err)
	}
	if info, err = f.Stat(); err == nil {
		err = checkRegular(info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, format.WithoutPath(err)
	}
	return f, nil
}

// checkSpelling refuses to replace a file by a name that differs from its own only in case, on
// systems that treat both as the same.
func checkSpelling(goos string, dir *os.Root, name string) error {
	if goos != "windows" && goos != "darwin" {
		return nil
	}
	d, err := dir.Open(".")
	if err != nil {
		return nil // the folder may be writable and not readable
	}
	defer d.Close()
	entries, err := d.Readdirnames(-1)
	if err != nil {
		return err
	}
	if other := otherSpelling(entries, name); other != "" {
		return fmt.Errorf("its name here is '%s'; use that name, or another one for a new file", other)
	}
	return nil
}

func hashIn(dir *os.Root, name string) (string, error) {
	f, _, err := openRegular(dir, name)
	return hashOpened(f, err)
}

type locks struct {
	mu    sync.Mutex // guards paths
	paths map[string]*pathLock
}

type pathLock struct {
	free  chan struct{} // contains a token while nobody has the lock
	users int
}

func (l *locks) lock(ctx context.Context, key string) (unlock func(), err error) {
	l.mu.Lock()
	t := l.paths[key]
	if t == nil {
		t = &pathLock{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		if l.paths == nil {
			l.paths = make(map[string]*pathLock)
		}
		l.paths[key] = t
	}
	t.users++
	l.mu.Unlock()
	release := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(l.paths, key)
		}
	}
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; release() }, nil
	case <-ctx.Done():
		release()
		return nil, ctx.Err()
	}
}
