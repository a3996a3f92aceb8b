package workspace

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

const (
	// deepFolders bounds the folders that are watched below others: the system's share is for all programs of a person.
	deepFolders = 8192
	// deepLevels bounds how deep they lie: an open handle is held for each level while they are looked for.
	deepLevels = 100
)

// wood is what is watched below folders. It is part of a Watcher, whose lock guards it.
type wood struct {
	under map[string]bool // the folders below others that the system watches
	walks []string        // folders whose tree is to be looked for
	gone  map[string]bool // of under: what was there has another place, or none
	made  map[string]bool // what came, and may be a folder
}

func newWood() wood {
	return wood{under: make(map[string]bool), gone: make(map[string]bool), made: make(map[string]bool)}
}

// covers reports whether a folder lies below one whose tree is watched, and which is another one than except.
func (w *Watcher) covers(dir, except string) bool {
	for abs, d := range w.dirs {
		if rel, ok := beneath(abs, dir); ok && rel != "" && abs != except && d.below.open() {
			return true
		}
	}
	return false
}

// uncover ends the watching below a folder, but for what lies below another one whose tree is watched.
func (w *Watcher) uncover(abs string) {
	for dir := range w.under {
		if _, ok := beneath(abs, dir); ok && !w.covers(dir, abs) {
			w.forget(dir)
		}
	}
}

func (w *Watcher) forget(dir string) {
	delete(w.under, dir)
	if w.dirs[dir] == nil {
		w.fsn.Remove(dir) // it may have ended by itself
	}
}

// grow watches folders that came and leaves those that went.
func (w *Watcher) grow() {
	w.mu.Lock()
	walks, gone, made := w.walks, w.gone, w.made
	w.walks, w.gone, w.made = nil, make(map[string]bool), make(map[string]bool)
	for dir := range w.under {
		if len(gone) > 0 && lies(dir, gone) {
			w.forget(dir)
			if d := w.dirs[dir]; d != nil {
				d.all = true // with a folder above it, it has another place
			}
		}
	}
	w.mu.Unlock()
	for _, abs := range walks {
		w.walk(abs, false)
	}
	for abs := range made {
		if info, err := w.ws.fs.Lstat(abs); err == nil && info.IsDir() {
			if w.whole {
				w.came(abs)
			} else {
				w.walk(abs, true)
			}
		}
	}
}

// walk watches a folder and all below it. What came just now has changed.
func (w *Watcher) walk(abs string, came bool) {
	d, err := w.ws.OpenDir(Path{Abs: abs})
	if err != nil {
		return
	}
	defer d.Release()
	if d.Abs == abs {
		w.cover(d, 0, came)
	}
}

// cover watches a folder before it looks for those in it, so that one that comes meanwhile is found or told of.
func (w *Watcher) cover(d *Dir, level int, came bool) {
	select {
	case <-w.quit:
		return
	default:
	}
	if !w.claim(d.Abs, level == 0 && !came, came) || level == deepLevels {
		return
	}
	var names []string
	d.Each(func(e Entry) bool {
		if e.IsDir() && !own(e.Name) && !w.ws.Skips(d, e.Name) {
			names = append(names, strings.Clone(e.Name))
		}
		return true
	}) // of one that cannot be read nothing is watched
	for _, name := range names {
		if sub, err := d.Sub(name); err == nil {
			w.cover(sub, level+1, came)
			sub.Release()
		}
	}
}

// claim watches one folder, unless it is the one at the top, which is watched already. It reports whether to go on below it.
func (w *Watcher) claim(abs string, top, came bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.dirs[abs]; !w.covers(abs, "") && (!top || d == nil || !d.below.open()) {
		return false // nobody wants it any more
	}
	if !top && !w.under[abs] {
		if len(w.under) >= w.limit {
			w.giveUp(abs, tooMany(w.limit))
			return false
		}
		if err := w.fsn.Add(abs); err != nil {
			if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) {
				w.giveUp(abs, "the system watches no more folders for this person")
			}
			return false
		}
		w.under[abs] = true
	}
	if came {
		w.cameLocked(abs)
	}
	return true
}

// came says of a folder that came just now that it has changed.
func (w *Watcher) came(abs string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cameLocked(abs)
}

func (w *Watcher) cameLocked(abs string) {
	for top, d := range w.dirs {
		if rel, ok := beneath(top, abs); ok && d.below.open() && rel != "" {
			d.below.mark(rel)
		}
	}
}

func tooMany(limit int) string {
	return fmt.Sprintf("there are more than %d folders below", limit)
}

// giveUp ends the watching of all trees that a folder is in.
func (w *Watcher) giveUp(abs, why string) {
	for top, d := range w.dirs {
		if _, ok := beneath(top, abs); ok && d.below.open() {
			d.below.why = why
			w.uncover(top)
		}
	}
}
