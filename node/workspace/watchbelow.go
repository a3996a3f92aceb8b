package workspace

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// maxBelow is the maximum number of changed folders in one report.
const maxBelow = 200

// below collects the changes in the tree below a folder. It is nil for a folder that is watched
// alone.
type below struct {
	changed map[string]bool // folders, as relative paths with slashes
	much    bool
	why     string // why watching the tree was stopped
	told    bool   // and that was reported
}

func (b *below) open() bool { return b != nil && b.why == "" }

func (b *below) mark(rel string) {
	if b.changed[filepath.ToSlash(rel)] = true; len(b.changed) > maxBelow {
		b.much = true
		clear(b.changed)
	}
}

// say adds the collected changes to a report.
func (b *below) say(c *Changed) {
	switch {
	case b == nil || c.Again:
		return
	case b.why != "":
		if !b.told {
			c.Shallow, b.told = b.why, true
		}
		return
	case b.much:
		c.Rescan = true
	default:
		c.Below = slices.Sorted(maps.Keys(b.changed))
	}
	b.much = false
	clear(b.changed)
}

// noteBelow records an event for the folders above it whose trees are watched.
func (w *Watcher) noteBelow(e fsnotify.Event) {
	dir, name := filepath.Split(e.Name)
	dir = filepath.Clean(dir)
	if own(name) {
		return
	}
	covered := false
	for abs, d := range w.dirs {
		rel, ok := beneath(abs, dir)
		if !ok || !d.below.open() {
			continue
		}
		if covered = true; rel != "" {
			d.noteFolder(rel)
		}
	}
	if !covered {
		return
	}
	if e.Has(fsnotify.Create) {
		w.made[e.Name] = true
	}
	if w.under[e.Name] && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		w.gone[e.Name] = true
	}
}

// noteFolder records a folder below in which something changed.
func (d *watched) noteFolder(rel string) {
	d.below.mark(rel)
	first, _, _ := strings.Cut(rel, separator)
	d.dirty[first] = true // its modification time has changed
}

// beneath returns the relative path from a folder to one below it; empty for the folder itself.
// Both are absolute and clean.
func beneath(dir, path string) (string, bool) {
	if dir == path {
		return "", true
	}
	rest, ok := strings.CutPrefix(path, dir)
	if ok && !strings.HasSuffix(dir, separator) {
		rest, ok = strings.CutPrefix(rest, separator)
	}
	return rest, ok
}

// lies reports whether a folder is one of a set or below one.
func lies(dir string, set map[string]bool) bool {
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
