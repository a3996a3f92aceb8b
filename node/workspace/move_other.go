//go:build !linux

package workspace

import (
	"errors"
	"os"
	"strings"
)

// rename moves old to a name that must not exist. These systems rename only below one handle, so
// both must lie in one of the folders.
func (r Entries) rename(old, fresh location) error {
	if r.access == WholeDisk {
		return renameIn(wholeDisk{}, old, old.abs, fresh, fresh.abs)
	}
	from, rel, err := r.areas.at(old.abs)
	if err != nil {
		return err
	}
	to, newRel, err := r.areas.at(fresh.abs)
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

func (d *Dir) mkdir(name string, perm os.FileMode) error { return d.root.Mkdir(name, perm) }
