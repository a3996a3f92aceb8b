package browse

import (
	"slices"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
	"fairlead/node/workspace/watch"
)

// watches holds the watched folders. The watcher is started with the first one.
type watches struct {
	publish func(protocol.FilesChange)

	mu      sync.Mutex // guards the fields below
	watcher *watch.Watcher
	failed  bool
	folders map[string]string // absolute paths of folders, by the gateway's name for the watch
}

// begin watches a folder under a name and returns its path, or "" if it cannot be watched.
func (b *Browser) begin(id string, at workspace.Path, below bool) (abs string) {
	if id == "" {
		return ""
	}
	w := &b.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watcher == nil && !w.failed {
		var err error
		if w.watcher, err = watch.New(b.ws, b.reportChange); err != nil {
			w.failed = true
		}
		w.folders = make(map[string]string)
	}
	if w.failed || w.folders[id] != "" {
		return ""
	}
	abs, err := w.watcher.Add(at, below)
	if err != nil {
		return ""
	}
	w.folders[id] = abs
	return abs
}

// know gives the watcher the entries that a folder had when it was listed.
func (b *Browser) know(abs string, known []workspace.Info) {
	b.watches.mu.Lock()
	watcher := b.watches.watcher
	b.watches.mu.Unlock()
	if watcher != nil {
		watcher.SetContent(abs, known)
	}
}

// Unwatch stops the watch with that name.
func (b *Browser) Unwatch(id string) {
	b.watches.mu.Lock()
	abs, watcher := b.watches.folders[id], b.watches.watcher
	delete(b.watches.folders, id)
	b.watches.mu.Unlock()
	if abs != "" && watcher != nil {
		watcher.Remove(abs)
	}
}

// UnwatchAll stops all watches, because nobody is connected to see them.
func (b *Browser) UnwatchAll() {
	b.watches.mu.Lock()
	var ids []string
	for id := range b.watches.folders {
		ids = append(ids, id)
	}
	b.watches.mu.Unlock()
	for _, id := range ids {
		b.Unwatch(id)
	}
}

func (b *Browser) reportChange(c watch.Change) {
	out := protocol.FilesChange{Path: workspace.Spell(c.Dir), Removed: spellAll(c.Removed), Again: c.MustRelist, Below: spellAll(c.Folders), Rescan: c.AllFolders, Shallow: c.TreeProblem}
	b.watches.mu.Lock()
	for id, dir := range b.watches.folders {
		if dir == c.Dir {
			out.WatchIDs = append(out.WatchIDs, id)
			if c.MustRelist {
				delete(b.watches.folders, id) // the watcher stopped watching it
			}
		}
	}
	b.watches.mu.Unlock()
	if len(out.WatchIDs) == 0 {
		return
	}
	slices.Sort(out.WatchIDs)
	if len(c.Entries) > maxChange { // so many entries are sent as a new list instead
		out.Again, out.Removed = true, nil
		for _, id := range out.WatchIDs {
			b.Unwatch(id)
		}
	} else {
		for _, i := range c.Entries {
			out.Entries = append(out.Entries, b.info(c.Dir, i))
		}
	}
	b.watches.publish(out)
}

func spellAll(names []string) (list []string) {
	for _, n := range names {
		list = append(list, workspace.Spell(n))
	}
	return list
}

const maxChange = 20_000

func (w *watches) close() {
	w.mu.Lock()
	watcher := w.watcher
	w.watcher, w.failed = nil, true
	w.mu.Unlock()
	if watcher != nil {
		watcher.Close()
	}
}
