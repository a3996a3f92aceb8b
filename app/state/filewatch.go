package state

import (
	"cmp"
	"context"
	"slices"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// refreshPause is how long events of a folder are collected before it is listed again.
const refreshPause = 500 * time.Millisecond

// adoptWatch follows the watch of a response, or stops it if a later request was made. If there was
// an event before the response, the folder is listed and watched again.
func (f *Files) adoptWatch(request uint64, id string) {
	f.mu.Lock()
	again := false
	if request == f.request {
		if again = f.early; !again {
			f.watchID, id = cmp.Or(id, f.watchID), ""
		}
		f.watching, f.early = false, false
	}
	f.mu.Unlock()
	unwatch(f.app, id)
	if again {
		f.scheduleRefresh()
	}
}

func (f *Files) stopWatch() {
	f.mu.Lock()
	id := f.watchID
	f.watchID = ""
	f.mu.Unlock()
	unwatch(f.app, id)
}

func unwatch(a *App, id string) {
	if id != "" {
		a.Tasks.Start(func(ctx context.Context) {
			// errors are ignored: a lost connection stops the watch, too
			feed.Call(ctx, a, protocol.FilesUnwatch, protocol.FilesUnwatchParams{WatchID: id})
		})
	}
}

// FilesChanged handles an event about a watched folder. It does not block.
func (a *App) FilesChanged(c protocol.FilesChange) {
	a.mu.Lock()
	pages := slices.Clone(a.files)
	a.mu.Unlock()
	for _, f := range pages {
		f.mu.Lock()
		mine := f.watchID != "" && slices.Contains(c.WatchIDs, f.watchID)
		if mine && c.Again { // the folder is not watched any more
			f.watchID = ""
		}
		f.early = f.early || f.watching
		f.mu.Unlock()
		if mine && c.Shallow != "" {
			f.Value.Update(func(v *FilesView) { v.WatchProblem = c.Shallow })
		} else if mine {
			f.scheduleRefresh()
		}
	}
}

// scheduleRefresh lists the folder again after some time, in which further events may arrive.
func (f *Files) scheduleRefresh() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.due {
		return
	}
	f.due = true
	f.app.Tasks.Start(func(ctx context.Context) {
		select {
		case <-time.After(refreshPause):
		case <-ctx.Done():
		}
		f.mu.Lock()
		f.due = false
		closed := f.closed
		f.mu.Unlock()
		if !closed {
			f.refresh()
		}
	})
}
