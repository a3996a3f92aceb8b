package workspace

import (
	"errors"
	"io/fs"
)

// flush reports the collected changes.
func (w *Watcher) flush() {
	w.mu.Lock()
	var out []Changed
	for abs, d := range w.dirs {
		if d.known == nil { // its first list has not arrived yet
			continue
		}
		c := Changed{Dir: abs}
		switch {
		case d.all:
			c = w.again(abs, d)
		case len(d.dirty) > 0:
			c = d.look(abs)
		}
		clear(d.dirty)
		d.all = false
		d.below.say(&c)
		if !c.empty() {
			out = append(out, c)
		}
	}
	w.mu.Unlock()
	for _, c := range out {
		w.tell(c)
	}
}

// look looks up the names that may have changed.
func (d *watched) look(abs string) Changed {
	c := Changed{Dir: abs}
	for name := range d.dirty {
		if own(name) {
			continue
		}
		d.compare(&c, name)
	}
	return c
}

func (d *watched) compare(c *Changed, name string) {
	info, err := d.dir.Info(name)
	was, had := d.known[name]
	switch {
	case err == nil && (!had || info != was):
		d.known[name] = info
		c.Entries = append(c.Entries, info)
	case errors.Is(err, fs.ErrNotExist) && had:
		delete(d.known, name)
		c.Gone = append(c.Gone, name)
	}
}

// check reports whether a folder has been moved or removed.
func (w *Watcher) check() bool {
	w.mu.Lock()
	held := make([]*Dir, 0, len(w.dirs))
	for _, d := range w.dirs {
		d.dir.Retain()
		held = append(held, d.dir)
	}
	w.mu.Unlock()
	moved := false
	for _, dir := range held {
		fresh, err := w.ws.OpenDir(Path{Abs: dir.Abs})
		if err == nil && fresh.Abs == dir.Abs && sameDir(fresh, dir) {
			fresh.Release()
			dir.Release()
			continue
		}
		if err == nil {
			fresh.Release()
		}
		w.mu.Lock()
		if d := w.dirs[dir.Abs]; d != nil && d.dir == dir {
			d.all, moved = true, true
		}
		w.mu.Unlock()
		dir.Release()
	}
	return moved
}

// again lists a folder again and reports the difference. If the folder was replaced, it is no
// longer watched.
func (w *Watcher) again(abs string, d *watched) Changed {
	fresh, err := w.ws.OpenDir(Path{Abs: abs})
	if err != nil || fresh.Abs != abs || !sameDir(fresh, d.dir) {
		if err == nil {
			fresh.Release()
		}
		w.drop(abs, d)
		return Changed{Dir: abs, Again: true}
	}
	defer fresh.Release()
	c := Changed{Dir: abs}
	seen := make(map[string]bool, len(d.known))
	err = fresh.Infos(func(i Info) bool {
		seen[i.Name] = true
		if d.known[i.Name] != i {
			d.known[i.Name] = i
			c.Entries = append(c.Entries, i)
		}
		return true
	})
	if err != nil {
		return Changed{Dir: abs, Again: true}
	}
	for name := range d.known {
		if !seen[name] {
			delete(d.known, name)
			c.Gone = append(c.Gone, name)
		}
	}
	return c
}
