//go:build unix && !linux

package workspace

import (
	"os"
	"syscall"
)

// inode returns the number of a file in its file system.
func inode(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
