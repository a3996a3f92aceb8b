package workspace

import (
	"errors"

	"github.com/fsnotify/fsnotify"
)

// noTree is said where nothing is heard of what is below a folder.
const noTree = "this system does not tell of changes in folders below"

// treeNews is what a system tells that watches all below a folder at once.
type treeNews struct {
	top     string
	events  []fsnotify.Event
	folders []string // absolute, below top, in which something changed
	lost    bool     // there were more
	err     error    // it tells no more; a shallow one says why
}

// shallow is why a tree is watched no more, in half a sentence for the person.
type shallow string

func (s shallow) Error() string { return string(s) }

// deepen begins to watch what is below a folder.
func (w *Watcher) deepen(d *watched) {
	if !w.whole {
		w.walks = append(w.walks, d.dir.Abs)
		w.nudge()
		return
	}
	tree, err := w.openTree(d.dir.Abs)
	if err != nil {
		d.below.why = noTree
		w.nudge()
		return
	}
	d.tree = tree
}

// hear takes news of a tree.
func (w *Watcher) hear(n treeNews) {
	for _, e := range n.events {
		w.note(e)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.dirs[n.top]
	if d == nil || !d.below.open() {
		return
	}
	for _, abs := range n.folders {
		if rel, ok := beneath(n.top, abs); ok && rel != "" {
			d.noteFolder(rel)
		}
	}
	if n.lost {
		d.all, d.below.much = true, true
	}
	if n.err != nil {
		d.all, d.below.why = true, noTree // it may be gone itself
		var why shallow
		if errors.As(n.err, &why) {
			d.below.why = string(why)
		}
		d.closeTree()
	}
}

func (d *watched) closeTree() {
	if d.tree != nil {
		d.tree.Close()
		d.tree = nil
	}
}
