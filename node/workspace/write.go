package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

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

// Written says what a write did.
type Written struct {
	SHA256 string // of what is in the file now, in hex
	New    bool   // there was no file
	// OtherNames is how many more hard links the old file has. They keep the old content: writing through them could reach outside the
	// workspace, and could not be done in one step.
	OtherNames int
}

// Write replaces a file by data, or creates it with its folders (else a *DirError). Whoever looks at the path, even after a crash, sees the
// old or the new file, never a mixture. A symbolic link is followed, not replaced. Mode, owner, access list and extended attributes are kept
// as far as the system lets us. When expect is not empty and the file's hash differs, the error is [ErrChanged]. Call it under [Root.Lock].
func (r *Root) Write(p Path, data []byte, expect string) (Written, error) {
	return r.WriteKeeping(p, data, expect, nil)
}

// Keep is given what a write is about to replace, nil for no file, with the absolute path without links and the hash of what will be there. It is called
// right before the file is replaced; what it returns stops nothing.
type Keep func(abs string, old io.Reader, sum string)

// WriteKeeping is Write, and gives keep, which may be nil, what was there.
func (r *Root) WriteKeeping(p Path, data []byte, expect string, keep Keep) (Written, error) {
	real, err := r.writable(p)
	if errors.Is(err, syscall.ENOTDIR) {
		err = &DirError{err}
	}
	if err != nil {
		return Written{}, err
	}
	info, err := r.fs.Lstat(real)
	switch {
	case err == nil:
		err = regular(info.Mode())
	case errors.Is(err, fs.ErrNotExist):
		if expect != "" && expect != Absent {
			return Written{}, ErrChanged
		}
		if err := r.fs.MkdirAll(filepath.Dir(real), 0o777); err != nil {
			return Written{}, &DirError{reason(err)}
		}
		err = nil
	}
	if err != nil {
		return Written{}, reason(err)
	}
	// From here on the folder is held by its handle: the new file, the one it replaces and the check in between are in the same folder.
	dir, err := r.fs.OpenRoot(filepath.Dir(real))
	if err != nil {
		return Written{}, reason(err)
	}
	defer dir.Close()
	if keep == nil {
		return writeIn(dir, filepath.Base(real), data, expect, nil)
	}
	return writeIn(dir, filepath.Base(real), data, expect, func(old io.Reader, sum string) { keep(real, old, sum) })
}

// Writable says why p could not be written whatever is in it: a *ReadOnlyError, an *OutsideError, a *SwappedError.
func (r *Root) Writable(p Path) error {
	_, err := r.writable(p)
	return err
}

func (r *Root) writable(p Path) (string, error) {
	if r.readOnly {
		return "", &ReadOnlyError{Path: p.Abs}
	}
	real, err := r.follow(p)
	if err != nil {
		return "", err
	}
	name, err := r.name(real.Abs)
	if err != nil {
		return "", err
	}
	if a, _, ok := r.areas.find(name); ok && a.readOnly {
		return "", &ReadOnlyError{Path: p.Abs, Dir: a.dir}
	}
	return name, nil
}

func writeIn(dir *os.Root, name string, data []byte, expect string, keep func(io.Reader, string)) (w Written, err error) {
	old, err := replaceable(dir, name)
	if err != nil {
		return w, err
	}
	if old != nil {
		defer old.Close()
	}
	sweep(dir)
	temp, err := newTemp(dir, data, old)
	if err != nil {
		return w, err
	}
	defer temp.done()
	if expect != "" {
		if now, err := hashIn(dir, name); err != nil {
			return w, err
		} else if now != expect {
			return w, ErrChanged
		}
	}
	w = Written{SHA256: hash(data), New: old == nil}
	if keep != nil {
		keepOld(dir, name, old == nil, w.SHA256, keep)
	}
	if old != nil {
		w.OtherNames = max(links(old)-1, 0)
		old.Close() // Windows does not replace a file that is open
	}
	if err := temp.rename(name); err != nil {
		return Written{}, err
	}
	return w, syncDir(dir)
}

// keepOld gives keep what the file holds.
func keepOld(dir *os.Root, name string, fresh bool, sum string, keep func(io.Reader, string)) {
	if fresh {
		keep(nil, sum)
		return
	}
	if f, _, err := openRegular(dir, name); err == nil { // one that may be written and not read cannot be kept
		defer f.Close()
		keep(f, sum)
	}
}

// replaceable opens the file that a write would replace, nil when there is none. A rename asks neither for the file's own permissions nor for
// what it is.
func replaceable(dir *os.Root, name string) (*os.File, error) {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = regular(info.Mode()) // before it is opened: opening a device for writing may do something
	}
	if err == nil {
		err = spelling(runtime.GOOS, dir, name)
	}
	if err != nil {
		return nil, reason(err)
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|nonblock, 0)
	if err != nil {
		return nil, reason(err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, reason(err)
	}
	return f, nil
}

// spelling refuses to replace a file by a name that differs from its own in case only, on systems that take both for the same.
func spelling(goos string, dir *os.Root, name string) error {
	if goos != "windows" && goos != "darwin" {
		return nil
	}
	d, err := dir.Open(".")
	if err != nil {
		return nil // it may be writable and not readable
	}
	defer d.Close()
	entries, err := d.Readdirnames(-1)
	if err != nil {
		return err
	}
	if other := otherSpelling(entries, name); other != "" {
		return fmt.Errorf("it is called '%s' here; use that name, or another one for a new file", other)
	}
	return nil
}

func hashIn(dir *os.Root, name string) (string, error) {
	f, _, err := openRegular(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return Absent, nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashOf(f)
}
