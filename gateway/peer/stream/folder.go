package stream

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// openFolder is an open folder below the receiver's folder. It stays open because the next entries
// are usually in it too.
type openFolder struct {
	name string
	root *os.Root
	file *os.File // the same folder, for operations that os.Root lacks; nil if it could not be opened
}

// at returns the handle of the folder that contains name, and the name in that folder.
func (r *Receiver) at(name string) (*os.Root, string) {
	dir, base := path.Split(name)
	if dir == "" {
		return r.Root, name
	}
	if f := r.openParent(path.Clean(dir)); f != nil {
		return f.root, base
	}
	return r.Root, name
}

func (r *Receiver) openParent(dir string) *openFolder {
	if r.openFolder != nil && r.openFolder.name == dir {
		return r.openFolder
	}
	root, err := r.Root.OpenRoot(dir)
	if err != nil {
		return nil
	}
	r.closeFolder()
	r.openFolder = &openFolder{name: dir, root: root}
	if f, err := root.Open("."); err == nil {
		r.openFolder.file = f
	}
	return r.openFolder
}

func (r *Receiver) closeFolder() {
	if r.openFolder == nil {
		return
	}
	r.openFolder.root.Close()
	if r.openFolder.file != nil {
		r.openFolder.file.Close()
	}
	r.openFolder = nil
}

func (r *Receiver) lstat(name string) (os.FileInfo, error) {
	root, base := r.at(name)
	return root.Lstat(base)
}

func (r *Receiver) openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	root, base := r.at(name)
	return root.OpenFile(base, flag, perm)
}

func (r *Receiver) remove(name string) error {
	root, base := r.at(name)
	return root.Remove(base)
}

// rename renames a file within its folder.
func (r *Receiver) rename(from, to string) error {
	root, base := r.at(to)
	if path.Dir(from) != path.Dir(to) {
		return r.Root.Rename(from, to)
	}
	if root == r.Root {
		return root.Rename(from, to)
	}
	return root.Rename(path.Base(from), base)
}

// renameExclusive renames a part file to its name, unless the name exists (fs.ErrExist).
func (r *Receiver) renameExclusive(part, name string) error {
	root, base := r.at(name)
	from := part
	if root != r.Root {
		from = path.Base(part)
		if r.openFolder.file != nil {
			if err := renameNew(r.openFolder.file, from, base); !errors.Is(err, errors.ErrUnsupported) {
				return err
			}
		}
	}
	err := root.Link(from, base)
	if err == nil {
		return root.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return fs.ErrExist
	}
	if isDiskFull(err) {
		return err
	}
	// The file system has no hard links.
	if dir, openErr := root.Open("."); openErr == nil {
		err := renameNew(dir, from, base)
		dir.Close()
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	// Reserve the name with an empty file, which the part file then replaces.
	f, err := root.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	if err := root.Rename(from, base); err != nil {
		root.Remove(base)
		return err
	}
	return nil
}
