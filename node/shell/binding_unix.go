//go:build unix

package shell

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fileIdentity returns the device and the inode of a file or folder, "" if it does not exist.
func fileIdentity(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return ""
	}
	return fmt.Sprintf("%x %x", st.Dev, st.Ino)
}

// contentIdentity changes with every change of a file.
func contentIdentity(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return ""
	}
	return fmt.Sprintf("%x %x %x", st.Size, st.Mtim.Nano(), st.Ctim.Nano())
}
