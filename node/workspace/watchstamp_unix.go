//go:build unix && !linux

package workspace

import "syscall"

// stamp returns the data that changes when an entry of d does; of a link itself, not of its target.
func (d *Dir) stamp(name string) (stamp, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return stamp{}, Cause(err)
	}
	s := stamp{mode: info.Mode(), size: info.Size(), time: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = uint64(st.Ino)
	}
	return s, nil
}
