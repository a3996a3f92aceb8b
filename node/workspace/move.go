package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"fairlead/gateway/peer/format"
)

// ErrExists is the error when a file exists already. [Entries] never
// replaces anything.
var ErrExists error = existsError{}

type existsError struct{}

func (existsError) Error() string     { return "there is something of that name already" }
func (existsError) Is(err error) bool { return err == fs.ErrExist }

// entryError says why an entry cannot be created, moved or deleted, and is like an error of the
// system.
type entryError struct {
	text string
	like error
}

func (e entryError) Error() string     { return e.text }
func (e entryError) Is(err error) bool { return err == e.like }

// Entries changes the entries of folders: it creates folders, and moves, deletes and restores files
// and folders. It never replaces anything.
type Entries struct {
	paths    *resolver
	changing func(path string) (done func()) // see [Root.WithChanging]; may be nil
}

// Entries returns what changes the entries of the workspace's folders.
func (r *Root) Entries() Entries { return Entries{&r.paths, r.changing} }

type location struct {
	dir  *Dir
	name string
	abs  string // its absolute path
}

// openParent opens the folder of an entry to change. A link means the link itself.
func (e Entries) openParent(p Path) (location, error) {
	for _, a := range e.paths.areas {
		if _, ok := within(p.Abs, a.dir); ok {
			return location{}, entryError{fmt.Sprintf("'%s' is or contains the workspace or a granted folder", p), fs.ErrPermission}
		}
	}
	name := filepath.Base(p.Abs)
	if err := checkEntryName(name); err != nil {
		return location{}, entryError{fmt.Sprintf("'%s' is not a valid file name", name), fs.ErrInvalid}
	}
	if IsInternal(name) {
		return location{}, entryError{fmt.Sprintf("names that begin with '%s' are reserved for Fairlead", tempPrefix), fs.ErrInvalid}
	}
	folders := *e.paths
	folders.target = "" // which is the entry, not its folder
	dir, err := folders.writable(Path{Abs: filepath.Dir(p.Abs)})
	if err != nil {
		return location{}, err
	}
	if e.paths.target != "" {
		if _, err := e.paths.follow(Path{Abs: filepath.Join(dir, name)}); err != nil {
			return location{}, err
		}
	}
	d, err := openDir(e.paths.fs, dir, dir)
	if err != nil {
		return location{}, err
	}
	return location{dir: d.holding(name), name: name, abs: filepath.Join(dir, name)}, nil
}

// Move renames or moves an entry and returns its new path. It never replaces anything: [ErrExists].
func (e Entries) Move(from, to Path) (Path, error) {
	if _, in := within(from.Abs, to.Abs); in && from.Abs != to.Abs {
		return Path{}, errors.New("a folder cannot be moved into itself")
	}
	old, err := e.openParent(from)
	if err != nil {
		return Path{}, err
	}
	defer old.dir.Close()
	if _, err := old.dir.Info(old.name); err != nil {
		return Path{}, err
	}
	fresh, err := e.openParent(to)
	if err != nil {
		return Path{}, err
	}
	defer fresh.dir.Close()
	return Path{Abs: fresh.abs, Outside: !e.paths.inside(fresh.abs)}, moveError(e.move(old, fresh))
}

func moveError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	case errors.Is(err, syscall.EXDEV):
		return errors.New("the target is on another disk; copy it there instead")
	}
	return format.WithoutPath(err)
}

// move renames an entry to a name that must not exist.
func (e Entries) move(old, fresh location) error {
	defer change(e.changing, old.abs)()
	defer change(e.changing, fresh.abs)()
	return e.rename(old, fresh)
}

// Mkdir creates one folder in an existing one. It leaves existing entries unchanged: [ErrExists].
func (e Entries) Mkdir(p Path) (Path, error) {
	s, err := e.openParent(p)
	if err != nil {
		return Path{}, err
	}
	defer s.dir.Close()
	return Path{Abs: s.abs, Outside: !e.paths.inside(s.abs)}, moveError(s.dir.mkdir(s.name, 0o777))
}
