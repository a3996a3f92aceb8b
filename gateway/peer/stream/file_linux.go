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
	return withDescriptor(dir, func(fd uintptr) error { return unix.Syncfs(int(fd)) })
}

// writeback asks the system to start writing part of a file to the disk, so that the final sync has
// less to do.
func writeback(f *os.File, from, n int64) {
	withDescriptor(f, func(fd uintptr) error { return unix.SyncFileRange(int(fd), from, n, unix.SYNC_FILE_RANGE_WRITE) })
}

// renameNew renames a file within a folder unless the new name exists (fs.ErrExist). It returns
// errors.ErrUnsupported if the system cannot do that.
func renameNew(dir *os.File, from, to string) error {
	err := withDescriptor(dir, func(fd uintptr) error { return unix.Renameat2(int(fd), from, int(fd), to, unix.RENAME_NOREPLACE) })
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}

// hfsPlusMagic is HFSPLUS_SUPER_MAGIC from the kernel's hfsplus_raw.h.
const hfsPlusMagic = 0x482b

// supportsHoles reports whether files on the disk of dir can have holes.
func supportsHoles(dir *os.Root) bool {
	disk, err := statfs(dir)
	if err != nil {
		return false
	}
	switch int64(disk.Type) & 0xffffffff {
	case unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC, hfsPlusMagic:
		return false
	}
	return true
}
