package stream

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// targetFolder is the folder that a transfer writes into. It opens everything relative to its
// handle. Only one goroutine uses it.
type targetFolder struct {
	root    *os.Root
	open    *openFolder
	checked map[string]bool // folders that are known not to be symbolic links
}

func newTargetFolder(root *os.Root) *targetFolder {
	return &targetFolder{root: root, checked: map[string]bool{".": true}}
}

// openFolder is an open folder below a targetFolder. It stays open because the next entries are
// usually in it too.
type openFolder struct {
	name string
	root *os.Root
}

// at returns the handle of the folder that contains name, and the name in that folder.
func (d *targetFolder) at(name string) (*os.Root, string) {
	dir, base := path.Split(name)
	if dir == "" {
		return d.root, name
	}
	if f := d.openParent(path.Clean(dir)); f != nil {
		return f.root, base
	}
	return d.root, name
}

func (d *targetFolder) openParent(dir string) *openFolder {
	if d.open != nil && d.open.name == dir {
		return d.open
	}
	root, err := d.root.OpenRoot(dir)
	if err != nil {
		return nil
	}
	d.close()
	d.open = &openFolder{dir, root}
	return d.open
}

func (d *targetFolder) close() {
	if d.open != nil {
		d.open.root.Close()
		d.open = nil
	}
}

func (d *targetFolder) lstat(name string) (os.FileInfo, error) {
	root, base := d.at(name)
	return root.Lstat(base)
}

func (d *targetFolder) exists(name string) bool {
	_, err := d.lstat(name)
	return err == nil
}

func (d *targetFolder) openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	root, base := d.at(name)
	return root.OpenFile(base, flag, perm)
}

func (d *targetFolder) remove(name string) error {
	root, base := d.at(name)
	return root.Remove(base)
}

// rename renames a file within its folder.
func (d *targetFolder) rename(from, to string) error {
	root, base := d.at(to)
	if root == d.root {
		return root.Rename(from, to)
	}
	return root.Rename(path.Base(from), base)
}

// renameExclusive renames a part file to its name, unless the name exists (fs.ErrExist).
func (d *targetFolder) renameExclusive(part, name string) error {
	root, base := d.at(name)
	from := part
	if root != d.root {
		from = path.Base(part)
	}
	if dir, err := root.Open("."); err == nil {
		err := renameNew(dir, from, base)
		dir.Close()
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	switch err := root.Link(from, base); {
	case err == nil:
		return root.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return fs.ErrExist
	case isDiskFull(err):
		return err
	}
	// The file system has no hard links: reserve the name with an empty file, which the part file
	// then replaces.
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

// parents creates the folders down to dir, and checks that none of them is a symbolic link, which
// would lead to another place.
func (d *targetFolder) parents(dir string) error {
	if d.checked[dir] {
		return nil
	}
	if err := d.parents(path.Dir(dir)); err != nil {
		return err
	}
	info, err := d.root.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.root.Mkdir(dir, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
			info, err = d.root.Lstat(dir)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("Failed to create directory %s: %w", dir, WithoutPath(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link; transfers do not follow symbolic links", dir)
	case !info.IsDir():
		return fmt.Errorf("%s is a file, not a folder", dir)
	}
	d.checked[dir] = true
	return nil
}

// regular opens a regular file; nil if there is none.
func (d *targetFolder) regular(name string) (*os.File, os.FileInfo) {
	info, err := d.lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	root, base := d.at(name)
	f, info, err := openRegular(root, base)
	if err != nil {
		return nil, nil
	}
	return f, info
}

// checksum returns the SHA-256 of a regular file, or nil if there is none of this size.
func (d *targetFolder) checksum(name string, size int64) []byte {
	f, info := d.regular(name)
	if f == nil {
		return nil
	}
	defer f.Close()
	h := sha256.New()
	if info.Size() != size {
		return nil
	}
	if _, err := io.Copy(h, f); err != nil {
		return nil
	}
	return h.Sum(nil)
}

// haveSameContent reports whether two files have this size and the same content.
func (d *targetFolder) haveSameContent(a, b string, size int64) bool {
	sum := d.checksum(a, size)
	return sum != nil && bytes.Equal(sum, d.checksum(b, size))
}
