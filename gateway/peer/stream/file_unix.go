//go:build unix

package stream

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// nonblock prevents open from waiting for the other side of a named pipe.
const nonblock = syscall.O_NONBLOCK

// freeSpace returns the free space in bytes on the disk of dir; -1 if unknown.
func freeSpace(dir *os.Root) int64 {
	f, err := dir.Open(".")
	if err != nil {
		return -1
	}
	defer f.Close()
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil {
		return -1
	}
	return int64(uint64(st.Bavail) * uint64(st.Bsize))
}

func isDiskFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || isQuotaError(err) }

func isQuotaError(err error) bool { return errors.Is(err, syscall.EDQUOT) }

// identity returns the identity of a file's content.
func identity(f *os.File) (id fileIdentity) {
	raw, err := f.SyscallConn()
	if err != nil {
		return id
	}
	var st unix.Stat_t
	if ctlErr := raw.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &st) }); ctlErr != nil || err != nil {
		return id
	}
	id.content = fmt.Sprintf("%x %x %x %x %x", st.Dev, st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano())
	id.age = time.Since(time.Unix(0, st.Ctim.Nano()))
	return id
}
