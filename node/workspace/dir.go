package workspace

import (
	"errors"
	"io/fs"
	"os"
)

// Entry is one entry of a directory.
type Entry struct {
	Name string
	// Type has the type bits only; links are not followed.
	Type fs.FileMode
}

// IsDir reports whether it is a directory, not a link to one.
func (e Entry) IsDir() bool { return e.Type.IsDir() }

// IsLink reports whether it is a symbolic link.
func (e Entry) IsLink() bool { return e.Type&fs.ModeSymlink != 0 }

// checkEntryName returns an error for a name that is not that of a single entry of a directory.
func checkEntryName(name string) error {
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

// OpenDir opens a directory. The caller must call Release.
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

var errPathChanged = errors.New("it changed while it was being opened")

// Target resolves a path: it returns the path without symbolic links, and information about the
// file. A link that leads outside is an *OutsideError.
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
		return real, nil, Cause(err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return real, nil, errPathChanged
	}
	return real, info, nil
}
