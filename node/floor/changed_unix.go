//go:build linux || darwin || freebsd

package floor

import (
	"io/fs"
	"syscall"
	"time"
)

// ChangeTime returns when a file or a folder last changed, which no program can set. ok is false
// where the system does not say; then it is the time of the last modification.
func ChangeTime(info fs.FileInfo) (at time.Time, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime(), false
	}
	return time.Unix(changeTime(st)), true
}
