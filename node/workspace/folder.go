package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Held is an open folder: everything below it is accessed relative to its handle, and nothing
// outside. The caller closes Root.
type Held struct {
	Root *os.Root
	Abs  string // its path without symbolic links
}

// Hold opens a folder, or the folder of a file; name is then the file's name in it, else ".". When
// it is used, the name may belong to another file, but that is in the same folder.
func (r *Root) Hold(p Path) (h Held, name string, err error) {
	real, info, err := r.Target(p)
	if err != nil {
		return h, "", err
	}
	dir, name := real.Abs, "."
	if !info.IsDir() {
		dir, name = filepath.Dir(real.Abs), filepath.Base(real.Abs)
	}
	h, err = r.hold(dir)
	return h, name, err
}

// HoldForWriting opens a folder that may be written. If make is set, it creates the folder and
// those above it (a *DirError when that fails).
func (r *Root) HoldForWriting(p Path, make bool) (Held, error) {
	real, err := r.writable(p)
	if err != nil {
		return Held{}, err
	}
	if make {
		if err := r.fs.MkdirAll(real, 0o777); err != nil {
			return Held{}, &DirError{Cause(err)}
		}
	}
	return r.hold(real)
}

func (r *Root) hold(abs string) (Held, error) {
	name, err := r.name(abs)
	if err != nil {
		return Held{}, err
	}
	root, err := r.fs.OpenRoot(name)
	if err != nil {
		return Held{}, Cause(err)
	}
	info, err := root.Stat(".")
	if err == nil && !info.IsDir() {
		err = fs.ErrInvalid
	}
	if err != nil {
		root.Close()
		return Held{}, Cause(err)
	}
	return Held{Root: root, Abs: abs}, nil
}
