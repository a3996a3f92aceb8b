//go:build !linux

package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// Dir is an open directory: its entries are opened relative to its handle and never through a
// symbolic link that leads outside. It is closed when all holders have released it. It is safe for
// use by many goroutines.
type Dir struct {
	// Abs is its path without symbolic links when it was opened, and Below the same with a trailing
	// separator.
	Abs, Prefix string
	root        *os.Root
	refs        atomic.Int32
}

func openDir(t fileSystem, name, abs string) (*Dir, error) {
	root, err := t.OpenRoot(name)
	if err != nil {
		return nil, Cause(err)
	}
	return newDir(abs, root), nil
}

func newDir(abs string, root *os.Root) *Dir {
	d := &Dir{Abs: abs, Prefix: strings.TrimSuffix(abs, separator) + separator, root: root}
	d.refs.Store(1)
	return d
}

// Retain adds a holder, who must call Release, too.
func (d *Dir) Retain() { d.refs.Add(1) }

// Release removes a holder; the last one closes the directory.
func (d *Dir) Release() {
	if d.refs.Add(-1) == 0 {
		d.root.Close()
	}
}

// Each calls f with every entry of the directory, in no order, until f returns false. It may be
// called once, by one goroutine. Entries that are added or removed meanwhile may be included or
// not.
func (d *Dir) Each(f func(Entry) bool) error {
	dir, err := d.root.Open(".")
	if err != nil {
		return Cause(err)
	}
	defer dir.Close()
	for {
		list, err := dir.ReadDir(1024)
		for _, e := range list {
			if !f(Entry{Name: e.Name(), Type: e.Type()}) {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return Cause(err)
		}
	}
}

// Sub opens a directory in d that is not a symbolic link.
func (d *Dir) Sub(name string) (*Dir, error) {
	if err := d.noLink(name); err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, Cause(err)
	}
	return newDir(filepath.Join(d.Abs, name), root), nil
}

// Open opens a regular file in d that is not a symbolic link. It does not block: pipes and devices
// are refused.
func (d *Dir) Open(name string) (Content, error) {
	if err := d.noLink(name); err != nil {
		return Content{}, err
	}
	f, info, err := openRegular(d.root, name)
	if err != nil {
		return Content{}, err
	}
	return Content{Size: info.Size(), f: f}, nil
}

// noLink refuses links. One that is created afterwards cannot lead outside, because of the handle.
func (d *Dir) noLink(name string) error {
	if err := checkEntryName(name); err != nil {
		return err
	}
	info, err := d.root.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = errors.New("it is a symbolic link")
	}
	return Cause(err)
}

// ModTime returns the modification time of an entry of d, in nanoseconds since 1970; of a link
// itself, not of its target.
func (d *Dir) ModTime(name string) (int64, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return 0, Cause(err)
	}
	return info.ModTime().UnixNano(), nil
}

// Info returns information about an entry of d; of a link itself, not of its target.
func (d *Dir) Info(name string) (Info, error) {
	if err := checkEntryName(name); err != nil {
		return Info{}, err
	}
	info, err := d.root.Lstat(name)
	if err != nil {
		return Info{}, Cause(err)
	}
	return Info{Name: name, Mode: info.Mode(), Size: info.Size(), Time: info.ModTime(), Inode: inode(info)}, nil
}

// SameDir reports whether two handles belong to the same directory.
func SameDir(a, b *Dir) bool {
	x, err := a.root.Stat(".")
	if err != nil {
		return false
	}
	y, err := b.root.Stat(".")
	return err == nil && os.SameFile(x, y)
}

// Content is a regular file that is open for reading. The caller closes it.
type Content struct {
	// Size is the size in bytes when the file was opened.
	Size int64
	f    *os.File
}

// Read implements [io.Reader].
func (c Content) Read(p []byte) (int, error) { return c.f.Read(p) }

// ReadAt reads at most len(p) bytes at an offset. Unlike an [io.ReaderAt] it may return fewer; at
// the end it returns [io.EOF].
func (c Content) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.f.ReadAt(p, off)
	if n > 0 {
		err = nil
	}
	return n, err
}

// Close closes the file.
func (c Content) Close() { c.f.Close() }

// Content opens a regular file for searching, as [Root.Open] does.
func (r *Root) Content(p Path) (Content, error) {
	f, info, err := r.Open(p)
	if err != nil {
		return Content{}, err
	}
	return Content{Size: info.Size(), f: f}, nil
}
