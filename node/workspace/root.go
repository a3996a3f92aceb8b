package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Root is a workspace. It is safe for use by many goroutines.
type Root struct {
	dir   string // absolute, without symbolic links
	alias string // dir as the person named it, absolute
	root  *os.Root
	fs    tree
	disk  bool
	locks locks
}

// tree is what file access needs; *os.Root is one.
type tree interface {
	OpenFile(name string, flag int, perm os.FileMode) (*os.File, error)
	OpenRoot(name string) (*os.Root, error)
	Lstat(name string) (os.FileInfo, error)
	Readlink(name string) (string, error)
	MkdirAll(name string, perm os.FileMode) error
	Rename(oldname, newname string) error
	Remove(name string) error
}

// Open opens dir as a workspace to which the file tools are confined. dir must exist.
func Open(dir string) (*Root, error) { return open(dir, false) }

// OpenDisk opens dir as a workspace whose file tools may use the whole disk.
func OpenDisk(dir string) (*Root, error) { return open(dir, true) }

func open(dir string, disk bool) (*Root, error) {
	alias, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	real, err := filepath.EvalSymlinks(alias)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	r := &Root{dir: real, alias: alias, root: root, fs: root, disk: disk}
	if disk {
		r.fs = wholeDisk{}
	}
	return r, nil
}

// Close releases the folder. Files that are open stay so.
func (r *Root) Close() error { return r.root.Close() }

// Dir is the folder's absolute path, free of symbolic links.
func (r *Root) Dir() string { return r.dir }

// WholeDisk reports whether paths outside the workspace may be used.
func (r *Root) WholeDisk() bool { return r.disk }

// Path is a resolved path.
type Path struct {
	// Abs is absolute and clean. Its components may be symbolic links.
	Abs string
	// Outside says that Abs does not lie in the workspace; links have not been looked at.
	Outside bool
}

// OutsideError refuses a path outside the workspace. Its text is meant for the model.
type OutsideError struct {
	Path string // as it was asked for, absolute
	Link string // where a symbolic link on the way leads; empty when Path itself lies outside
	Dir  string // the workspace
}

func (e *OutsideError) Error() string {
	what := fmt.Sprintf("'%s' is outside the workspace '%s'", e.Path, e.Dir)
	if e.Link != "" {
		what = fmt.Sprintf("'%s' leads through a symbolic link to '%s', outside the workspace '%s'", e.Path, e.Link, e.Dir)
	}
	return what + ". File tools on this machine are limited to the workspace. Use a path inside it, or ask the person to start this node with a wider workspace or with access to the whole disk."
}

// Resolve makes a path absolute: relative ones are in the workspace, "" is the workspace itself. It looks at the text only and touches no file.
// In a confined workspace a path outside gives an *OutsideError; the Path is returned even so.
func (r *Root) Resolve(name string) (Path, error) {
	if strings.ContainsRune(name, 0) {
		return Path{}, fmt.Errorf("path %q contains a zero byte", name)
	}
	abs := filepath.Clean(name)
	switch {
	case name == "":
		abs = r.dir
	case !filepath.IsAbs(name):
		if filepath.VolumeName(name) != "" || os.PathSeparator == '\\' && os.IsPathSeparator(name[0]) {
			return Path{}, fmt.Errorf("path %q is neither relative nor absolute; give the drive and the full path", name)
		}
		abs = filepath.Join(r.dir, name)
	}
	if rel, ok := within(r.alias, abs); ok {
		abs = filepath.Join(r.dir, rel)
	}
	p := Path{Abs: abs}
	if _, ok := within(r.dir, abs); !ok {
		p.Outside = true
		if !r.disk {
			return p, &OutsideError{Path: abs, Dir: r.dir}
		}
	}
	return p, nil
}

// Rel is p relative to the workspace, or absolute when it lies outside; for people.
func (r *Root) Rel(p Path) string {
	if rel, ok := within(r.dir, p.Abs); ok {
		return rel
	}
	return p.Abs
}

// name is what the tree calls an absolute path.
func (r *Root) name(abs string) (string, error) {
	if r.disk {
		return abs, nil
	}
	rel, ok := within(r.dir, abs)
	if !ok {
		return "", &OutsideError{Path: abs, Dir: r.dir}
	}
	return rel, nil
}

// within gives path relative to dir when it lies in it. Both are absolute and clean.
func within(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(os.PathSeparator)) {
		return "", false
	}
	return rel, true
}

// maxLinks is how many symbolic links a path may lead through, as Linux has it.
const maxLinks = 40

// follow resolves all symbolic links of a path, so that a write goes to a link's target and an absolute link that stays inside works,
// which an os.Root alone refuses. What does not exist is kept as it is. The answer may be out of date at once: only what is opened through the tree
// is confined.
func (r *Root) follow(p Path) (Path, error) {
	root := r.dir
	if r.disk {
		root = filepath.VolumeName(p.Abs) + string(os.PathSeparator)
	}
	rest, ok := within(root, p.Abs)
	if !ok {
		return p, &OutsideError{Path: p.Abs, Dir: r.dir}
	}
	done, links := root, 0
	for rest != "" && rest != "." {
		first, after, _ := strings.Cut(rest, string(os.PathSeparator))
		next := filepath.Join(done, first)
		name, err := r.name(next)
		if err != nil {
			return p, err
		}
		info, err := r.fs.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			done, rest = filepath.Join(done, rest), ""
			break
		}
		if err != nil {
			return p, reason(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done, rest = next, after
			continue
		}
		if links++; links > maxLinks {
			return p, errors.New("too many symbolic links")
		}
		target, err := r.fs.Readlink(name)
		if err != nil {
			return p, reason(err)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(done, target)
		}
		target = filepath.Clean(target)
		if rel, ok := within(r.alias, target); ok {
			target = filepath.Join(r.dir, rel)
		}
		rel, inside := within(root, target)
		if !inside {
			if !r.disk {
				return p, &OutsideError{Path: p.Abs, Link: target, Dir: r.dir}
			}
			return p, fmt.Errorf("the link to '%s' leads to another drive", target)
		}
		done, rest = root, filepath.Join(rel, after)
	}
	_, inside := within(r.dir, done)
	return Path{Abs: done, Outside: !inside}, nil
}

// reason strips the operation and path that os puts before an error: callers name the path themselves.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

// wholeDisk is the tree without walls; names are absolute.
type wholeDisk struct{}

func (wholeDisk) OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}
func (wholeDisk) OpenRoot(name string) (*os.Root, error)       { return os.OpenRoot(name) }
func (wholeDisk) Lstat(name string) (os.FileInfo, error)       { return os.Lstat(name) }
func (wholeDisk) Readlink(name string) (string, error)         { return os.Readlink(name) }
func (wholeDisk) MkdirAll(name string, perm os.FileMode) error { return os.MkdirAll(name, perm) }
func (wholeDisk) Rename(oldname, newname string) error         { return os.Rename(oldname, newname) }
func (wholeDisk) Remove(name string) error                     { return os.Remove(name) }
