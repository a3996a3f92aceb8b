// Package floor lists the files of a folder that decide which programs run later: settings of
// version control, of shells, of editors and of agents ([sensitive.Startup]). Contained commands
// cannot change them.
//
// The list has what exists. Of a repository it has only what runs programs: its hooks and its
// configuration, not its data, which every commit changes. It leaves out folders that package
// managers and compilers fill and replace as a whole, except a few known places for a look after a
// command ([List.All]).
package floor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/sensitive"
	"fairlead/node/workspace"
)

const (
	// maxTrees is the number of lists that are remembered.
	maxTrees = 32
	// maxFolders is the number of folders of a tree that are listed, outer ones first. A workspace
	// has fewer; a home folder may have more.
	maxFolders = 20_000
	// settled is the age from which a time of change tells two states of a folder apart on every
	// file system.
	settled = 2 * time.Second
)

// List finds files by walks. It remembers folders, so that a further walk only reads the folders
// that have changed: some milliseconds for 50,000 files. It is safe for concurrent use.
type List struct {
	mu    sync.Mutex
	trees map[string]map[string]*folder // by the list, then by path
}

// folder is the content of a folder at a time.
type folder struct {
	changed time.Time
	stable  bool // an equal time of change means an equal content
	files   []string
	stores  []string // of repositories
	filled  []string // by package managers
	below   []string
}

// Files returns the floor files in a folder and all below it that exist now: absolute, sorted,
// with outer paths first. A folder in the list stands for everything in it. dir is absolute and
// without symbolic links. A folder that cannot be read is in the list as a whole.
func (l *List) Files(dir string) []string {
	files, _ := l.find(dir)
	return files
}

// All also returns the files that package managers write: the programs and start files of Python's
// environments and of node_modules.
func (l *List) All(dir string) (files, filled []string) {
	files, folders := l.find(dir)
	for _, dir := range folders {
		filled = append(filled, filledFiles(dir)...)
	}
	return files, filled
}

func (l *List) find(dir string) (files, filled []string) {
	if slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), ".cache") {
		return nil, nil // a folder that was granted to a compiler, such as ~/.cache/go-build
	}
	home, _ := os.UserHomeDir() // without it, every folder may be one
	return l.walk(dir, dir, func(f *folder, path string, e os.DirEntry) bool { return f.isFloor(path, home, e) })
}

// walk returns what matches in the tree of a folder, and the folders that package managers fill. key
// stands for the folder and the match.
func (l *List) walk(key, dir string, match matcher) (files, filled []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trees == nil {
		l.trees = map[string]map[string]*folder{}
	}
	before, now := l.trees[key], map[string]*folder{}
	queue := []string{dir}
	for i := 0; i < len(queue) && i < maxFolders; i++ {
		f := read(queue[i], before[queue[i]], match)
		if f == nil {
			continue
		}
		now[queue[i]] = f
		files, filled = append(files, f.files...), append(filled, f.filled...)
		for _, store := range f.stores {
			files = append(files, repository(store)...)
		}
		queue = append(queue, f.below...)
	}
	if len(l.trees) >= maxTrees {
		clear(l.trees)
	}
	l.trees[key] = now
	slices.Sort(files)
	slices.Sort(filled)
	return slices.Compact(files), slices.Compact(filled)
}

// matcher reports whether an entry of a folder belongs to the list or was recorded otherwise; the
// walk does not look below it.
type matcher func(f *folder, path string, e os.DirEntry) bool

// read returns the content of a folder: the one before if the folder has not changed, nil if it is
// none or cannot be read.
func read(dir string, before *folder, match matcher) *folder {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	at := changed(info)
	if before != nil && before.stable && before.changed.Equal(at) {
		return before
	}
	f := &folder{changed: at, stable: time.Since(at) > settled}
	d, err := os.Open(dir)
	if err != nil {
		f.files = []string{dir} // else a command could close it to make another one find it unprotected
		return f
	}
	defer d.Close()
	entries, _ := d.ReadDir(-1)
	if len(entries) > 0 && isClosed(filepath.Join(dir, entries[0].Name())) {
		f.files = []string{dir}
		return f
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !match(f, path, e) && e.IsDir() && !replaced[strings.ToLower(e.Name())] {
			f.below = append(f.below, path)
		}
	}
	return f
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
	case isFilled(name) && e.IsDir():
		f.filled = append(f.filled, path)
	case name == "pyvenv.cfg":
		f.filled = append(f.filled, filepath.Dir(path))
	case workspace.IsInternal(e.Name()):
	case isData(name), !mayMatch(name) || !isStartup(path, home):
		return false
	default:
		f.files = append(f.files, path)
	}
	return true
}

// isData recognizes names in a repository that every command of version control changes.
func isData(name string) bool { return name == "head" || name == ".fslckout" || name == "_fossil_" }

// replaced are folders that package managers and compilers fill and replace as a whole.
var replaced = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq("node_modules bower_components vendor .venv venv .tox .nox site-packages __pycache__ target build dist out _deps " +
		".cache .npm .gradle .terraform .next .nuxt .direnv .svn") {
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
