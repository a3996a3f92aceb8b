package sandbox

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"fairlead/gateway/peer/sensitive"
)

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
