package baseline

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"fairlead/gateway/peer/format"
	"fairlead/node/workspace"
)

// folders are those that commands can change. Nothing outside them is changed, whatever links a
// command makes at the same time.
type folders []string

// find returns the folder that contains a path, and the path in it.
func (f folders) find(path string) (dir, rel string, err error) {
	for _, dir := range f {
		if workspace.InFolder(path, dir) {
			rel, err := filepath.Rel(dir, path)
			return dir, rel, err
		}
	}
	return "", "", errors.New("it is outside the workspace")
}

// open opens the folder that contains a path, and returns the path in it.
func (f folders) open(path string) (root *os.Root, rel string, err error) {
	dir, rel, err := f.find(path)
	if err != nil {
		return nil, "", err
	}
	root, err = os.OpenRoot(dir)
	return root, rel, format.WithoutPath(err)
}

// chmod changes the mode of a folder.
func (f folders) chmod(path string, mode fs.FileMode) error {
	dir, rel, err := f.find(path)
	if err != nil {
		return err
	}
	if rel == "." { // which may be closed itself
		return os.Chmod(dir, mode)
	}
	root, rel, err := f.open(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return format.WithoutPath(root.Chmod(rel, mode))
}

// remove removes a file, or a folder with everything in it.
func (f folders) remove(path string) error {
	root, rel, err := f.open(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return format.WithoutPath(root.RemoveAll(rel))
}

// restore writes a file as it was, with its folder. contents is where its content is saved.
func (f folders) restore(path string, st state, contents string) error {
	root, rel, err := f.open(path)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(rel), cmp.Or(st.Parent, 0o700)); err != nil {
		return format.WithoutPath(err)
	}
	if st.Mode&fs.ModeSymlink != 0 {
		return format.WithoutPath(root.Symlink(st.Sum, rel))
	}
	data, err := os.ReadFile(filepath.Join(contents, st.Sum))
	if err != nil {
		return err
	}
	file, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return format.WithoutPath(err)
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Chmod(st.Mode.Perm()), file.Close())
}
