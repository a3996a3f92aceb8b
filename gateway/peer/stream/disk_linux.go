package stream

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// hasSyncAll reports that small files need not be synced one by one.
const hasSyncAll = true

// syncAll makes everything on a folder's file system durable. It returns an error if the disk
// failed to write anything since the folder was opened, including data of other programs.
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

// writeback asks the system to start writing part of a file to the disk, so that the final sync has
// less to do.
func writeback(f *os.File, from, n int64) {
	if raw, err := f.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { unix.SyncFileRange(int(fd), from, n, unix.SYNC_FILE_RANGE_WRITE) })
	}
}

// renameNew renames a file within a folder unless the new name exists (fs.ErrExist). It returns
// errors.ErrUnsupported if the system cannot do that.
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
