package files

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
func (f *Model) adoptWatch(request uint64, id string) {
	f.mu.Lock()
	again := false
	if request == f.request {
		if again = f.early; !again {
			f.watchID, id = cmp.Or(id, f.watchID), ""
		}
		f.watching, f.early = false, false
	}
	f.mu.Unlock()
	unwatch(f.feed, id)
	if again {
		f.scheduleRefresh()
	}
}

func (f *Model) stopWatch() {
	f.mu.Lock()
	id := f.watchID
	f.watchID = ""
	f.mu.Unlock()
	unwatch(f.feed, id)
}

func unwatch(a *feed.Feed, id string) {
	if id != "" {
		a.Tasks.Start(func(ctx context.Context) {
			// errors are ignored: a lost connection stops the watch, too
			feed.Call(ctx, a, protocol.FilesUnwatch, protocol.FilesUnwatchParams{WatchID: id})
		})
	}
}

// handleChange handles an event about a watched folder, of this page or of another. It does not
// block.
func (f *Model) handleChange(c protocol.FilesChange) {
	f.mu.Lock()
	mine := f.watchID != "" && slices.Contains(c.WatchIDs, f.watchID)
	if mine && c.Again { // the folder is not watched any more
		f.watchID = ""
	}
	f.early = f.early || f.watching
	f.mu.Unlock()
	if mine && c.Shallow != "" {
		f.Value.Update(func(v *View) { v.WatchProblem = c.Shallow })
	} else if mine {
		f.scheduleRefresh()
	}
}

// scheduleRefresh lists the folder again after some time, in which further events may arrive.
func (f *Model) scheduleRefresh() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.due {
		return
	}
	f.due = true
	f.feed.Tasks.Start(func(ctx context.Context) {
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
