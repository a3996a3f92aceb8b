package baseline

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"
)

// stamp returns the inode and the time of its last change, which programs cannot set.
func stamp(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatUint(st.Ino, 36) + "-" + strconv.FormatInt(st.Ctim.Nano(), 36)
}

func changeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return time.Now()
}

// openFile opens a file without waiting for the other end of a pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
}
