//go:build !linux

package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"fairlead/gateway/peer/format"
)

type dirHandle = *os.Root

func openDir(t fileSystem, name, abs string) (*Dir, error) {
	root, err := t.OpenRoot(name, ".")
	if err != nil {
		if info, statErr := t.Lstat(name); statErr == nil && info.Mode().IsRegular() {
			err = errNotFolder{}
		}
		return nil, format.WithoutPath(err)
	}
	return &Dir{Abs: abs, handle: root}, nil
}

// holding returns d, which contains all its entries here.
func (d *Dir) holding(string) *Dir { return d }

// Each calls f with every entry of the directory, in no order, until f returns false. Entries that
// are added or removed meanwhile may be included or not.
func (d *Dir) Each(f func(Entry) bool) error {
	dir, err := d.handle.Open(".")
	if err != nil {
		return format.WithoutPath(err)
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
			return format.WithoutPath(err)
		}
	}
}

// Sub opens a directory in d that is not a symbolic link.
func (d *Dir) Sub(name string) (*Dir, error) {
	if err := d.checkNoLink(name); err != nil {
		return nil, err
	}
	root, err := d.handle.OpenRoot(name)
	if err != nil {
		return nil, format.WithoutPath(err)
	}
	return &Dir{Abs: childPath(d.Abs, name), handle: root}, nil
}

// Open opens a regular file in d that is not a symbolic link. It does not block: pipes and devices
// are refused.
func (d *Dir) Open(name string) (Content, error) {
	if err := d.checkNoLink(name); err != nil {
		return Content{}, err
	}
	f, info, err := openRegular(d.handle, name)
	if err != nil {
		return Content{}, err
	}
	return Content{f, info.Size()}, nil
}

// checkNoLink refuses links. One that is created afterwards cannot lead outside, because of the
// handle.
func (d *Dir) checkNoLink(name string) error {
	if err := checkEntryName(name); err != nil {
		return err
	}
	info, err := d.handle.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = errors.New("it is a symbolic link")
	}
	return format.WithoutPath(err)
}

// Info returns information about an entry of d; of a link itself, not of its target.
func (d *Dir) Info(name string) (Info, error) {
	if err := checkEntryName(name); err != nil {
		return Info{}, err
	}
	info, err := d.handle.Lstat(name)
	if err != nil {
		return Info{}, format.WithoutPath(err)
	}
	return Info{Name: name, Mode: info.Mode(), Size: info.Size(), Time: info.ModTime(), Inode: inode(info)}, nil
}

// SameDir reports whether two handles belong to the same directory.
func SameDir(a, b *Dir) bool {
	x, err := a.handle.Stat(".")
	if err != nil {
		return false
	}
	y, err := b.handle.Stat(".")
	return err == nil && os.SameFile(x, y)
}

// Content is a regular file that is open for reading. The caller closes it.
type Content struct {
	*os.File
	// Size is the size in bytes when the file was opened. Files that the kernel generates, as in
	// /proc, have 0.
	Size int64
}

// Content opens a regular file for searching, as [Root.Open] does.
func (r *Root) Content(p Path) (Content, error) {
	f, info, err := r.Open(p)
	if err != nil {
		return Content{}, err
	}
	return Content{f, info.Size()}, nil
}

var generatedFolders map[string]bool

func isProcessFolder(string) bool { return false }

func openWithoutLinks(*os.File, string, int) (f *os.File, ok bool, err error) { return nil, false, nil }

func checkWithoutLinks(root *os.Root, err error, _ *os.File, _ string) (*os.Root, error) {
	return root, err
}

// rename moves old to a name that must not exist. Both must lie below the same handle.
func (e Entries) rename(old, fresh location) error {
	if e.paths.config.WholeDisk {
		return renameIn(wholeDisk{}, old, old.abs, fresh, fresh.abs)
	}
	from, rel, err := e.paths.areas.at(old.abs)
	if err != nil {
		return err
	}
	to, newRel, err := e.paths.areas.at(fresh.abs)
	if err != nil {
		return err
	}
	if from != to {
		return errors.New("the target is in another granted folder; copy it there instead")
	}
	return renameIn(from.root, old, rel, fresh, newRel)
}

type renamer interface {
	Lstat(name string) (os.FileInfo, error)
	Link(old, fresh string) error
	Rename(old, fresh string) error
	Remove(name string) error
}

func (wholeDisk) Link(old, fresh string) error   { return os.Link(old, fresh) }
func (wholeDisk) Rename(old, fresh string) error { return os.Rename(old, fresh) }
func (wholeDisk) Remove(name string) error       { return os.Remove(name) }

func renameIn(t renamer, old location, oldName string, fresh location, freshName string) error {
	info, err := t.Lstat(oldName)
	if err != nil {
		return err
	}
	there, err := t.Lstat(freshName)
	switch {
	case err == nil && os.SameFile(info, there) && strings.EqualFold(oldName, freshName) && oldName != freshName:
		return t.Rename(oldName, freshName) // only the case of letters changes
	case err == nil:
		return ErrExists
	case info.Mode().IsRegular():
		// A hard link never replaces anything, even if it was created meanwhile.
		if err := t.Link(oldName, freshName); err == nil {
			return t.Remove(oldName)
		} else if errors.Is(err, os.ErrExist) {
			return ErrExists
		}
	}
	return t.Rename(oldName, freshName)
}

func (d *Dir) mkdir(name string, perm os.FileMode) error { return d.handle.Mkdir(name, perm) }
