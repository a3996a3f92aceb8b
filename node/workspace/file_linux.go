package workspace

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

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

// ReadAt implements [io.ReaderAt].
func (c Content) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		var got int
		got, err = count(retry(func() (int, error) { return unix.Pread(c.fd, p[n:], off+int64(n)) }))
		n += got
	}
	return n, err
}

// Close closes the file.
func (c Content) Close() { unix.Close(c.fd) }

// Content opens a regular file for searching, as [Root.Open] does.
func (r *Root) Content(p Path) (Content, error) {
	f, info, err := r.Open(p)
	if err != nil {
		return Content{}, err
	}
	fd, err := duplicate(f)
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

// openWithoutLinks opens a path in a folder, or an absolute path if dir is nil, without following
// symbolic links. A link that was created since the path was found free of links is an
// errPathChanged, so that a decision about the path applies to the opened file. ok is false if the
// kernel does not support that (before 5.6) or forbids it: some containers permit only known calls.
// It creates no files: ok is false where it would have to.
func openWithoutLinks(dir *os.File, name string, flag int) (f *os.File, ok bool, err error) {
	if flag&os.O_CREATE != 0 {
		return nil, false, nil
	}
	how := unix.OpenHow{Flags: uint64(flag) | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	if flag&unix.O_PATH == 0 {
		how.Flags |= unix.O_LARGEFILE
	}
	open := func(dir int) (fd int, err error) {
		return retry(func() (int, error) { return unix.Openat2(dir, name, &how) })
	}
	fd := -1
	if dir == nil {
		fd, err = open(unix.AT_FDCWD)
	} else if raw, e := dir.SyscallConn(); e != nil {
		return nil, true, e
	} else if e := raw.Control(func(h uintptr) { fd, err = open(int(h)) }); e != nil {
		return nil, true, e
	}
	switch {
	case err == nil && dir != nil:
		return os.NewFile(uintptr(fd), filepath.Join(dir.Name(), name)), true, nil
	case err == nil:
		return os.NewFile(uintptr(fd), name), true, nil
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
		return nil, false, nil
	case errors.Is(err, unix.ELOOP):
		err = errPathChanged
	}
	return nil, true, &os.PathError{Op: "openat2", Path: name, Err: err}
}

// checkWithoutLinks returns a folder that was opened, unless it is not the one that its path leads
// to without symbolic links. It passes on an earlier error.
func checkWithoutLinks(root *os.Root, err error, dir *os.File, name string) (*os.Root, error) {
	if err != nil {
		return nil, err
	}
	f, ok, err := openWithoutLinks(dir, name, unix.O_PATH|unix.O_DIRECTORY)
	if !ok {
		return root, nil
	}
	if err == nil {
		defer f.Close()
		var is, opened os.FileInfo
		if is, err = f.Stat(); err == nil {
			opened, err = root.Stat(".")
		}
		if err == nil && !os.SameFile(is, opened) {
			err = &os.PathError{Op: "open", Path: name, Err: errPathChanged}
		}
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// rename moves old to a name that must not exist, atomically.
func (e Entries) rename(old, fresh location) error {
	_, err := retry(func() (int, error) {
		return 0, unix.Renameat2(old.dir.fd(), old.name, fresh.dir.fd(), fresh.name, unix.RENAME_NOREPLACE)
	})
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// On file systems without that operation: a hard link never replaces anything, and a folder is
	// replaced only by a folder and only if it is empty.
	info, err := old.dir.Info(old.name)
	if err != nil {
		return err
	}
	if info.Mode.IsRegular() {
		if err := unix.Linkat(old.dir.fd(), old.name, fresh.dir.fd(), fresh.name, 0); err == nil || errors.Is(err, unix.EEXIST) {
			if err == nil {
				err = unix.Unlinkat(old.dir.fd(), old.name, 0)
			}
			return err
		}
	}
	if _, err := fresh.dir.Info(fresh.name); err == nil {
		return ErrExists
	}
	return unix.Renameat(old.dir.fd(), old.name, fresh.dir.fd(), fresh.name)
}

func (d *Dir) mkdir(name string, perm os.FileMode) error {
	_, err := retry(func() (int, error) { return 0, unix.Mkdirat(d.fd(), name, uint32(perm)) })
	return err
}

const procFolder = "/proc"

// generatedFolders are the folders at the top whose files the kernel generates.
var generatedFolders = map[string]bool{"proc": true, "sys": true}

// isProcessFolder reports whether a path without symbolic links belongs to one process.
func isProcessFolder(abs string) bool {
	rest, ok := strings.CutPrefix(abs, procFolder+"/")
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}
