package watch

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"fairlead/node/workspace"
)

const (
	// maxSubfolders is the maximum number of watched folders below others: the system's limit is
	// shared by all programs of a person.
	maxSubfolders = 8192
	// maxDepth is the maximum depth: a handle per level is open while folders are searched for.
	maxDepth = 100
)

// subfolderLimit is the maximum number of watched folders below others: at most a quarter of the
// limit for all programs of a person, where the system (Linux) names one.
func subfolderLimit() int {
	text, _ := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		return min(maxSubfolders, n/4)
	}
	return maxSubfolders
}

// subfolders is the set of watched folders below others. It is part of a Watcher, whose lock guards
// it.
type subfolders struct {
	watched map[string]bool // the folders below others that the system watches
	pending []string        // folders whose tree must be walked
	removed map[string]bool // of watched: folders that were moved or removed
	created map[string]bool // new entries that may be folders
}

func newSubfolders() subfolders {
	return subfolders{watched: make(map[string]bool), removed: make(map[string]bool), created: make(map[string]bool)}
}

// isInTree reports whether a folder lies below a watched tree other than that of except.
func (w *Watcher) isInTree(dir, except string) bool {
	for abs, d := range w.folders {
		if rel, ok := relativePath(abs, dir); ok && rel != "" && abs != except && d.tree.isWatched() {
			return true
		}
	}
	return false
}

// removeTree stops watching the tree below a folder, except for parts that belong to another
// watched tree.
func (w *Watcher) removeTree(abs string) {
	for dir := range w.watched {
		if _, ok := relativePath(abs, dir); ok && !w.isInTree(dir, abs) {
			w.removeSubfolder(dir)
		}
	}
}

func (w *Watcher) removeSubfolder(dir string) {
	delete(w.watched, dir)
	if w.folders[dir] == nil {
		w.notifier.Remove(dir) // it may have stopped by itself
	}
}

// updateTrees watches new folders and stops watching removed ones.
func (w *Watcher) updateTrees() {
	w.mu.Lock()
	walks, gone, made := w.pending, w.removed, w.created
	w.pending, w.removed, w.created = nil, make(map[string]bool), make(map[string]bool)
	for dir := range w.watched {
		if len(gone) > 0 && isInAny(dir, gone) {
			w.removeSubfolder(dir)
			if d := w.folders[dir]; d != nil {
				d.stale = true // a folder above it was moved
			}
		}
	}
	if len(gone) > 0 {
		for _, dir := range lostWatches(w.watched, w.notifier.WatchList()) {
			delete(w.watched, dir)
			made[dir] = true
		}
	}
	w.mu.Unlock()
	for _, abs := range walks {
		w.addTree(abs, false)
	}
	for abs := range made {
		if real, info, err := w.ws.Target(workspace.Path{Abs: abs}); err == nil && real.Abs == abs && info.IsDir() {
			if w.byTree {
				w.mu.Lock()
				w.markCreated(abs)
				w.mu.Unlock()
			} else {
				w.addTree(abs, true)
			}
		}
	}
}

// lostWatches returns the folders that the system does not watch any more. It knows a folder by its
// first path: if a folder was moved while a walk found it at its new path, its watch ended with the
// old one.
func lostWatches(watched map[string]bool, system []string) []string {
	lost := maps.Clone(watched)
	for _, path := range system {
		delete(lost, path)
	}
	return slices.Collect(maps.Keys(lost))
}

// addTree watches a folder and its tree. New folders are reported as changed.
func (w *Watcher) addTree(abs string, came bool) {
	d, err := w.ws.OpenDir(workspace.Path{Abs: abs})
	if err != nil {
		return
	}
	defer d.Close()
	if d.Abs == abs {
		w.addSubfolders(d, 0, came)
	}
}

// addSubfolders watches a folder before it searches for subfolders, so that a folder that is
// created meanwhile is either found or reported.
func (w *Watcher) addSubfolders(d *workspace.Dir, level int, came bool) {
	select {
	case <-w.quit:
		return
	default:
	}
	if !w.addSubfolder(d.Abs, level == 0 && !came, came) || level == maxDepth {
		return
	}
	var names []string
	d.Each(func(e workspace.Entry) bool {
		if e.IsDir() && !workspace.IsInternal(e.Name) && !w.ws.Skips(d, e.Name) {
			names = append(names, strings.Clone(e.Name))
		}
		return true
	}) // a folder that cannot be read is skipped
	for _, name := range names {
		if sub, err := d.Sub(name); err == nil {
			w.addSubfolders(sub, level+1, came)
			sub.Close()
		}
	}
}

// addSubfolder watches one folder, unless it is the top one, which is watched already. It reports
// whether to continue below it.
func (w *Watcher) addSubfolder(abs string, top, came bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.folders[abs]; !w.isInTree(abs, "") && (!top || d == nil || !d.tree.isWatched()) {
		return false // no longer wanted
	}
	if !top && !w.watched[abs] {
		if len(w.watched) >= w.maxSubfolders {
			w.stopTrees(abs, fmt.Sprintf("there are more than %d folders below", w.maxSubfolders))
			return false
		}
		if err := w.notifier.Add(abs); err != nil {
			if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) {
				w.stopTrees(abs, "the system's limit of watched folders is reached")
			}
			return false
		}
		w.watched[abs] = true
	}
	if came {
		w.markCreated(abs)
	}
	return true
}

// markCreated reports a new folder as changed. The caller holds the lock.
func (w *Watcher) markCreated(abs string) {
	for top, d := range w.folders {
		if rel, ok := relativePath(top, abs); ok && d.tree.isWatched() && rel != "" {
			d.tree.mark(rel)
		}
	}
}

// stopTrees stops watching all trees that contain a folder.
func (w *Watcher) stopTrees(abs, why string) {
	for top, d := range w.folders {
		if _, ok := relativePath(top, abs); ok && d.tree.isWatched() {
			d.tree.problem = why
			w.removeTree(top)
		}
	}
}
