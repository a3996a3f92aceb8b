package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/session/media"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// executor is what the sessions and runs of all chats use. It is safe for concurrent use.
type executor struct {
	chats   *Chats
	history *History
	prompts *Prompts
	titles  *titles
	pause   *pause
	workers *crash.Workers
	active  *activeRuns
	media   *media.Store
	resumed atomic.Bool // runs of an earlier start may start

	sessions *store.Sessions
	messages *store.Messages
	archives *store.Archives
	runs     *store.Runs
	calls    *store.Calls

	tools     *tool.Pipeline
	questions *question.Queue
	tasks     modelTasks
}

// checkNewRun returns protocol.ErrConflict for an ID that another run has.
func (x *executor) checkNewRun(ctx context.Context, id protocol.RunID) error {
	_, err := x.runs.Get(ctx, id)
	if errors.Is(err, protocol.ErrNotFound) {
		return nil
	}
	return cmp.Or(err, errRunExists(id))
}

func errRunExists(id protocol.RunID) error {
	return protocol.ErrConflict.With(fmt.Sprintf("a run with the id %s exists already", id))
}

// track registers a run and makes it visible. It replaces the one that the same row had in the
// queue. cancel stops the run; it is nil for one that only waits or has ended.
func (x *executor) track(row store.Run, cancel context.CancelCauseFunc) *run {
	r := &run{x: x, row: row, cancel: cancel, done: make(chan struct{}), progress: &progress{chats: x.chats, info: protocol.RunInfo{
		RunID: row.ID, SessionKey: row.Session, State: row.State, StartedAt: row.StartedAt, Message: displayText(row), By: row.Principal,
	}}}
	x.active.add(r)
	return r
}

// execute executes f as a run in a goroutine, publishes how it ended, and then calls onEnd.
func (x *executor) execute(row store.Run, f func(*run, context.Context) error, onEnd func()) *run {
	ctx, cancel := context.WithCancelCause(x.workers.Context())
	r := x.track(row, cancel)
	r.progress.publish()
	x.workers.Go(func() {
		defer cancel(nil)
		defer onEnd()
		defer close(r.done)
		r.finishUnlessSuspended(ctx, crash.Call("run", func() error { return f(r, ctx) }, "session", row.Session, "run", row.ID))
	})
	return r
}

// activeRuns are all runs that have not ended. It is safe for concurrent use.
type activeRuns struct {
	mu   sync.Mutex // guards byID
	byID map[protocol.RunID]*run
}

// add registers a run, in place of one with its ID.
func (a *activeRuns) add(r *run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.byID[r.row.ID] = r
}

func (a *activeRuns) isEmpty() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.byID) == 0
}

// get returns a run that has not ended, or nil.
func (a *activeRuns) get(id protocol.RunID) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byID[id]
}

// remove unregisters a run. It returns false if the run has ended before.
func (a *activeRuns) remove(r *run) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID[r.row.ID] != r {
		return false
	}
	delete(a.byID, r.row.ID)
	return true
}

// commandsOf returns the person's own commands that run in a chat.
func (a *activeRuns) commandsOf(key protocol.SessionKey) []*run {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []*run
	for _, r := range a.byID {
		if r.row.Session == key && isDirect(r.row) {
			list = append(list, r)
		}
	}
	return list
}

// snapshot returns the runs as clients see them, oldest first.
func (a *activeRuns) snapshot() []protocol.RunInfo {
	a.mu.Lock()
	byAge := func(a, b *run) int { return cmp.Compare(a.row.CreatedAt, b.row.CreatedAt) }
	all := slices.SortedFunc(maps.Values(a.byID), byAge)
	a.mu.Unlock()
	list := []protocol.RunInfo{}
	for _, r := range all {
		list = append(list, r.progress.snapshot())
	}
	return list
}
