// Package floor lists the files of a folder that decide which programs run later: settings of
// version control, of shells, of editors and of agents ([sensitive.Startup]). Contained commands
// cannot change them.
//
// The list has what exists. Of a repository it has only what runs programs: its hooks and its
// configuration, not its data, which every commit changes. It leaves out folders that package
// managers and compilers fill and replace as a whole, except for a look after a command
// ([List.All]): that has known places in them, and the repositories in their outer folders.
package floor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/gateway/peer/sensitive"
	"fairlead/node/workspace"
)

// Files returns the floor files in a folder and all below it that exist now, with those to which
// links among them lead: absolute, sorted, with outer paths first. A folder in the list stands for
// everything in it. dir is absolute and without symbolic links. A folder that cannot be read is in
// the list as a whole.
func (l *List) Files(dir string) []string {
	f := l.find(dir)
	files := append(f.files, f.linked...)
	slices.Sort(files)
	return slices.Compact(files)
}

// All returns the floor files, also of repositories in folders that package managers fill; the files
// that package managers and Git itself write (the programs and start files of Python's environments
// and of node_modules, Yarn's loader, direnv's folder, and lists of unfinished rebases); and where
// links among the floor files lead.
func (l *List) All(dir string) (files, filled, linked []string) {
	f := l.find(dir)
	for _, dir := range f.filled {
		filled = append(filled, filledFiles(dir)...)
	}
	return append(f.files, f.inner...), filled, f.linked
}

func (l *List) find(dir string) found {
	if slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), ".cache") {
		l.addCache(dir)
		return found{} // a folder that was granted to a compiler, such as ~/.cache/go-build
	}
	home, _ := os.UserHomeDir() // without it, every folder may be one
	return l.walk(dir, dir, func(f *folder, path string, e os.DirEntry) bool {
		isReplaced := e.IsDir() && replaced[strings.ToLower(e.Name())]
		if f.level > 0 {
			return f.isInner(path, e) || isReplaced || f.isDeepest()
		}
		isFloor := f.isFloor(path, home, e)
		if e.IsDir() && (isFloor || isReplaced) {
			f.crowded = append(f.crowded, path)
		}
		return isFloor && !(isReplaced && isFilled(strings.ToLower(e.Name())))
	})
}

// isFloor records a floor file, or a repository.
func (f *folder) isFloor(path, home string, e os.DirEntry) bool {
	name := strings.ToLower(e.Name())
	switch {
	case stores[name] != nil && e.IsDir(), strings.HasSuffix(name, ".git") && e.IsDir():
		f.stores = append(f.stores, path)
	case name == "config" && e.Type().IsRegular() && isBare(filepath.Dir(path)):
		f.stores = append(f.stores, filepath.Dir(path))
	case name == ".git" || name == ".jj": // of a work tree: names the repository
		f.files = append(f.files, path)
	case isFilled(name) && e.IsDir(), IsLoader(name):
		f.filled = append(f.filled, path)
	case name == "pyvenv.cfg":
		f.filled = append(f.filled, filepath.Dir(path))
	case workspace.IsInternal(e.Name()), name == ".svn" && e.IsDir(): // only data
	case isData(name), !mayMatch(name) || !isStartup(path, home):
		return false
	default:
		f.files = append(f.files, path)
		if e.Type()&os.ModeSymlink != 0 {
			f.links = append(f.links, path)
		}
	}
	return true
}

// isData recognizes names in a repository that every command of version control changes.
func isData(name string) bool { return name == "head" || name == ".fslckout" || name == "_fossil_" }

// replaced are folders that package managers and compilers fill and replace as a whole.
var replaced = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq("node_modules bower_components vendor .venv venv .tox .nox site-packages __pycache__ target build dist out _deps " +
		".cache .npm .gradle .terraform .next .nuxt .direnv") {
		set[name] = true
	}
	return set
}()

// Lists reports whether a file below dir, which a repository there tracks, would be in the list of
// dir if it existed. rel has slashes.
func Lists(dir, rel string) bool {
	parts := strings.Split(strings.ToLower(rel), "/")
	if isData(parts[len(parts)-1]) || slices.ContainsFunc(parts[:len(parts)-1], func(p string) bool { return replaced[p] }) {
		return false
	}
	home, _ := os.UserHomeDir()
	return isStartup(filepath.Join(dir, filepath.FromSlash(rel)), home)
}

// IsParent reports whether a folder exists for files that start programs, as .vscode and .git do. The
// folders in a repository do not: version control removes those of work trees and submodules.
func IsParent(dir string) bool {
	home, _ := os.UserHomeDir()
	for up := filepath.Dir(dir); up != filepath.Dir(up); up = filepath.Dir(up) {
		if stores[strings.ToLower(filepath.Base(up))] != nil {
			return false
		}
	}
	_, isBelow := sensitive.FindBelow(filepath.ToSlash(dir), filepath.ToSlash(home), sensitive.Startup)
	return isBelow || isStartup(dir, home)
}

func isStartup(path, home string) bool {
	_, found := sensitive.Find(filepath.ToSlash(path), filepath.ToSlash(home), sensitive.Startup)
	return found
}

// lastNames and lastPatterns are the last names of the table's paths: few names match them, and
// only those are compared with the table.
var lastNames, lastPatterns = func() (names map[string]bool, patterns []string) {
	names = map[string]bool{}
	for _, e := range sensitive.Entries() {
		last := strings.ToLower(e.Path[strings.LastIndexByte(e.Path, '/')+1:])
		switch {
		case e.Kind&sensitive.Startup == 0:
		case strings.Contains(last, "*"):
			patterns = append(patterns, last)
		default:
			names[last] = true
		}
	}
	return names, patterns
}()

func mayMatch(name string) bool {
	return lastNames[name] || slices.ContainsFunc(lastPatterns, func(p string) bool {
		ok, err := filepath.Match(p, name)
		return ok && err == nil
	})
}

// Without returns the list without a file or folder that may be changed. A listed folder that
// contains it is replaced by its other entries, so that they stay protected.
func Without(list []string, path string) (rest []string) {
	for _, f := range list {
		if !workspace.InFolder(path, f) {
			if !workspace.InFolder(f, path) {
				rest = append(rest, f)
			}
			continue
		}
		for dir := f; dir != path; {
			next := dir
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				child := filepath.Join(dir, e.Name())
				if workspace.InFolder(path, child) {
					next = child
				} else {
					rest = append(rest, child)
				}
			}
			if next == dir {
				break // path does not exist yet
			}
			dir = next
		}
	}
	return rest
}
