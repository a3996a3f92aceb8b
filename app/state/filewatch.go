package state

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// folderWatch keeps the current folder up to date: its machine reports changes.
type folderWatch struct {
	mu    sync.Mutex // guards the fields below
	id    string     // the gateway's ID of the watch; empty for none
	place protocol.NodeID
	dir   string
	// latest events: they may arrive before the list that they refer to, or before that list is
	// shown
	events []protocol.FilesChange
	// Numbers of list requests, whose responses may arrive out of order. followed is the latest
	// response whose watch is followed, shownRequest the latest response in the view.
	request, followed, shownRequest uint64
	// changesDue is set while a request for the agent's changes is scheduled.
	changesDue bool
	// searchDue is set while a new request for the filter's results is scheduled.
	searchDue bool
}

// maxEvents is the maximum number of events that are retained for their list.
const maxEvents = 100

// next returns the number of a new list request.
func (l *folderWatch) next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.request++
	return l.request
}

// adoptWatch records a response and stops the watch of the previous folder. If a later response has
// already arrived, this one's own watch is stopped.
func (f *Files) adoptWatch(request uint64, v FilesView, r protocol.FilesListResult) []FileEntry {
	list := make([]FileEntry, len(r.Entries))
	for i, e := range r.Entries {
		list[i] = entryOf(v.Dir, e)
	}
	ends := r.WatchID
	f.watch.mu.Lock()
	if request > f.watch.followed {
		ends, f.watch.followed = f.watch.id, request
		f.watch.id, f.watch.place, f.watch.dir = r.WatchID, v.Place, v.Dir
		f.watch.events = without(f.watch.events, func(c protocol.FilesChange) bool { return !slices.Contains(c.WatchIDs, r.WatchID) })
	}
	f.watch.mu.Unlock()
	f.unwatch(ends)
	return list
}

// applyEvents applies to a list the events since its creation. outdated reports that a later list
// is already shown; again reports that the list must be requested again, because such an event says
// so.
func (l *folderWatch) applyEvents(request uint64, v FilesView, list []FileEntry) (_ []FileEntry, outdated, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if request < l.shownRequest {
		return nil, true, false
	}
	l.shownRequest = request
	if l.id == "" || l.place != v.Place || l.dir != v.Dir || v.Filter != "" {
		return list, false, false
	}
	for _, c := range l.events {
		if slices.Contains(c.WatchIDs, l.id) {
			list = merge(list, v.Dir, c)
			again = again || c.Again
		}
	}
	if again {
		l.id, l.events = "", nil
	}
	return list, false, again
}

func (f *Files) unwatch(id string) {
	if id == "" {
		return
	}
	f.app.start(func(ctx context.Context) {
		// errors are ignored: a lost connection stops the watch, too
		Call(ctx, f.app, protocol.FilesUnwatch, protocol.FilesUnwatchParams{WatchID: id})
	})
}

// Close stops the page's watch at the gateway.
func (f *Files) Close() {
	f.app.removeFiles(f)
	f.watch.mu.Lock()
	id := f.watch.id
	f.watch.id, f.watch.events = "", nil
	f.watch.mu.Unlock()
	f.unwatch(id)
}

// applyChange applies an event about a folder.
func (f *Files) applyChange(c protocol.FilesChange) {
	f.watch.mu.Lock()
	mine := f.watch.id != "" && slices.Contains(c.WatchIDs, f.watch.id)
	place, dir := f.watch.place, f.watch.dir
	if mine && c.Again {
		f.watch.id, f.watch.events = "", nil
	} else {
		f.watch.events = append(f.watch.events, c)
	}
	if over := len(f.watch.events) - maxEvents; over > 0 {
		f.watch.events = slices.Delete(f.watch.events, 0, over)
	}
	f.watch.mu.Unlock()
	switch {
	case !mine:
	case c.Again:
		f.Reload()
	default:
		f.scheduleChanges(place, changesPause)
		f.Value.Update(func(v FilesView) FilesView {
			if v.Place != place || v.Dir != dir {
				return v
			}
			if c.Shallow != "" {
				v.WatchProblem = c.Shallow
			}
			if v.Filter == "" && len(c.Entries)+len(c.Removed) > 0 {
				v.Entries = merge(v.Entries, dir, c)
				v.Sort.order(v.Entries)
			}
			return v
		})
		if c.Shallow == "" {
			f.scheduleSearch()
		}
	}
}

