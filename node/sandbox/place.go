package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/gateway/peer/sensitive"
	"fairlead/node/workspace"
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
	for _, s := range secrets {
		if s.rel == "" {
			list = append(list, Place{Name: s.name, Path: filepath.FromSlash(s.name), Open: true})
			continue
		}
		place := Place{Name: s.name, Path: home + string(filepath.Separator) + filepath.FromSlash(s.rel), Open: s.open}
		list = append(list, place)
		if _, err := os.Lstat(place.Path); err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(place.Path); err == nil && real != place.Path && !workspace.InFolder(home, real) {
			list = append(list, Place{Name: place.Name, Path: real, Open: s.open})
		}
	}
	return list
}

// Contains reports whether a path without symbolic links is the place or lies in it.
func (p Place) Contains(path string) bool { return workspace.InFolder(path, p.Path) }

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

// hidden lists the paths that no contained command may read: the program's own folder and the
// secrets of [sensitive.Entries]; and the exceptions among them. Paths that do not exist are
// included, so that files created later are hidden, too.
func hidden(opts Options) (hide, show []string) {
	hide = append(hide, opts.Secrets...)
	if opts.Home != "" {
		hide = append(hide, opts.Home)
	}
	home, ok := homeDir()
	if !ok {
		return hide, nil
	}
	for _, s := range secrets {
		if !s.open {
			hide = append(hide, filepath.Join(home, filepath.FromSlash(s.rel)))
		}
	}
	return hide, publicFiles(home)
}

// HiddenPaths lists the secrets that no contained command can read any part of, where that is
// enforced. A folder with a readable file, such as ~/.ssh/known_hosts, is left out.
func HiddenPaths() (list []string) {
	home, ok := homeDir()
	if !ok {
		return nil
	}
	for _, s := range secrets {
		if !s.open && !slices.Contains(publicFolders, s.rel) {
			list = append(list, filepath.Join(home, filepath.FromSlash(s.rel)))
		}
	}
	return list
}

func homeDir() (string, bool) {
	home, err := os.UserHomeDir()
	return home, err == nil && filepath.IsAbs(home)
}

// secret is a secret of a home folder, or of the system.
type secret struct {
	name string // as in the table
	// rel is relative to the home folder, with slashes; empty for those of the system, which are
	// all open.
	rel  string
	open bool // commands can read it
}

// secrets are those of the table; publicFolders are the folders of its exceptions, relative to the
// home folder.
var secrets, publicFolders = func() (list []secret, folders []string) {
	for _, e := range sensitive.Entries() {
		rel, home := e.Home()
		switch {
		case e.Path[0] == '/' && e.Kind&sensitive.Secret != 0:
			list = append(list, secret{name: e.Path, open: true})
		case !home:
		case e.Kind&sensitive.Secret != 0:
			list = append(list, secret{name: e.Path, rel: rel, open: e.Kind&sensitive.Open != 0})
		case e.Kind&sensitive.Public != 0 && !slices.Contains(folders, path.Dir(rel)):
			folders = append(folders, path.Dir(rel))
		}
	}
	return list, folders
}()

// publicFiles returns the regular files without secrets in folders with secrets.
func publicFiles(home string) (list []string) {
	for _, folder := range publicFolders {
		dir := filepath.Join(home, filepath.FromSlash(folder))
		entries, _ := os.ReadDir(dir) // a folder that cannot be read has no public files
		for _, e := range entries {
			if _, public := sensitive.Find("~/"+folder+"/"+e.Name(), "", sensitive.Public); public && e.Type().IsRegular() {
				list = append(list, filepath.Join(dir, e.Name()))
			}
		}
	}
	return list
}
