package stream

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
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
	switch int64(st.Type) & 0xffffffff {
	case unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC, hfsPlusMagic:
		return false
	}
	return true
}

// hfsPlusMagic is HFSPLUS_SUPER_MAGIC from the kernel's hfsplus_raw.h.
const hfsPlusMagic = 0x482b
