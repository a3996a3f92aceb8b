package stream

import (
	"fmt"
	"os"
	"path/filepath"

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
		return Item{}, fmt.Errorf("Failed to read file %s: %w", abs, WithoutPath(err))
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
			return t, fmt.Errorf("Failed to create directory %s: %w", t.Abs, WithoutPath(err))
		}
	}
	if t.Root, err = os.OpenRoot(t.Abs); err != nil {
		return t, fmt.Errorf("Failed to create file %s: %w", abs, WithoutPath(err))
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
	room, need := freeSpace(dir), max(p.Size-max(p.Holes, 0), 0)
	if room < 0 || room-reservedSpace >= need {
		return nil
	}
	for room-reservedSpace < need && removeOldestTrash(dir) { // retained copies of replaced files give way to new data
		room = freeSpace(dir)
	}
	if room-reservedSpace >= need {
		return nil
	}
	return fmt.Errorf("the disk has %d MiB free, but the transfer needs %d MiB", room>>20, need>>20)
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
