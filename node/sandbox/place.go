package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"fairlead/gateway/peer/sensitive"
	"fairlead/node/sandbox/confine"
)

// Place is a secret of [sensitive.Entries] on this machine: a folder, or a single file.
type Place struct {
	Name string // as people write it, such as ~/.ssh
	Path string // absolute, without symbolic links
	Open bool   // contained commands can read it
}

// Places returns the secrets of the person, whether they exist or not. One that is a symbolic link
// is listed twice: its location and its target.
func Places() (list []Place) {
	home, ok := homeDir()
	if !ok {
		return nil
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	home = strings.TrimSuffix(home, string(filepath.Separator)) // of root
	list = make([]Place, 0, len(secrets)+8)
	var links confine.Resolver
	for _, s := range secrets {
		if s.rel == "" {
			list = append(list, Place{Name: s.name, Path: filepath.FromSlash(s.name), Open: true})
			continue
		}
		place := Place{Name: s.name, Path: home + string(filepath.Separator) + filepath.FromSlash(s.rel), Open: s.open}
		list = append(list, place)
		if real, there := links.Resolve(place.Path); there && real != place.Path && !inFolder(home, real) {
			list = append(list, Place{Name: place.Name, Path: real, Open: s.open})
		}
	}
	return list
}

// Contains reports whether a path without symbolic links is the place or lies in it.
func (p Place) Contains(path string) bool { return inFolder(path, p.Path) }

// IsPublic reports whether a path in the place is one of the files without secrets, such as
// ~/.ssh/known_hosts. It checks that it is a file.
func (p Place) IsPublic(path string) bool {
	rel, err := filepath.Rel(p.Path, path)
	if err != nil {
		return false
	}
	if _, public := sensitive.Find(p.Name+"/"+filepath.ToSlash(rel), "", sensitive.Public); !public {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() || errors.Is(err, fs.ErrNotExist)
}

// SecretPlace returns the name of the secret that a path without symbolic links lies in, such as
// ~/.ssh; empty if it does not have any.
func SecretPlace(path string) string { return placeName(path, func(Place) bool { return true }) }

// HiddenPlace is SecretPlace for the secrets that contained commands cannot read.
func HiddenPlace(path string) string { return placeName(path, func(p Place) bool { return !p.Open }) }

func placeName(path string, counts func(Place) bool) string {
	for _, p := range Places() {
		if p.Contains(path) && counts(p) {
			return p.Name
		}
	}
	return ""
}

// foldCase says that the system treats names that differ only in case as the same.
const foldCase = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

func inFolder(path, dir string) bool {
	if foldCase {
		path, dir = strings.ToLower(path), strings.ToLower(dir)
	}
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
