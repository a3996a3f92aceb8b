package state

import (
	"context"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// follow keeps the folder that is shown up to date: its machine tells what changes in it.
type follow struct {
	mu    sync.Mutex // guards what follows
	id    string     // the gateway's name for the watching; empty is none
	place protocol.NodeID
	dir   string
	told  []protocol.FilesChange // the newest of what came: it may come before the list that it is about, or before that list is shown
	// Lists are asked for by turns and may come in another order. Of what came, taken is the newest that is followed, shown the newest in the view.
	turn, taken, shown uint64
	// asking says that the machine will be asked what the agent changed.
	asking bool
	// finding says that what the filter finds will be asked for anew.
	finding bool
}

// maxTold bounds the changes that are kept for their list.
const maxTold = 100

// next begins the turn of a list that will be asked for.
func (l *follow) next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn++
	return l.turn
}

// followed takes a list in and ends the watching of the folder before; that of a list which comes after a later one is not followed.
func (f *Files) followed(turn uint64, v FilesView, r protocol.FilesListResult) []FileEntry {
	list := make([]FileEntry, len(r.Entries))
	for i, e := range r.Entries {
		list[i] = entryOf(v.Dir, e)
	}
	ends := r.WatchID
	f.live.mu.Lock()
	if turn > f.live.taken {
		ends, f.live.taken = f.live.id, turn
		f.live.id, f.live.place, f.live.dir = r.WatchID, v.Place, v.Dir
		f.live.told = drop(f.live.told, func(c protocol.FilesChange) bool { return !slices.Contains(c.WatchIDs, r.WatchID) })
	}
	f.live.mu.Unlock()
	f.unwatch(ends)
	return list
}

// settle is a list as it is shown, with what was told of it since it was made. late says that a later one is shown already, again that it has to be
// asked for anew: that was told before the list came.
func (l *follow) settle(turn uint64, v FilesView, list []FileEntry) (_ []FileEntry, late, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if turn < l.shown {
		return nil, true, false
	}
	l.shown = turn
	if l.id == "" || l.place != v.Place || l.dir != v.Dir || v.Filter != "" {
		return list, false, false
	}
	for _, c := range l.told {
		if slices.Contains(c.WatchIDs, l.id) {
			list = merge(list, v.Dir, c)
			again = again || c.Again
		}
	}
	if again {
		l.id, l.told = "", nil
	}
	return list, false, again
}

func (f *Files) unwatch(id string) {
	if id == "" {
		return
	}
	f.a.start(func(ctx context.Context) {
		Call(ctx, f.a, protocol.FilesUnwatch, protocol.FilesUnwatchParams{WatchID: id}) // nobody is told: a lost connection ends it too
	})
}

// Leave ends what the page has the gateway do.
func (f *Files) Leave() {
	f.a.noFiles(f)
	f.live.mu.Lock()
	id := f.live.id
	f.live.id, f.live.told = "", nil
	f.live.mu.Unlock()
	f.unwatch(id)
}

// changed takes in what a machine tells of a folder.
func (f *Files) changed(c protocol.FilesChange) {
	f.live.mu.Lock()
	mine := f.live.id != "" && slices.Contains(c.WatchIDs, f.live.id)
	place, dir := f.live.place, f.live.dir
	if mine && c.Again {
		f.live.id, f.live.told = "", nil
	} else {
		f.live.told = append(f.live.told, c)
	}
	if over := len(f.live.told) - maxTold; over > 0 {
		f.live.told = slices.Delete(f.live.told, 0, over)
	}
	f.live.mu.Unlock()
	switch {
	case !mine:
	case c.Again:
		f.Reload()
	default:
		f.askChanges(place, changesPause)
		f.Value.Update(func(v FilesView) FilesView {
			if v.Place != place || v.Dir != dir {
				return v
			}
			if c.Shallow != "" {
				v.Shallow = c.Shallow
			}
			if v.Filter == "" && len(c.Entries)+len(c.Gone) > 0 {
				v.Entries = merge(v.Entries, dir, c)
				v.Sort.order(v.Entries)
			}
			return v
		})
		if c.Shallow == "" {
			f.findAnew()
		}
	}
}

// findAnew has what the filter finds asked for again, some time after a change: the files of a whole machine are listed for it.
func (f *Files) findAnew() {
	f.live.mu.Lock()
	due := f.live.finding
	f.live.finding = true
	f.live.mu.Unlock()
	if due {
		return
	}
	f.a.start(func(ctx context.Context) {
		select {
		case <-time.After(changesPause):
		case <-ctx.Done():
		}
		f.live.mu.Lock()
		f.live.finding = false
		f.live.mu.Unlock()
		f.all.Update(func(machineFiles) machineFiles { return machineFiles{} })
		if v := f.Value.Get(); v.Filter != "" && v.Place != "" {
			f.show()
		}
	})
}

// merge is a list with what changed in it. The list given stays as it is.
func merge(list []FileEntry, dir string, c protocol.FilesChange) []FileEntry {
	fresh := make(map[string]FileEntry, len(c.Entries))
	for _, e := range c.Entries {
		fresh[e.Name] = entryOf(dir, e)
	}
	gone := make(map[string]bool, len(c.Gone))
	for _, name := range c.Gone {
		gone[name] = true
	}
	out := make([]FileEntry, 0, len(list)+len(fresh))
	for _, e := range list {
		name := e.Name()
		if now, ok := fresh[name]; ok {
			out = append(out, now)
			delete(fresh, name)
		} else if !gone[name] {
			out = append(out, e)
		}
	}
	for _, e := range c.Entries {
		if now, ok := fresh[e.Name]; ok {
			out = append(out, now)
		}
	}
	return out
}

// FilesChanged takes in an event about a folder that some page looks at. It does not block.
func (a *App) FilesChanged(c protocol.FilesChange) {
	a.mu.Lock()
	pages := slices.Clone(a.files)
	a.mu.Unlock()
	for _, f := range pages {
		f.changed(c)
	}
}

func (a *App) noFiles(f *Files) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = slices.DeleteFunc(a.files, func(other *Files) bool { return other == f })
}
