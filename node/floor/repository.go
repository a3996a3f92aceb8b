package floor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fairlead/node/workspace"
)

// stores are the files and folders that run programs, by the lower-case name of the folder in
// which a version control system stores a repository. Everything else there is data.
var stores = map[string][]string{
	// githooks(5), git-config(1), gitattributes(5), gitrepository-layout(5). A folder of a work tree
	// has commondir, which leads to the repository.
	".git": {"hooks", "config", "config.worktree", "commondir", "info/attributes", "sl/config"},
	// hgrc(5). sharedpath leads to another repository.
	".hg": {"hgrc", "hgrc-not-shared", "requires", "sharedpath"},
	// Sapling (sl help config).
	".sl": {"config", "requires", "sharedpath"},
	// Settings of a repository. git_target leads to the Git repository behind it, if that is not
	// store/git, and the file repo of a work tree to the repository.
	".jj":    {"repo/config.toml", "repo/store/git_target", "repo/store/git/config", "repo/store/git/hooks", "workspace-config.toml", "repo"},
	".bzr":   {"branch/branch.conf", "branch/location"},
	"_darcs": {"prefs/defaults", "prefs/prefs"}, ".pijul": {"config"},
}

// repository returns the floor files of a repository, with its submodules and work trees, and the
// lists of unfinished rebases, which Git itself changes.
func repository(store string) (files, todos []string) {
	names := stores[strings.ToLower(filepath.Base(store))]
	if names == nil {
		names = stores[".git"]
		if !isRepository(store) {
			return nil, nil // only its name ends so
		}
	}
	files = append(configuredFiles(store), includedFiles(store)...)
	all := []string{store}
	for i := 0; i < len(all); i++ { // without a limit, which a command could reach to hide others
		for _, name := range names {
			path := reachable(filepath.Join(all[i], filepath.FromSlash(name)))
			if info, err := os.Lstat(path); err == nil && !(name == "repo" && info.IsDir()) {
				files = append(files, path)
			}
		}
		if path := filepath.Join(all[i], filepath.FromSlash(todo)); exists(path) {
			todos = append(todos, path)
		}
		var closed []string
		for _, name := range []string{"worktrees", "modules"} {
			all = append(all, inner(filepath.Join(all[i], name), name == "modules", &closed)...)
		}
		files = append(files, closed...)
	}
	return files, todos
}

// configuredFiles returns the folder of hooks and the settings that the configuration of a
// repository names in its work tree: core.hooksPath and include.path (git-config(1)).
func configuredFiles(store string) (files []string) {
	data, err := os.ReadFile(filepath.Join(store, "config"))
	if err != nil || filepath.Base(store) != ".git" {
		return nil
	}
	tree := filepath.Dir(store)
	for line := range strings.Lines(string(data)) {
		if end := strings.LastIndexByte(line, ']'); strings.HasPrefix(strings.TrimSpace(line), "[") && end > 0 {
			line = line[end+1:] // a setting may follow on the line of its section
		}
		key, value, _ := strings.Cut(line, "=")
		base := tree
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "hookspath":
		case "path": // of include and includeIf, relative to the configuration; one of a submodule does no harm
			base = store
		default:
			continue
		}
		path := filepath.FromSlash(strings.Trim(strings.TrimSpace(value), `"`))
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, path)
		}
		if workspace.InFolder(path, tree) && !workspace.InFolder(tree, path) && !workspace.InFolder(store, path) && exists(path) {
			files = append(files, path)
		}
	}
	return files
}

// includedFiles returns the files of the work tree that the settings of Mercurial include
// (hgrc(5)).
func includedFiles(store string) (files []string) {
	tree := filepath.Dir(store)
	for _, name := range []string{"hgrc", "hgrc-not-shared"} {
		data, err := os.ReadFile(filepath.Join(store, name))
		if err != nil || filepath.Base(store) != ".hg" {
			continue
		}
		for line := range strings.Lines(string(data)) {
			path, isInclude := strings.CutPrefix(line, "%include")
			path = filepath.FromSlash(strings.TrimSpace(path))
			if !filepath.IsAbs(path) {
				path = filepath.Join(store, path)
			}
			if isInclude && workspace.InFolder(path, tree) && !workspace.InFolder(tree, path) && exists(path) {
				files = append(files, path)
			}
		}
	}
	return files
}

// inner returns the repositories in a folder. The name of a submodule's may contain slashes.
// Folders that cannot be read are added to closed.
func inner(dir string, deep bool, closed *[]string) (folders []string) {
	all := []string{dir}
	for i := 0; i < len(all); i++ {
		entries, err := os.ReadDir(all[i]) // most do not exist
		if errors.Is(err, fs.ErrPermission) {
			*closed = append(*closed, reachable(all[i]))
		}
		for _, e := range entries {
			path := filepath.Join(all[i], e.Name())
			switch {
			case !e.IsDir():
			case !deep || isRepository(path):
				folders = append(folders, path)
			default:
				all = append(all, path)
			}
		}
	}
	return folders
}

// isClosed reports whether a path cannot be looked up because of a folder above it. A command could
// have closed that folder, to make another command find the path unprotected.
func isClosed(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrPermission)
}

// reachable returns the path, or the folder above it that is closed.
func reachable(path string) string {
	for isClosed(path) {
		path = filepath.Dir(path)
	}
	return path
}

// isRepository recognizes a repository of Git, even one without its HEAD, which a command can
// remove or make later. Its hooks tell a submodule from a folder in the name of others; they may
// themselves be a submodule with the name hooks.
func isRepository(dir string) bool {
	hooks := filepath.Join(dir, "hooks")
	return exists(filepath.Join(dir, "HEAD")) || exists(filepath.Join(dir, "config")) || isClosed(filepath.Join(dir, "HEAD")) || exists(hooks) && !isRepository(hooks)
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
