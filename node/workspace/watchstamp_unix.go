//go:build unix && !linux

package workspace

import "syscall"

// stamp tells what changes when a thing in d does; of a link, not of what it leads to.
func (d *Dir) stamp(name string) (stamp, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return stamp{}, reason(err)
	}
	s := stamp{mode: info.Mode(), size: info.Size(), time: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = uint64(st.Ino)
	}
	return s, nil
}
