package floor

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	// maxTrees is the number of lists that are remembered.
	maxTrees = 32
	// maxFolders is the number of folders of a tree that are listed: those of the walk before, then
	// new ones, outer ones first. A workspace has fewer; a home folder may have more.
	maxFolders = 20_000
	// settled is the age from which a time of change tells two states of a folder apart on every
	// file system.
	settled = 2 * time.Second
)

// List finds files by walks. It remembers folders, so that a further walk reads only those that have
// changed. One made by [New] learns from the system which have: less than a millisecond for 50,000
// files in 5,000 folders. The zero value, and any list where the system cannot be trusted in that,
// asks for the time of change of each folder, which takes twenty times as long. It is safe for
// concurrent use.
type List struct {
	mu      sync.Mutex // guards the fields below; held while folders are read, because all callers need them
	trees   map[string]*tree
	watch   *watcher        // nil: every folder is checked
	crowds  *crowds         // nil: nobody looks into them
	touched map[string]bool // nil: nobody wants to know
	caches  []string        // granted folders that are left out as a whole
	limit   int             // instead of maxFolders, for tests
}

// New returns a list that follows changes by the reports of the system. Close releases them.
func New() *List { return &List{watch: newWatcher(), crowds: newCrowds()} }

// Close stops following changes. The list can still be used.
func (l *List) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch.close()
	l.crowds.close()
	l.watch, l.crowds, l.trees = nil, nil, nil
}

// tree is a list with the folders that it is made of.
type tree struct {
	folders map[string]*folder // by path
	state   watchState         // at the walk
	// isWatched says that the system reports about all folders.
	isWatched bool

	// The same as in a folder, of all.
	files, stores, filled, links, crowded, inner, innerStores []string
}

// folder is the content of a folder at a time.
type folder struct {
	path    string
	info    os.FileInfo
	changed time.Time
	stable  bool // an equal time of change means an equal content
	files   []string
	stores  []string // of repositories
	filled  []string // by package managers
	links   []string // those of files that are symbolic links
	crowded []string // that programs fill
	// inner and innerStores are files and stores in folders that programs fill.
	inner, innerStores []string

	below   []string
	level   int   // in a folder that programs fill; see levelOf
	watchID int32 // 0: the system does not report about it
	isDirty bool  // the system reported a change
}

// found is the result of a walk.
type found struct {
	files  []string // sorted
	inner  []string // in folders that programs fill
	filled []string // folders and files that programs fill
	linked []string // where links among the files lead
}

// walk returns what matches in the tree of a folder. key stands for the folder and the match.
func (l *List) walk(key, dir string, match matcher) (f found) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch.update(l.touch)
	t := l.trees[key]
	if !t.isCurrent(l.watch, dir) {
		if len(l.trees) >= maxTrees && t == nil {
			l.forget()
		}
		t = l.readTree(t, dir, match)
		if l.trees == nil {
			l.trees = map[string]*tree{}
		}
		l.trees[key] = t
	}
	f = found{files: slices.Clone(t.files), inner: slices.Clone(t.inner), filled: slices.Clone(t.filled)}
	for _, store := range t.stores {
		files, todos := repository(store)
		f.files, f.filled = append(f.files, files...), append(f.filled, todos...)
	}
	for _, store := range t.innerStores {
		files, todos := repository(store)
		f.inner, f.filled = append(f.inner, files...), append(f.filled, todos...)
	}
	for _, link := range t.links {
		f.linked = append(f.linked, leadsTo(link, dir)...)
	}
	slices.Sort(f.files)
	f.files = slices.Compact(f.files)
	return f
}

func (l *List) forget() {
	for _, t := range l.trees {
		for _, f := range t.folders {
			l.watch.remove(f)
		}
	}
	clear(l.trees)
}

// isCurrent reports whether no folder of the tree has changed, by the reports of the system.
func (t *tree) isCurrent(w *watcher, dir string) bool {
	return t != nil && t.isWatched && t.state == w.current() && t.isAt(dir)
}

