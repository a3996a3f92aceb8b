package workspace

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// stamp tells what changes when a thing in d does; of a link, not of what it leads to.
func (d *Dir) stamp(name string) (stamp, error) {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return stamp{}, err
	}
	mode := fs.FileMode(st.Mode) // its kind in the system's bits, which are others than package fs has
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		mode |= fs.ModeDir
	}
	return stamp{mode: mode, size: st.Size, time: st.Mtim.Nano(), inode: st.Ino}, nil
}
