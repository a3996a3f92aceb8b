package watch

import (
	"errors"
	"io/fs"

	"fairlead/node/workspace"
)

// publishChanges reports the collected changes.
func (w *Watcher) publishChanges() {
	w.mu.Lock()
	var out []Change
	for abs, d := range w.folders {
		if d.known == nil { // its first list has not arrived yet
			continue
		}
		c := Change{Dir: abs}
		switch {
		case d.stale:
			c = w.relist(abs, d)
		case len(d.dirty) > 0:
			c = d.compareDirty(abs)
		}
		clear(d.dirty)
		d.stale = false
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

// compareDirty looks up the names that may have changed.
func (d *folder) compareDirty(abs string) Change {
	c := Change{Dir: abs}
	for name := range d.dirty {
		if workspace.IsInternal(name) {
			continue
		}
		d.compareEntry(&c, name)
	}
	return c
}

func (d *folder) compareEntry(c *Change, name string) {
	info, err := d.dir.Info(name)
	was, had := d.known[name]
	switch {
	case err == nil && (!had || info != was):
		d.known[name] = info
		c.Entries = append(c.Entries, info)
	case errors.Is(err, fs.ErrNotExist) && had:
		delete(d.known, name)
		c.Removed = append(c.Removed, name)
	}
}

// checkMoved reports whether a folder has been moved or removed.
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

// relist lists a folder again and reports the difference. If the folder was replaced, it is no
// longer watched.
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
