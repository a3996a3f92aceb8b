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
	early []protocol.FilesChange // what came before the list that it is about
	// asking says that the machine will be asked what the agent changed.
	asking bool
	// finding says that what the filter finds will be asked for anew.
	finding bool
}

// maxEarly bounds the changes that wait for their list.
const maxEarly = 100

// followed takes a list in, with what was told of it meanwhile, and ends the watching of the folder before.
func (f *Files) followed(v FilesView, r protocol.FilesListResult) []FileEntry {
	list := make([]FileEntry, len(r.Entries))
	for i, e := range r.Entries {
		list[i] = entryOf(v.Dir, e)
	}
	f.live.mu.Lock()
	was := f.live.id
	f.live.id, f.live.place, f.live.dir = r.WatchID, v.Place, v.Dir
	early := f.live.early
	f.live.early = nil
	f.live.mu.Unlock()
	f.unwatch(was)
	for _, c := range early {
		if slices.Contains(c.WatchIDs, r.WatchID) {
			list = merge(list, v.Dir, c)
		}
	}
	return list
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
	f.live.id = ""
	f.live.mu.Unlock()
	f.unwatch(id)
}

// changed takes in what a machine tells of a folder.
func (f *Files) changed(c protocol.FilesChange) {
	f.live.mu.Lock()
	mine := f.live.id != "" && slices.Contains(c.WatchIDs, f.live.id)
	place, dir := f.live.place, f.live.dir
	if !mine && len(f.live.early) < maxEarly {
		f.live.early = append(f.live.early, c)
	}
	if mine && c.Again {
		f.live.id = ""
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