// scheduleSearch requests the filter's results again some time after a change, because that lists
// all files of a machine.
func (f *Files) scheduleSearch() {
	f.watch.mu.Lock()
	due := f.watch.searchDue
	f.watch.searchDue = true
	f.watch.mu.Unlock()
	if due {
		return
	}
	f.app.start(func(ctx context.Context) {
		select {
		case <-time.After(changesPause):
		case <-ctx.Done():
		}
		f.watch.mu.Lock()
		f.watch.searchDue = false
		f.watch.mu.Unlock()
		f.index.reset()
		if v := f.Value.Get(); v.Filter != "" && v.Place != "" {
			f.show()
		}
	})
}

// merge applies changes to a copy of a list.
func merge(list []FileEntry, dir string, c protocol.FilesChange) []FileEntry {
	fresh := make(map[string]FileEntry, len(c.Entries))
	for _, e := range c.Entries {
		fresh[e.Name] = entryOf(dir, e)
	}
	gone := make(map[string]bool, len(c.Removed))
	for _, name := range c.Removed {
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

// FilesChanged handles an event about a watched folder. It does not block.
func (a *App) FilesChanged(c protocol.FilesChange) {
	a.mu.Lock()
	pages := slices.Clone(a.files)
	a.mu.Unlock()
	for _, f := range pages {
		f.applyChange(c)
	}
}

func (a *App) removeFiles(f *Files) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = slices.DeleteFunc(a.files, func(other *Files) bool { return other == f })
}

// changesPause is how long changes are collected before the machine is asked which of them the
// agent made.
const changesPause = time.Second

// scheduleChanges asks the current machine for the agent's changes. Calls in quick succession are
// merged into one request.
func (f *Files) scheduleChanges(place protocol.NodeID, pause time.Duration) {
	f.watch.mu.Lock()
	asked := f.watch.changesDue
	f.watch.changesDue = true
	f.watch.mu.Unlock()
	if asked {
		return
	}
	f.app.start(func(ctx context.Context) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		f.watch.mu.Lock()
		f.watch.changesDue = false
		f.watch.mu.Unlock()
		ctx, cancel := context.WithTimeout(ctx, actionTimeout)
		defer cancel()
		r, err := Call(ctx, f.app, protocol.FilesChanges, protocol.FilesChangesParams{Node: place})
		if err != nil {
			return // older machines do not know the method; other errors show up in the list itself
		}
		f.Value.Update(func(v FilesView) FilesView {
			if v.Place == place {
				v.Changed = r.Changes
			}
			return v
		})
	})
}

// ChangeOf returns the agent's last change of a file with this absolute path, unless it was
// reverted.
func (v FilesView) ChangeOf(abs string) (protocol.FileChange, bool) {
	for _, c := range v.Changed {
		if slashes(c.Path) == slashes(abs) {
			return c, !c.Reverted
		}
	}
	return protocol.FileChange{}, false
}

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// Diff loads the diff of a change by the agent. It blocks.
func (f *Files) Diff(ctx context.Context, c protocol.FileChange) (protocol.FilesDiffResult, error) {
	return Call(ctx, f.app, protocol.FilesDiff, protocol.FilesChangeParams{Node: f.Value.Get().Place, ID: c.ID, Path: c.Path})
}

// Revert restores a file's content from before a change by the agent. It blocks.
func (f *Files) Revert(ctx context.Context, c protocol.FileChange) error {
	_, err := Call(ctx, f.app, protocol.FilesRevert, protocol.FilesChangeParams{Node: f.Value.Get().Place, ID: c.ID, Path: c.Path})
	f.reloadAfter(err)
	return err
}
