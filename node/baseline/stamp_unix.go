//go:build linux || darwin || freebsd

package baseline

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"fairlead/node/floor"
)

// stamp returns the inode and the time of its last change, which programs cannot set.
func stamp(info fs.FileInfo) string {
	at, ok := floor.ChangeTime(info)
	st, isStat := info.Sys().(*syscall.Stat_t)
	if !ok || !isStat {
		return ""
	}
	return strconv.FormatUint(st.Ino, 36) + "-" + strconv.FormatInt(at.UnixNano(), 36)
}

// openFile opens a file without waiting for the other end of a pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
}
