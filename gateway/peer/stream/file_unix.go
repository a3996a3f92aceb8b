//go:build unix

package stream

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/format"
)

// nonblock prevents open from waiting for the other side of a named pipe.
const nonblock = syscall.O_NONBLOCK

// FreeSpace returns the free space in bytes on the disk of dir; -1 if unknown.
func FreeSpace(dir *os.Root) int64 {
	f, err := dir.Open(".")
	if err != nil {
		return -1
	}
	defer f.Close()
	var disk unix.Statfs_t
	if withDescriptor(f, func(fd uintptr) error { return unix.Fstatfs(int(fd), &disk) }) != nil {
		return -1
	}
	return int64(uint64(disk.Bavail) * uint64(disk.Bsize))
}

func isDiskFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || isQuotaError(err) }

// isTooLarge reports whether a file is larger than its file system allows.
func isTooLarge(err error) bool { return errors.Is(err, syscall.EFBIG) }

// isUnsupported reports whether a file system does not support permissions or symbolic links.
func isUnsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EPERM)
}

// nameError returns the reason why a disk refused to create a file, for people. Disks refuse names
// with various errors.
func nameError(err error) error {
	for _, c := range []struct {
		code syscall.Errno
		text string
	}{
		{syscall.EINVAL, "the disk does not allow the name"},
		{syscall.EILSEQ, "the disk does not allow the name"},
		{syscall.ENAMETOOLONG, "the name is too long for the disk"},
		{syscall.EROFS, "the disk is read-only"},
		{syscall.EFBIG, tooLargeText},
	} {
		if errors.Is(err, c.code) {
			return fmt.Errorf("%s (%w)", c.text, format.WithoutPath(err))
		}
	}
	return format.WithoutPath(err)
}

func isQuotaError(err error) bool { return errors.Is(err, syscall.EDQUOT) }

// identity returns the identity of a file's content.
func identity(f *os.File) (id fileIdentity) {
	var st unix.Stat_t
	if withDescriptor(f, func(fd uintptr) error { return unix.Fstat(int(fd), &st) }) != nil {
		return id
	}
	id.content = fmt.Sprintf("%x %x %x %x %x", st.Dev, st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano())
	id.age = time.Since(time.Unix(0, st.Ctim.Nano()))
	return id
}

// isSparse reports whether a file has enough holes to look for them.
func isSparse(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(st.Blocks)*512 < info.Size()-(1<<20)
}

// holeLength returns the length in bytes of the hole at an offset; 0 if there is data, or if the
// system cannot tell. It moves the file's offset.
func holeLength(f *os.File, at, size int64) int64 {
	data, err := f.Seek(at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, syscall.ENXIO):
		return size - at
	case err != nil:
		return 0
	}
	return min(data, size) - at
}

// dataEnd returns the end of the data at an offset. It moves the file's offset.
func dataEnd(f *os.File, at, size int64) int64 {
	end, err := f.Seek(at, unix.SEEK_HOLE)
	if err != nil {
		return size
	}
	return min(end, size)
}

// allowHoles does nothing: files can always have holes here.
func allowHoles(*os.File) {}
