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
	"path/filepath"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Disk gives access to all files of the user, for a window or command line. Relative paths are
// relative to Dir.
type Disk struct{ Dir string }

func (d Disk) absolute(name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(d.Dir, name)
	}
	return filepath.Abs(name)
}

// Source implements [Files].
func (d Disk) Source(name string) (Item, error) {
	abs, err := d.absolute(name)
	if err != nil {
		return Item{}, err
	}
	root, at, err := openParent(abs)
	if err != nil {
		return Item{}, fmt.Errorf("Failed to read file %s: %w", abs, format.WithoutPath(err))
	}
	return Item{Root: root, At: at, Name: filepath.Base(abs), Abs: abs}, nil
}

// openParent opens a folder itself, or the folder that contains a file, and returns the path below
// it.
func openParent(abs string) (root *os.Root, at string, err error) {
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, "", err
	}
	dir, at := real, "."
	if !info.IsDir() {
		dir, at = filepath.Split(real)
	}
	root, err = os.OpenRoot(dir)
	return root, at, err
}

// Target implements [Files].
func (d Disk) Target(name string, into, make bool) (Target, error) {
	abs, err := d.absolute(name)
	if err != nil {
		return Target{}, err
	}
	t := Target{Abs: abs}
	if !into {
		t.Abs, t.Name = filepath.Dir(abs), filepath.Base(abs)
	}
	if make {
		if err := os.MkdirAll(t.Abs, 0o777); err != nil {
			return t, fmt.Errorf("Failed to create directory %s: %w", t.Abs, format.WithoutPath(err))
		}
	}
	if t.Root, err = os.OpenRoot(t.Abs); err != nil {
		return t, fmt.Errorf("Failed to create file %s: %w", abs, format.WithoutPath(err))
	}
	return t, nil
}

// withDescriptor calls f with the descriptor of an open file.
func withDescriptor(file *os.File, f func(fd uintptr) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	if ctlErr := raw.Control(func(fd uintptr) { err = f(fd) }); ctlErr != nil {
		return ctlErr
	}
	return err
}

// reservedSpace is the space in bytes that is always left free on a disk.
const reservedSpace = 16 << 20

// checkSpace returns an error if the disk has no space for a transfer. Holes need no space; a disk
// without holes, or a source that claims too many, runs into a full disk later.
func checkSpace(dir *os.Root, p protocol.TransferReceive) error {
	need := max(p.Size-max(p.Holes, 0), 0)
	for {
		room := FreeSpace(dir)
		if room < 0 || room-reservedSpace >= need {
			return nil
		}
		if !removeOldestTrash(dir) { // retained copies of replaced files give way to new data
			return fmt.Errorf("the disk has %s free, but the transfer needs %s, and %s must stay free", format.Size(room), format.Size(need), format.Size(reservedSpace))
		}
	}
}

// maxExtents is the maximum number of extents of one file that are examined; the rest counts as
// data.
const maxExtents = 100_000

// holes returns the number of bytes of a sparse file that are holes.
func holes(f sourceFile) (n int64) {
	file, info, err := openRegular(f.root, f.at)
	if err != nil {
		return 0
	}
	defer file.Close()
	size := info.Size()
	for at, looks := int64(0), 0; at < size && looks < maxExtents; looks++ {
		k := holeLength(file, at, size)
		n += k
		next := dataEnd(file, at+k, size)
		if next <= at+k {
			break
		}
		at = next
	}
	return n
}

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
		return fmt.Errorf("Failed to create directory %s: %w", dir, nameError(err))
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

// regular opens a regular file; nil if none exists.
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

// checksum returns the SHA-256 of a regular file, or nil if none exists of this size.
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
