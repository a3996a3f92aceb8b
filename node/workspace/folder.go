package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
)

// OpenFolder is an open folder: everything below it is accessed relative to its handle, and nothing
// outside. The caller closes Root.
type OpenFolder struct {
	Root *os.Root
	Abs  string // its path without symbolic links
}

// OpenFolderOf opens a folder, or the folder of a file; name is then the file's name in it, else
// ".". When it is used, the name may belong to another file, but that is in the same folder.
func (r *Root) OpenFolderOf(p Path) (h OpenFolder, name string, err error) {
	real, info, err := r.Target(p)
	if err != nil {
		return h, "", err
	}
	dir, name := real.Abs, "."
	if !info.IsDir() {
		dir, name = filepath.Dir(real.Abs), filepath.Base(real.Abs)
	}
	h, err = r.openFolder(dir)
	return h, name, err
}

// OpenFolderForWriting opens a folder that may be written. If make is set, it creates the folder
// and those above it (a *DirError when that fails).
func (r *Root) OpenFolderForWriting(p Path, make bool) (OpenFolder, error) {
	real, err := r.writable(p)
	if err != nil {
		return OpenFolder{}, err
	}
	if make {
		if err := r.fs.MkdirAll(real, 0o777); err != nil {
			return OpenFolder{}, &DirError{Cause(err)}
		}
	}
	return r.openFolder(real)
}

func (r *Root) openFolder(abs string) (OpenFolder, error) {
	name, err := r.name(abs)
	if err != nil {
		return OpenFolder{}, err
	}
	root, err := r.fs.OpenRoot(name)
	if err != nil {
		return OpenFolder{}, Cause(err)
	}
	info, err := root.Stat(".")
	if err == nil && !info.IsDir() {
		err = fs.ErrInvalid
	}
	if err != nil {
		root.Close()
		return OpenFolder{}, Cause(err)
	}
	return OpenFolder{Root: root, Abs: abs}, nil
}
