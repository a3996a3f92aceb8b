package workspace

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

const (
	// deepFolders is the maximum number of watched folders below others: the system's limit is
	// shared by all programs of a person.
	deepFolders = 8192
	// deepLevels is the maximum depth: a handle per level is open while folders are searched for.
	deepLevels = 100
)

// wood is the set of watched folders below others. It is part of a Watcher, whose lock guards it.
type wood struct {
	under map[string]bool // the folders below others that the system watches
	walks []string        // folders whose tree must be walked
	gone  map[string]bool // of under: folders that were moved or removed
	made  map[string]bool // new entries that may be folders
}

func newWood() wood {
	return wood{under: make(map[string]bool), gone: make(map[string]bool), made: make(map[string]bool)}
}

// covers reports whether a folder lies below a watched tree other than that of except.
func (w *Watcher) covers(dir, except string) bool {
	for abs, d := range w.dirs {
		if rel, ok := beneath(abs, dir); ok && rel != "" && abs != except && d.below.open() {
			return true
		}
	}
	return false
}

// uncover stops watching the tree below a folder, except for parts that belong to another watched
// tree.
func (w *Watcher) uncover(abs string) {
	for dir := range w.under {
		if _, ok := beneath(abs, dir); ok && !w.covers(dir, abs) {
			w.forget(dir)
		}
	}
}

func (w *Watcher) forget(dir string) {
	delete(w.under, dir)
	if w.dirs[dir] == nil {
		w.fsn.Remove(dir) // it may have stopped by itself
	}
}

// grow watches new folders and stops watching removed ones.
func (w *Watcher) grow() {
	w.mu.Lock()
	walks, gone, made := w.walks, w.gone, w.made
	w.walks, w.gone, w.made = nil, make(map[string]bool), make(map[string]bool)
	for dir := range w.under {
		if len(gone) > 0 && lies(dir, gone) {
			w.forget(dir)
			if d := w.dirs[dir]; d != nil {
				d.all = true // a folder above it was moved
			}
		}
	}
	w.mu.Unlock()
	for _, abs := range walks {
		w.walk(abs, false)
	}
	for abs := range made {
		if info, err := w.ws.fs.Lstat(abs); err == nil && info.IsDir() {
			if w.whole {
				w.came(abs)
			} else {
				w.walk(abs, true)
			}
		}
	}
}

// walk watches a folder and its tree. New folders are reported as changed.
func (w *Watcher) walk(abs string, came bool) {
	d, err := w.ws.OpenDir(Path{Abs: abs})
	if err != nil {
		return
	}
	defer d.Release()
	if d.Abs == abs {
		w.cover(d, 0, came)
	}
}

// cover watches a folder before it searches for subfolders, so that a folder that is created
// meanwhile is either found or reported.
func (w *Watcher) cover(d *Dir, level int, came bool) {
	select {
	case <-w.quit:
		return
	default:
	}
	if !w.claim(d.Abs, level == 0 && !came, came) || level == deepLevels {
		return
	}
	var names []string
	d.Each(func(e Entry) bool {
		if e.IsDir() && !own(e.Name) && !w.ws.Skips(d, e.Name) {
			names = append(names, strings.Clone(e.Name))
		}
		return true
	}) // a folder that cannot be read is skipped
	for _, name := range names {
		if sub, err := d.Sub(name); err == nil {
			w.cover(sub, level+1, came)
			sub.Release()
		}
	}
}

// claim watches one folder, unless it is the top one, which is watched already. It reports whether
// to continue below it.
func (w *Watcher) claim(abs string, top, came bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.dirs[abs]; !w.covers(abs, "") && (!top || d == nil || !d.below.open()) {
		return false // no longer wanted
	}
	if !top && !w.under[abs] {
		if len(w.under) >= w.limit {
			w.giveUp(abs, tooMany(w.limit))
			return false
		}
		if err := w.fsn.Add(abs); err != nil {
			if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) {
				w.giveUp(abs, "the system watches no more folders for this person")
			}
			return false
		}
		w.under[abs] = true
	}
	if came {
		w.cameLocked(abs)
	}
	return true
}

// came reports a new folder as changed.
func (w *Watcher) came(abs string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cameLocked(abs)
}

func (w *Watcher) cameLocked(abs string) {
	for top, d := range w.dirs {
		if rel, ok := beneath(top, abs); ok && d.below.open() && rel != "" {
			d.below.mark(rel)
		}
	}
}

func tooMany(limit int) string {
	return fmt.Sprintf("there are more than %d folders below", limit)
}

// giveUp stops watching all trees that contain a folder.
func (w *Watcher) giveUp(abs, why string) {
	for top, d := range w.dirs {
		if _, ok := beneath(top, abs); ok && d.below.open() {
			d.below.why = why
			w.uncover(top)
		}
	}
}
