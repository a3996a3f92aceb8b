package workspace

import (
	"errors"
	"io/fs"
	"os"
)

// Entry is what a directory says of one thing in it.
type Entry struct {
	Name string
	// Type has the type bits only; a link is not followed.
	Type fs.FileMode
}

// IsDir reports whether it is a directory, and no link to one.
func (e Entry) IsDir() bool { return e.Type.IsDir() }

// IsLink reports whether it is a symbolic link.
func (e Entry) IsLink() bool { return e.Type&fs.ModeSymlink != 0 }

// plain refuses what is not the name of one thing in a directory.
func plain(name string) error {
	if name == "" || name == "." || name == ".." {
		return fs.ErrInvalid
	}
	for i := range len(name) {
		if name[i] == 0 || os.IsPathSeparator(name[i]) {
			return fs.ErrInvalid
		}
	}
	return nil
}

// OpenDir opens a directory. The caller calls Release.
func (r *Root) OpenDir(p Path) (*Dir, error) {
	real, err := r.follow(p)
	if err != nil {
		return nil, err
	}
	name, err := r.name(real.Abs)
	if err != nil {
		return nil, err
	}
	return openDir(r.fs, name, real.Abs)
}

var errMoved = errors.New("it changed while it was looked at")

// Target says what a path leads to: its place without symbolic links, and what is there. A link that leads out is an *OutsideError.
func (r *Root) Target(p Path) (Path, os.FileInfo, error) {
	real, err := r.follow(p)
	if err != nil {
		return real, nil, err
	}
	name, err := r.name(real.Abs)
	if err != nil {
		return real, nil, err
	}
	info, err := r.fs.Lstat(name)
	if err != nil {
		return real, nil, reason(err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return real, nil, errMoved
	}
	return real, info, nil
}
