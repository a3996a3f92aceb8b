package floor

import (
	"os"
	"path/filepath"
	"strings"
)

// stores are the files and folders that run programs, by the lower-case name of the folder in
// which a version control system stores a repository. Everything else there is data.
var stores = map[string][]string{
	// githooks(5), git-config(1), gitattributes(5), gitrepository-layout(5). A folder of a work tree
	// has commondir, which leads to the repository.
	".git": {"hooks", "config", "config.worktree", "commondir", "info/attributes"},
	// hgrc(5). sharedpath leads to another repository.
	".hg": {"hgrc", "hgrc-not-shared", "requires", "sharedpath"},
	// Settings of a repository; git_target leads to the Git repository behind it.
	".jj":    {"repo/config.toml", "repo/store/git_target", "workspace-config.toml"},
	".bzr":   {"branch/branch.conf", "branch/location"},
	"_darcs": {"prefs/defaults", "prefs/prefs"}, ".pijul": {"config"},
}

// maxStores limits the repositories of submodules and the work trees of one repository.
const maxStores = 1000

// repository returns the floor files of a repository, with its submodules and work trees.
func repository(store string) (files []string) {
	names := stores[strings.ToLower(filepath.Base(store))]
	if names == nil {
		names = stores[".git"]
		if !isRepository(store) {
			return nil // only its name ends so
		}
	}
	all := []string{store}
	for i := 0; i < len(all) && len(all) < maxStores; i++ {
		for _, name := range names {
			if path := filepath.Join(all[i], filepath.FromSlash(name)); exists(path) {
				files = append(files, path)
			}
		}
		all = append(all, below(filepath.Join(all[i], "worktrees"))...)
		all = append(all, modules(filepath.Join(all[i], "modules"))...)
	}
	return files
}

func below(dir string) (folders []string) {
	entries, _ := os.ReadDir(dir) // most have none
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, filepath.Join(dir, e.Name()))
		}
	}
	return folders
}

// modules returns the repositories of submodules. The name of one may contain slashes.
func modules(dir string) (folders []string) {
	all := below(dir)
	for i := 0; i < len(all) && i < maxStores; i++ {
		if isRepository(all[i]) {
			folders = append(folders, all[i])
		} else {
			all = append(all, below(all[i])...)
		}
	}
	return folders
}

// isRepository recognizes a repository of Git, even one without its HEAD, which a command can remove.
func isRepository(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) || exists(filepath.Join(dir, "config"))
}

// isBare recognizes a bare repository with any name, by most of its parts.
func isBare(dir string) bool {
	n := 0
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if exists(filepath.Join(dir, name)) {
			n++
		}
	}
	return n > 1
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
