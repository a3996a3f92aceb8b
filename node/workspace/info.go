package workspace

import (
	"errors"
	"io/fs"
	"time"
)

// Info is what a directory knows of one thing in it.
type Info struct {
	Name string
	Mode fs.FileMode // with the type; of a link, not of what it leads to
	Size int64
	Time time.Time // of the last change of its content
}

// Infos calls f with everything in the directory and what is known of it, in no order, until f reports false. What vanishes meanwhile is left out, and
// so are the temporary files of writes and the trash.
func (d *Dir) Infos(f func(Info) bool) error {
	return d.Each(func(e Entry) bool {
		if own(e.Name) {
			return true
		}
		info, err := d.Info(e.Name)
		return err != nil || f(info)
	})
}

// Leads says what a link in the directory at p leads to, when that may be used: 0 for a file, [fs.ModeDir] for a folder.
func (r *Root) Leads(p Path) (fs.FileMode, error) {
	_, info, err := r.Target(p)
	switch {
	case err != nil:
		return 0, err
	case info.IsDir():
		return fs.ModeDir, nil
	case !info.Mode().IsRegular():
		return 0, errors.New("it leads to no file")
	}
	return 0, nil
}

// ReadOnly reports whether nothing below an absolute path may be changed.
func (r *Root) ReadOnly(abs string) bool {
	a, _, ok := r.areas.find(abs)
	return r.readOnly || ok && a.readOnly
}
