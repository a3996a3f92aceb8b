package watch

import (
	"errors"

	"github.com/fsnotify/fsnotify"
)

// treeUnsupported is the reason when changes below a folder are not reported.
const treeUnsupported = "this system does not report changes in folders below"

// treeReport is a report of a system that watches the whole tree below a folder.
type treeReport struct {
	top     string
	events  []fsnotify.Event
	folders []string // folders in which something changed; absolute, below top
	lost    bool     // some changes are missing
	err     error    // there are no further reports; a shallow error says why
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
		var why treeError
		if errors.As(n.err, &why) {
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
