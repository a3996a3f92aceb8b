package workspace

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// stamp returns the data that changes when an entry of d does; of a link itself, not of its target.
func (d *Dir) stamp(name string) (stamp, error) {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return stamp{}, err
	}
	// The kind has the system's bits, which differ from those of package fs.
	mode := fs.FileMode(st.Mode)
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		mode |= fs.ModeDir
	}
	return stamp{mode: mode, size: st.Size, time: st.Mtim.Nano(), inode: st.Ino}, nil
}
