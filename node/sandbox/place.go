package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Place is one of the places where people keep keys and tokens: a folder, or a single file.
type Place struct {
	Name string // as people write it, such as ~/.ssh
	Path string // absolute, without symbolic links
}

// Places are those of the person, whether they are there or not. One that is a symbolic link is named twice: where it stands, and where it leads.
func Places() (list []Place) {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return nil
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	for _, p := range secretPlaces {
		place := Place{Name: "~/" + p, Path: filepath.Join(home, filepath.FromSlash(p))}
		list = append(list, place)
		if !linkedBelow(home, p) {
			continue
		}
		if real, err := filepath.EvalSymlinks(place.Path); err == nil && real != place.Path && !inFolder(home, real) {
			list = append(list, Place{Name: place.Name, Path: real})
		}
	}
	return list
}

// linkedBelow reports whether something on the way to a place below dir, itself without links, is a symbolic link. It asks the system once for most.
func linkedBelow(dir, place string) bool {
	for at := dir; place != ""; {
		var name string
		name, place, _ = strings.Cut(place, "/")
		at += string(filepath.Separator) + name
		switch info, err := os.Lstat(at); {
		case err != nil:
			return false // what is not there leads nowhere
		case !info.IsDir() && !info.Mode().IsRegular(): // a link, or what else leads elsewhere on Windows
			return true
		}
	}
	return false
}

// Holds reports whether a path without symbolic links is the place or lies in it.
func (p Place) Holds(path string) bool { return inFolder(path, p.Path) }

// Opens reports whether a path in the place is one of the files that hold no secret, such as ~/.ssh/known_hosts. It looks whether it is a file.
func (p Place) Opens(path string) bool {
	if p.Name != "~/.ssh" || !sshOpenName(filepath.Base(path)) || !same(filepath.Dir(path), p.Path) {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() || errors.Is(err, fs.ErrNotExist)
}

// SecretPlace names the place of keys and tokens that a path without symbolic links lies in, such as ~/.ssh; empty when there is none.
func SecretPlace(path string) string {
	for _, p := range Places() {
		if p.Holds(path) {
			return p.Name
		}
	}
	return ""
}

// foldCase says that the system takes names for the same that differ in case only.
const foldCase = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

func same(a, b string) bool { return a == b || foldCase && strings.EqualFold(a, b) }

func inFolder(path, dir string) bool {
	if foldCase {
		path, dir = strings.ToLower(path), strings.ToLower(dir)
	}
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
