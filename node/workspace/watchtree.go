package workspace

import "github.com/fsnotify/fsnotify"

// noTree is said where nothing is heard of what is below a folder.
const noTree = "this system does not tell of changes in folders below"

// treeNews is what a system tells that watches all below a folder at once.
type treeNews struct {
	top    string
	events []fsnotify.Event
	lost   bool  // there were more
	err    error // it tells no more
}

// deepen begins to watch what is below a folder.
func (w *Watcher) deepen(d *watched) {
	if !wholeTrees {
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
	if n.lost {
		d.all, d.below.much = true, true
	}
	if n.err != nil {
		d.all, d.below.why = true, noTree // it may be gone itself
		d.closeTree()
	}
}

func (d *watched) closeTree() {
	if d.tree != nil {
		d.tree.Close()
		d.tree = nil
	}
}
