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

// targetFolder is the folder that a transfer writes into. Only one goroutine uses it.
type targetFolder struct {
	*os.Root
	checked map[string]bool // folders that are known not to be symbolic links
}

func newTargetFolder(root *os.Root) *targetFolder {
	return &targetFolder{root, map[string]bool{".": true}}
}

// renameExclusive renames a part file to its name, unless the name exists (fs.ErrExist).
func (d *targetFolder) renameExclusive(part, name string) error {
	switch err := d.Link(part, name); {
	case err == nil:
		return d.Remove(part)
	case errors.Is(err, fs.ErrExist):
		return fs.ErrExist
	case isDiskFull(err):
		return err
	}
	// The file system has no hard links: reserve the name with an empty file, which the part file
	// then replaces.
	f, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	if err := d.Rename(part, name); err != nil {
		d.Remove(name)
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
	info, err := d.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.Mkdir(dir, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
			info, err = d.Lstat(dir)
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

// exists reports whether a name exists in a folder.
func exists(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return err == nil
}

// regular opens a regular file; nil if there is none.
func (d *targetFolder) regular(name string) (*os.File, os.FileInfo) {
	if info, err := d.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	f, info, err := openRegular(d.Root, name)
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