// isAt reports whether the top folder is still the same: the system does not report that a folder
// above it was moved.
func (t *tree) isAt(dir string) bool {
	top := t.folders[dir]
	info, err := os.Lstat(dir)
	return err == nil && top != nil && os.SameFile(top.info, info)
}

// readTree lists a tree, with the content of folders that have not changed since before.
func (l *List) readTree(before *tree, dir string, match matcher) *tree {
	var known map[string]*folder
	if before != nil && before.isAt(dir) {
		known = before.folders
	}
	t := &tree{folders: make(map[string]*folder, len(known)), state: l.watch.current(), isWatched: true}
	r := reader{list: l, dir: dir, match: match, isFirst: before == nil, trusts: before != nil && l.watch != nil && before.state.losses == t.state.losses}
	// Folders that are known come first, so that many new ones cannot push any of them out, and those
	// that programs fill last.
	queue, fresh, inner := []string{dir}, []string(nil), []string(nil)
	for len(queue)+len(fresh)+len(inner) > 0 {
		if len(queue) == 0 {
			if len(fresh) == 0 {
				fresh, inner = inner, nil
			}
			if len(t.folders) >= cmp.Or(l.limit, maxFolders) {
				break
			}
			queue, fresh = fresh[:1], fresh[1:]
		}
		path := queue[0]
		queue = queue[1:]
		f := r.read(path, known[path])
		if f == nil {
			continue
		}
		t.folders[path] = f
		t.isWatched = t.isWatched && f.watchID != 0
		t.files, t.stores, t.filled = append(t.files, f.files...), append(t.stores, f.stores...), append(t.filled, f.filled...)
		t.links, t.crowded = append(t.links, f.links...), append(t.crowded, f.crowded...)
		t.inner, t.innerStores = append(t.inner, f.inner...), append(t.innerStores, f.innerStores...)
		for _, below := range f.below {
			switch {
			case known[below] != nil:
				queue = append(queue, below)
			case f.level > 0 || slices.Contains(f.crowded, below):
				inner = append(inner, below)
			default:
				fresh = append(fresh, below)
			}
		}
	}
	if before != nil {
		for path, f := range before.folders {
			if t.folders[path] != f {
				l.watch.remove(f)
			}
		}
	}
	slices.Sort(t.filled)
	t.filled = slices.Compact(t.filled)
	return t
}

// matcher reports whether an entry of a folder belongs to the list or was recorded otherwise; the
// walk does not look below it.
type matcher func(f *folder, path string, e os.DirEntry) bool

// reader reads the folders of one walk.
type reader struct {
	list    *List
	dir     string // where the walk starts
	match   matcher
	isFirst bool // nothing is known of the tree
	trusts  bool // the system has reported everything since the last walk
}

// read returns the content of a folder: the one before if the folder has not changed, nil if it is
// none or cannot be read.
func (r reader) read(dir string, before *folder) *folder {
	isReported := r.trusts && before != nil && before.watchID != 0
	if isReported && !before.isDirty {
		return before
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	at, _ := ChangeTime(info)
	if before != nil && !before.isDirty && before.stable && before.changed.Equal(at) && os.SameFile(before.info, info) {
		return before
	}
	f := &folder{path: dir, info: info, changed: at, stable: time.Since(at) > settled, level: levelOf(dir, r.dir)}
	r.list.watch.add(f) // first, so that no later change is missed
	d, err := os.Open(dir)
	if err != nil {
		f.setClosed()
		return f
	}
	defer d.Close()
	entries, _ := d.ReadDir(-1)
	if len(entries) > 0 && isClosed(filepath.Join(dir, entries[0].Name())) {
		f.setClosed()
		return f
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !r.isFirst && !isReported && e.Type().IsRegular() && (f.level == 0 || r.list.crowds == nil) {
			r.list.touch(dir, e.Name())
		}
		if !r.match(f, path, e) && e.IsDir() {
			f.below = append(f.below, path)
		}
	}
	return f
}
