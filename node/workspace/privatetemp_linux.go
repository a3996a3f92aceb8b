package workspace

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// addSystem adds the entries of a folder of the system, if it could be opened and is another one.
func (d *Dir) addSystem(system *Dir, err error) {
	switch {
	case err != nil:
	case SameDir(d, system):
		system.Close()
	default:
		d.system = system
	}
}

// holding returns the folder that contains an entry: d, or the system's. A new entry is created in d.
func (d *Dir) holding(name string) *Dir {
	if d.system == nil {
		return d
	}
	var st unix.Stat_t
	err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil && !d.isLinkToSystem(name, fileType(st.Mode)) {
		return d
	}
	if unix.Fstatat(d.system.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return d
	}
	return d.system
}

func (d *Dir) isLinkToSystem(name string, kind fs.FileMode) bool {
	if kind&fs.ModeSymlink == 0 {
		return false
	}
	var target [unix.PathMax]byte
	n, err := unix.Readlinkat(d.fd(), name, target[:])
	return err == nil && isLinkToSystem(string(target[:n]), childPath(d.Abs, name))
}

// eachOfBoth is Each for a private folder with the entries of the system's.
func (d *Dir) eachOfBoth(f func(Entry) bool) error {
	own, more := map[string]bool{}, true
	err := d.list(func(e Entry) bool {
		if d.isLinkToSystem(e.Name, e.Type) {
			return true
		}
		own[e.Name] = true
		more = f(e)
		return more
	})
	if err != nil || !more {
		return err
	}
	return d.system.list(func(e Entry) bool { return own[e.Name] || f(e) })
}
