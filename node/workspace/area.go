package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"fairlead/gateway/protocol"
)

type area struct {
	dir      string // absolute, without symbolic links
	alias    string // dir as the person named it, absolute
	readOnly bool
	root     *os.Root
	handle   *os.File    // of the open folder
	info     os.FileInfo // of the open folder
}

// checkUnchanged returns an error if the area's name now belongs to another folder than the open
// one: answers would name files that do not exist.
func (a *area) checkUnchanged() error {
	now, err := os.Stat(a.dir)
	if err == nil && os.SameFile(now, a.info) {
		return nil
	}
	return &FolderReplacedError{Dir: a.dir}
}

// FolderReplacedError reports that a workspace or granted folder was moved, removed or replaced
// after it was opened.
type FolderReplacedError struct{ Dir string }

func (e *FolderReplacedError) Error() string {
	return fmt.Sprintf("The folder '%s' was moved or replaced after this node was started. Nothing was done; "+
		"ask the person to put it back or to restart the node.", Spell(e.Dir))
}

// ReadOnlyError is the error for a change that is not permitted.
type ReadOnlyError struct {
	Path string
	// Dir is the folder that was granted for reading; empty if nothing on the machine may be
	// changed.
	Dir string
}

func (e *ReadOnlyError) Error() string {
	if e.Dir == "" {
		return fmt.Sprintf("'%s' cannot be changed: this machine is set to read-only, for commands and for files. Nothing was done; ask the person to set its "+
			"sandbox to workspace-write (on its page This computer, or with --sandbox workspace-write).", Spell(e.Path))
	}
	return fmt.Sprintf("'%s' is in '%s', which was granted for reading only. Write to another folder, or ask the person to grant it for writing.",
		Spell(e.Path), Spell(e.Dir))
}

// areas is the tree of a restricted Root: an absolute name is looked up in the folder that contains
// it, relative to its handle. Inner folders come before outer ones.
type areas []*area

// close closes the folders. Open files stay open.
func (as areas) close() error {
	var errs []error
	for _, a := range as {
		errs = append(errs, a.root.Close(), a.handle.Close())
	}
	return errors.Join(errs...)
}

// checkGrant returns an error if a cannot be granted beside the others.
func (as areas) checkGrant(a *area) error {
	for _, b := range as {
		for _, pair := range [][2]*area{{a, b}, {b, a}} {
			outer, inner := pair[0], pair[1]
			if _, ok := within(outer.dir, inner.dir); ok && inner.readOnly && !outer.readOnly {
				return fmt.Errorf("'%s' lies in '%s', which is writable: it cannot be read-only by itself", inner.dir, outer.dir)
			}
		}
	}
	return nil
}

func (as areas) find(abs string) (*area, string, bool) {
	for _, a := range as {
		if rel, ok := within(a.dir, abs); ok {
			return a, rel, true
		}
	}
	return nil, "", false
}

// real returns abs with the area's real name if abs uses the area's alias, which leads through a
// symbolic link.
func (as areas) real(abs string) string {
	if _, _, ok := as.find(abs); ok {
		return abs
	}
	for _, a := range as {
		if rel, ok := within(a.alias, abs); ok {
			return filepath.Join(a.dir, rel)
		}
	}
	return abs
}

func (as areas) at(abs string) (*area, string, error) {
	a, rel, ok := as.find(abs)
	if !ok {
		return nil, "", &OutsideError{Path: abs, Dir: as[len(as)-1].dir}
	}
	return a, rel, nil
}

func (as areas) OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	a, rel, err := as.at(name)
	if err != nil {
		return nil, err
	}
	if f, ok, err := openWithoutLinks(a.handle, rel, flag); ok {
		return f, err
	}
	return a.root.OpenFile(rel, flag, perm)
}

func (as areas) OpenRoot(name, _ string) (*os.Root, error) {
	a, rel, err := as.at(name)
	if err != nil {
		return nil, err
	}
	root, err := a.root.OpenRoot(rel)
	return checkWithoutLinks(root, err, a.handle, rel)
}

func (as areas) Lstat(name string) (os.FileInfo, error) {
	a, rel, err := as.at(name)
	if err != nil {
		return nil, err
	}
	return a.root.Lstat(rel)
}

func (as areas) Readlink(name string) (string, error) {
	a, rel, err := as.at(name)
	if err != nil {
		return "", err
	}
	return a.root.Readlink(rel)
}

func (as areas) MkdirAll(name string, perm os.FileMode) error {
	a, rel, err := as.at(name)
	if err != nil {
		return err
	}
	return a.root.MkdirAll(rel, perm)
}

// IsFolderReadOnly reports whether nothing below an absolute path may be changed.
func (r *Root) IsFolderReadOnly(abs string) bool {
	a, _, ok := r.paths.areas.find(abs)
	return r.paths.config.ReadOnly || ok && a.readOnly
}

type wholeDisk struct{}

func (wholeDisk) OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	if f, ok, err := openWithoutLinks(nil, name, flag); ok {
		return f, err
	}
	return os.OpenFile(name, flag, perm)
}

func (wholeDisk) OpenRoot(name, _ string) (*os.Root, error) {
	root, err := os.OpenRoot(name)
	return checkWithoutLinks(root, err, nil, name)
}

func (wholeDisk) Lstat(name string) (os.FileInfo, error)       { return os.Lstat(name) }
func (wholeDisk) Readlink(name string) (string, error)         { return os.Readlink(name) }
func (wholeDisk) MkdirAll(name string, perm os.FileMode) error { return os.MkdirAll(name, perm) }

// below is what an open folder contains.
type below struct{ *os.Root }

func (b below) OpenRoot(name, _ string) (*os.Root, error) { return b.Root.OpenRoot(name) }

// Aliases returns the symbolic links to folders among some absolute folders and the folders above
// them.
func Aliases(folders ...string) (list []protocol.Alias) {
	for _, dir := range folders {
		if !filepath.IsAbs(dir) {
			continue
		}
		for dir = filepath.Clean(dir); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if info, err := os.Lstat(dir); err != nil || info.Mode()&os.ModeSymlink == 0 {
				continue
			}
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				continue
			}
			if info, err := os.Stat(real); err != nil || !info.IsDir() {
				continue
			}
			names := []string{dir}
			if above, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil && above != filepath.Dir(dir) {
				names = append(names, filepath.Join(above, filepath.Base(dir)))
			}
			for _, name := range names {
				if alias := (protocol.Alias{Path: Spell(name), Folder: Spell(real)}); !slices.Contains(list, alias) {
					list = append(list, alias)
				}
			}
		}
	}
	return list
}
