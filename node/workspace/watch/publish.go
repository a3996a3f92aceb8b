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
func (w *Watcher) checkMoved() bool {
	w.mu.Lock()
	dirs := make([]*workspace.Dir, 0, len(w.folders))
	for _, d := range w.folders {
		d.dir.Retain()
		dirs = append(dirs, d.dir)
	}
	w.mu.Unlock()
	moved := false
	for _, dir := range dirs {
		fresh, err := w.ws.OpenDir(workspace.Path{Abs: dir.Abs})
		if err == nil && fresh.Abs == dir.Abs && workspace.SameDir(fresh, dir) {
			fresh.Release()
			dir.Release()
			continue
		}
		if err == nil {
			fresh.Release()
		}
		w.mu.Lock()
		if d := w.folders[dir.Abs]; d != nil && d.dir == dir {
			d.stale, moved = true, true
		}
		w.mu.Unlock()
		dir.Release()
	}
	return moved
}

// relist lists a folder again and reports the difference. If the folder was replaced, it is no
// longer watched.
func (w *Watcher) relist(abs string, d *folder) Change {
	fresh, err := w.ws.OpenDir(workspace.Path{Abs: abs})
	if err != nil || fresh.Abs != abs || !workspace.SameDir(fresh, d.dir) {
		if err == nil {
			fresh.Release()
		}
		w.stopWatching(abs, d)
		return Change{Dir: abs, MustRelist: true}
	}
	defer fresh.Release()
	c := Change{Dir: abs}
	seen := make(map[string]bool, len(d.known))
	err = fresh.Infos(func(i workspace.Info) bool {
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
