package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openWithoutLinks opens a path in a folder, or an absolute path if dir is nil, without following
// symbolic links. A link that was created since the path was found free of links is an errMoved, so
// that a decision about the path applies to the opened file. ok is false if the kernel does not
// support that (before 5.6) or forbids it: some containers permit only known calls. It creates no
// files: ok is false where it would have to.
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
