package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// Dir is an open directory: what is in it is opened relative to its handle. It is closed when everyone who holds it let go.
type Dir struct {
	// Abs is where it is found, without symbolic links.
	Abs  string
	root *os.Root
	ws   *Root
	held atomic.Int32
}

// OpenDir opens a directory. The caller calls Release.
func (r *Root) OpenDir(p Path) (*Dir, error) {
	real, err := r.follow(p)
	if err != nil {
		return nil, err
	}
	name, err := r.name(real.Abs)
	if err != nil {
		return nil, err
	}
	root, err := r.fs.OpenRoot(name)
	if err != nil {
		return nil, reason(err)
	}
	return r.newDir(real.Abs, root), nil
}

func (r *Root) newDir(abs string, root *os.Root) *Dir {
	d := &Dir{Abs: abs, root: root, ws: r}
	d.held.Store(1)
	return d
}

// Retain holds the directory open for one more Release.
func (d *Dir) Retain() { d.held.Add(1) }

// Release lets go of it.
func (d *Dir) Release() {
	if d.held.Add(-1) == 0 {
		d.root.Close()
	}
}

// Entries lists the directory, sorted by name when sorted is set. Names that a Go string or the wire cannot carry faithfully are kept as they are.
func (d *Dir) Entries(sorted bool) ([]fs.DirEntry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	if sorted {
		slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	if err != nil && len(list) == 0 {
		return nil, reason(err)
	}
	return list, nil
}

// Sub opens a directory in d that is not a symbolic link.
func (d *Dir) Sub(name string) (*Dir, error) {
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, reason(err)
	}
	return d.ws.newDir(filepath.Join(d.Abs, name), root), nil
}

// Open opens a regular file in d that is not a symbolic link.
func (d *Dir) Open(name string) (*os.File, os.FileInfo, error) { return openRegular(d.root, name) }

// Lstat describes what is in d without following a link.
func (d *Dir) Lstat(name string) (os.FileInfo, error) { return d.root.Lstat(name) }

// Target says what a path leads to: its place without symbolic links, and what is there. A link that leads out is an *OutsideError.
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
		return real, nil, reason(err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return real, nil, errors.New("it changed while it was looked at")
	}
	return real, info, nil
}
