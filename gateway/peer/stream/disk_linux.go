package stream

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// hasSyncAll says that small files need not be synced one by one.
const hasSyncAll = true

// syncAll makes everything that was written on the disk of a folder last. An error says that the disk has not taken something that was written since the
// folder was opened, by whomever.
func syncAll(dir *os.File) error {
	raw, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	if ctlErr := raw.Control(func(fd uintptr) { err = unix.Syncfs(int(fd)) }); ctlErr != nil {
		return ctlErr
	}
	return err
}

// writeback has the system begin to write a part of a file to the disk, so that less is left to do when it is synced at its end.
func writeback(f *os.File, from, n int64) {
	if raw, err := f.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { unix.SyncFileRange(int(fd), from, n, unix.SYNC_FILE_RANGE_WRITE) })
	}
}

// renameNew renames a file within a folder, unless there is one of the new name: fs.ErrExist. It is errors.ErrUnsupported where the system cannot.
func renameNew(dir *os.File, from, to string) error {
	raw, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	ctlErr := raw.Control(func(fd uintptr) { err = unix.Renameat2(int(fd), from, int(fd), to, unix.RENAME_NOREPLACE) })
	switch {
	case ctlErr != nil:
		return ctlErr
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL):
		return errors.ErrUnsupported
	}
	return err
}
