package stream

import (
	"os"

	"golang.org/x/sys/unix"
)

// hasSyncAll reports that small files need not be synced one by one.
const hasSyncAll = true

// isFAT reports whether a folder is on a disk that is formatted with FAT.
func isFAT(dir *os.File) bool {
	var disk unix.Statfs_t
	err := withDescriptor(dir, func(fd uintptr) error { return unix.Fstatfs(int(fd), &disk) })
	return err == nil && disk.Type == unix.MSDOS_SUPER_MAGIC
}

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
