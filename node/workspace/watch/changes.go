package watch

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/node/workspace"
	"github.com/fsnotify/fsnotify"
)

// maxChangedFolders is the maximum number of changed folders in one report.
const maxChangedFolders = 200

// treeChanges collects the changes in the tree below a folder. It is nil for a folder that is
// watched alone.
type treeChanges struct {
	changed           map[string]bool // folders, as relative paths with slashes
	overflow          bool
	problem           string // why watching the tree was stopped
	isProblemReported bool
}

func (b *treeChanges) isWatched() bool { return b != nil && b.problem == "" }

func (b *treeChanges) mark(rel string) {
	b.changed[filepath.ToSlash(rel)] = true
	if len(b.changed) > maxChangedFolders {
		b.overflow = true
		clear(b.changed)
	}
}

// addTo adds the collected changes to a report.
func (b *treeChanges) addTo(c *Change) {
	switch {
	case b == nil || c.MustRelist:
		return
	case b.problem != "":
		if !b.isProblemReported {
			c.TreeProblem, b.isProblemReported = b.problem, true
		}
		return
	case b.overflow:
		c.AllFolders = true
	default:
		c.Folders = slices.Sorted(maps.Keys(b.changed))
	}
	b.overflow = false
	clear(b.changed)
}

// recordBelow records an event for the folders above it whose trees are watched.
func (w *Watcher) recordBelow(e fsnotify.Event) {
	dir, name := filepath.Split(e.Name)
	dir = filepath.Clean(dir)
	if workspace.IsInternal(name) {
		return
	}
	covered := false
	for abs, d := range w.folders {
		rel, ok := relativePath(abs, dir)
		if !ok || !d.tree.isWatched() {
			continue
		}
		covered = true
		if rel != "" {
			d.markFolder(rel)
		}
	}
	if !covered {
		return
	}
	if e.Has(fsnotify.Create) {
		w.created[e.Name] = true
	}
	if w.watched[e.Name] && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		w.removed[e.Name] = true
	}
}

// markFolder records a folder below in which something changed.
func (d *folder) markFolder(rel string) {
	d.tree.mark(rel)
	first, _, _ := strings.Cut(rel, string(filepath.Separator))
	d.dirty[first] = true // its modification time has changed
}

// relativePath returns the relative path from a folder to one below it; empty for the folder
// itself. Both are absolute and clean.
func relativePath(dir, path string) (string, bool) {
	if dir == path {
		return "", true
	}
	rest, ok := strings.CutPrefix(path, dir)
	if ok && !strings.HasSuffix(dir, string(filepath.Separator)) {
		rest, ok = strings.CutPrefix(rest, string(filepath.Separator))
	}
	return rest, ok
}

// isInAny reports whether a folder is one of a set or below one.
func isInAny(dir string, set map[string]bool) bool {
	for {
		up := filepath.Dir(dir)
		if set[dir] {
			return true
		}
		if up == dir {
			return false
		}
		dir = up
	}
}

// treeUnsupported is the reason when changes below a folder are not reported.
const treeUnsupported = "this system does not report changes in folders below"

// treeReport is a report of a system that watches the whole tree below a folder.
type treeReport struct {
	top     string
	events  []fsnotify.Event
	folders []string // folders in which something changed; absolute, below top
	lost    bool     // some changes are missing
	err     error    // there are no further reports; a treeError says why
}

// treeError is the reason why a tree is no longer watched, as a clause for people.
type treeError string

func (s treeError) Error() string { return string(s) }

// watchTree starts watching the tree below a folder.
func (w *Watcher) watchTree(d *folder) {
	if !w.byTree {
		w.pending = append(w.pending, d.dir.Abs)
		w.wakeUp()
		return
	}
	tree, err := w.openTree(d.dir.Abs)
	if err != nil {
		d.tree.problem = treeUnsupported
		w.wakeUp()
		return
	}
	d.treeCloser = tree
}

// handleTreeReport handles a report about a tree.
func (w *Watcher) handleTreeReport(n treeReport) {
	for _, e := range n.events {
		w.handleEvent(e)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.folders[n.top]
	if d == nil || !d.tree.isWatched() {
		return
	}
	for _, abs := range n.folders {
		if rel, ok := relativePath(n.top, abs); ok && rel != "" {
			d.markFolder(rel)
		}
	}
	if n.lost {
		d.stale, d.tree.overflow = true, true
	}
	if n.err != nil {
		d.stale, d.tree.problem = true, treeUnsupported // the folder itself may be gone
		if why, ok := errors.AsType[treeError](n.err); ok {
			d.tree.problem = string(why)
		}
		d.closeTree()
	}
}

func (d *folder) closeTree() {
	if d.treeCloser != nil {
		d.treeCloser.Close()
		d.treeCloser = nil
	}
}
