package watch

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/node/workspace"
)

const maxChangedFolders = 200

// treeChanges are the changes in the tree below a folder; nil if it is watched alone.
type treeChanges struct {
	changed           map[string]bool // folders, as relative paths with slashes
	overflow          bool
	problem           string // why watching the tree was stopped
	isProblemReported bool
}

func (b *treeChanges) isWatched() bool { return b != nil && b.problem == "" }

func (b *treeChanges) mark(rel string) {
	if b.changed[filepath.ToSlash(rel)] = true; len(b.changed) > maxChangedFolders {
		b.overflow = true
		clear(b.changed)
	}
}

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

// relativePath returns the path from a folder to one below it; empty for itself.
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

// treeUnsupported is the reason when changes below a folder are not reported.
const treeUnsupported = "this system does not report changes in folders below"

type treeReport struct {
	top     string
	folders []string // folders in which something changed; absolute
	lost    bool     // some changes are missing
	err     error    // there are no further reports; a treeError says why
}

// treeError is the reason why a tree is no longer watched, as a clause for people.
type treeError string

func (s treeError) Error() string { return string(s) }

func (w *Watcher) watchTree(d *folder) {
	d.tree = &treeChanges{changed: make(map[string]bool)}
	tree, err := w.openTree(d.dir.Abs)
	if err != nil {
		d.tree.problem = treeUnsupported
		w.wakeUp()
		return
	}
	d.treeCloser = tree
}

func (w *Watcher) handleTreeReport(n treeReport) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.folders[n.top]
	if d == nil || !d.tree.isWatched() {
		return
	}
	for _, abs := range n.folders {
		if rel, ok := relativePath(n.top, abs); ok && rel != "" {
			d.tree.mark(rel)
			d.stale = true // the time of a folder in it may have changed
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

func (w *Watcher) publishChanges() {
	w.mu.Lock()
	var out []Change
	for abs, d := range w.folders {
		if d.known == nil { // its first list has not arrived yet
			continue
		}
		c := Change{Dir: abs}
		if d.stale {
			c = w.relist(abs, d)
			d.stale = false
		}
		d.tree.addTo(&c)
		if !c.isEmpty() {
			out = append(out, c)
		}
	}
	w.mu.Unlock()
	for _, c := range out {
		w.publish(c)
	}
}

func (w *Watcher) checkMoved() (moved bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for abs, d := range w.folders {
		if fresh := d.reopen(w.ws, abs); fresh != nil {
			fresh.Close()
			continue
		}
		d.stale, moved = true, true
	}
	return moved
}

// reopen opens a folder again; nil if its path now leads elsewhere.
func (d *folder) reopen(ws *workspace.Root, abs string) *workspace.Dir {
	fresh, err := ws.OpenDir(workspace.Path{Abs: abs})
	if err != nil {
		return nil
	}
	if fresh.Abs != abs || !workspace.SameDir(fresh, d.dir) {
		fresh.Close()
		return nil
	}
	return fresh
}

// relist lists a folder again. If it was replaced, it is no longer watched.
func (w *Watcher) relist(abs string, d *folder) Change {
	fresh := d.reopen(w.ws, abs)
	if fresh == nil {
		w.stopWatching(abs, d)
		return Change{Dir: abs, MustRelist: true}
	}
	defer fresh.Close()
	c := Change{Dir: abs}
	seen := make(map[string]bool, len(d.known))
	err := fresh.Infos(func(i workspace.Info) bool {
		seen[i.Name] = true
		if d.known[i.Name] != i {
			d.known[i.Name] = i
			c.Entries = append(c.Entries, i)
		}
		return true
	})
	if err != nil {
		return Change{Dir: abs, MustRelist: true}
	}
	for name := range d.known {
		if !seen[name] {
			delete(d.known, name)
			c.Removed = append(c.Removed, name)
		}
	}
	return c
}
