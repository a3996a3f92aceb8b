package stream

import (
	"os"
	"slices"
	"syscall"
)

// supportsHoles reports whether files on the disk of dir can have holes.
func supportsHoles(dir *os.Root) bool {
	f, err := dir.Open(".")
	if err != nil {
		return false
	}
	defer f.Close()
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil {
		return false
	}
	var name []byte
	for _, c := range st.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	return slices.Contains([]string{"apfs", "nfs", "smbfs"}, string(name)) // HFS+ and the file systems of memory cards do not support them
}
