package workspace

import (
	"errors"

	"github.com/fsnotify/fsnotify"
)

// noTree is the reason when changes below a folder are not reported.
const noTree = "this system does not tell of changes in folders below"

// treeNews is a report of a system that watches the whole tree below a folder.
type treeNews struct {
	top     string
	events  []fsnotify.Event
	folders []string // folders in which something changed; absolute, below top
	lost    bool     // some changes are missing
	err     error    // there are no further reports; a shallow error says why
}

// shallow is the reason why a tree is no longer watched, as a clause for people.
type shallow string

func (s shallow) Error() string { return string(s) }

// deepen starts watching the tree below a folder.
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

// hear handles a report about a tree.
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
		d.all, d.below.why = true, noTree // the folder itself may be gone
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
