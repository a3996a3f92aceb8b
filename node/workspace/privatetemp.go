package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TempFolder is the folder of Linux that commands may have in a version of their own.
const TempFolder = "/tmp"

// tempView is a file system in which /tmp has the same content as for commands: files of its own,
// and what is in the system's. A name that exists in neither is created in the private folder.
//
// Commands can write to the private folder, but not to the folder that contains it. It is opened
// for each access, and everything in it relative to that handle. A symbolic link in it is resolved
// like any other (see resolver.followLinks): its target is a path of the system.
type tempView struct {
	fileSystem        // without the private folder
	areas      areas  // of the workspace
	whole      bool   // everything may be accessed, not only areas
	dir        string // the private folder
}

// relative returns a name in the private folder. ok is false for names elsewhere: outside of /tmp,
// in a workspace or a granted folder there, and those that may not be accessed.
func (v tempView) relative(name string) (rel string, ok bool) {
	if v.dir == "" || !InFolder(name, TempFolder) {
		return "", false
	}
	a, _, in := v.areas.find(name)
	if in && a.dir != TempFolder && InFolder(a.dir, TempFolder) || !in && !v.whole {
		return "", false
	}
	return "." + strings.TrimPrefix(name, TempFolder), true
}

// open returns the private folder and the relative name if it has one. The caller closes it.
func (v tempView) open(name string) (root *os.Root, rel string, ok bool) {
	rel, ok = v.relative(name)
	if !ok {
		return nil, "", false
	}
	root, err := os.OpenRoot(v.dir)
	if err != nil {
		return nil, "", false
	}
	if has(root, rel) {
		return root, rel, true
	}
	root.Close()
	return nil, "", false
}

// has reports whether the private folder has an entry of its own.
func has(root *os.Root, rel string) bool {
	info, err := root.Lstat(rel)
	if err != nil {
		return false
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return true
	}
	target, err := root.Readlink(rel)
	return err == nil && !isLinkToSystem(target, filepath.Join(TempFolder, rel))
}

// isLinkToSystem reports whether a link at a path stands for what the system has there. Commands see
// that in a folder of /dev.
func isLinkToSystem(target, path string) bool {
	place, ok := strings.CutSuffix(target, strings.TrimPrefix(path, TempFolder))
	return ok && filepath.Dir(place) == "/dev"
}

func (v tempView) OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	root, rel, ok := v.open(name)
	if !ok {
		return v.fileSystem.OpenFile(name, flag, perm)
	}
	defer root.Close()
	handle, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	if f, ok, err := openWithoutLinks(handle, rel, flag); ok {
		return f, err
	}
	return root.OpenFile(rel, flag, perm)
}

func (v tempView) OpenRoot(name, entry string) (*os.Root, error) {
	root, rel, ok := v.open(name)
	if !ok {
		return v.fileSystem.OpenRoot(name, entry)
	}
	defer root.Close()
	if entry != "." && !has(root, filepath.Join(rel, entry)) {
		if _, err := v.fileSystem.Lstat(filepath.Join(name, entry)); err == nil {
			return v.fileSystem.OpenRoot(name, entry)
		}
	}
	handle, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	dir, err := root.OpenRoot(rel)
	return checkWithoutLinks(dir, err, handle, rel)
}

func (v tempView) Lstat(name string) (os.FileInfo, error) {
	root, rel, ok := v.open(name)
	if !ok || rel == "." {
		return v.fileSystem.Lstat(name)
	}
	defer root.Close()
	return root.Lstat(rel)
}

func (v tempView) Readlink(name string) (string, error) {
	root, rel, ok := v.open(name)
	if !ok {
		return v.fileSystem.Readlink(name)
	}
	defer root.Close()
	return root.Readlink(rel)
}

func (v tempView) MkdirAll(name string, perm os.FileMode) error {
	if !v.creates(name) {
		return v.fileSystem.MkdirAll(name, perm)
	}
	root, err := os.OpenRoot(v.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	rel, _ := v.relative(name)
	return root.MkdirAll(rel, perm)
}

// creates reports whether a name that does not exist would be created in the private folder, or
// exists there.
func (v tempView) creates(name string) bool {
	for ; ; name = filepath.Dir(name) {
		if _, ok := v.relative(name); !ok {
			return false
		}
		if root, _, ok := v.open(name); ok {
			root.Close()
			return true
		}
		if _, err := v.fileSystem.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
}

// CommandView is what commands see, whatever file tools may open.
type CommandView struct{ temp tempView }

// CommandView returns what commands see.
func (r *Root) CommandView() CommandView {
	return CommandView{tempView{fileSystem: wholeDisk{}, areas: r.paths.areas, whole: true, dir: r.paths.config.PrivateTemp}}
}

// IsPrivate reports whether a path without symbolic links is in the private folder that commands have
// in place of /tmp, or would be created there.
func (c CommandView) IsPrivate(path string) bool { return c.temp.creates(path) }

// Locate returns where other programs find what commands see at an absolute path: in the private
// folder, or at the path itself. It may lead through links that a command made.
func (c CommandView) Locate(path string) string {
	root, rel, ok := c.temp.open(path)
	if !ok {
		return path
	}
	root.Close()
	return filepath.Join(c.temp.dir, rel)
}
