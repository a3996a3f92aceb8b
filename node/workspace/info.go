package workspace

import (
	"errors"
	"io/fs"
	"time"
)

// Info describes one entry of a directory.
type Info struct {
	Name string
	Mode fs.FileMode // includes the type; of a link itself, not of its target
	Size int64
	Time time.Time // modification time of the content
	// Inode distinguishes a file from another one that replaces it; 0 on Windows.
	Inode uint64
}

// Infos calls f with every entry of the directory and its description, in no order, until f returns
// false. Entries that vanish meanwhile are left out, as are temporary files of writes and the
// trash.
func (d *Dir) Infos(f func(Info) bool) error {
	return d.Each(func(e Entry) bool {
		if IsInternal(e.Name) {
			return true
		}
		info, err := d.Info(e.Name)
		return err != nil || f(info)
	})
}

// LinkTarget returns the type of the target of the link at p, if the target may be used: 0 for a
// file, [fs.ModeDir] for a folder.
func (r *Root) LinkTarget(p Path) (fs.FileMode, error) {
	_, info, err := r.Target(p)
	switch {
	case err != nil:
		return 0, err
	case info.IsDir():
		return fs.ModeDir, nil
	case !info.Mode().IsRegular():
		return 0, errors.New("it does not lead to a file")
	}
	return 0, nil
}

// IsFolderReadOnly reports whether nothing below an absolute path may be changed.
func (r *Root) IsFolderReadOnly(abs string) bool {
	a, _, ok := r.areas.find(abs)
	return r.readOnly || ok && a.readOnly
}
