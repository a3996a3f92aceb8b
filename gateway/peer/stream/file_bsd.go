//go:build unix && !linux

package stream

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// supportsHoles reports whether files on the disk of dir can have holes. HFS+ and the file systems
// of memory cards do not support them.
func supportsHoles(dir *os.Root) bool {
	disk, err := statfs(dir)
	return err == nil && slices.Contains([]string{"apfs", "nfs", "smbfs"}, unix.ByteSliceToString(disk.Fstypename[:]))
}
