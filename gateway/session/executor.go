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
	workers *workers
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
	models    Models
	budget    Budget
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

// track registers a run and makes it visible. If it is registered already, its state is updated.
func (x *executor) track(row store.Run) *run {
	return x.active.add(&run{x: x, row: row, done: make(chan struct{}), info: protocol.RunInfo{
		RunID: row.ID, SessionKey: row.Session, State: row.State, StartedAt: row.StartedAt, Message: displayText(row), By: row.Principal,
	}})
}

// goDirect shows a command as a run while f executes it, and publishes how it ended.
func (x *executor) goDirect(row store.Run, f func(context.Context, *run) error) {
	r := x.track(row)
	ctx, cancel := context.WithCancelCause(x.workers.ctx)
	r.update(func() { r.cancel = cancel })
	r.publish()
	x.workers.wg.Go(func() {
		defer close(r.done)
		defer cancel(nil)
		r.finishUnlessSuspended(ctx, crash.Call("run", func() error { return f(ctx, r) }, "session", row.Session, "run", row.ID))
	})
}

// activeRuns are all runs that have not ended. It is safe for concurrent use.
type activeRuns struct {
	mu   sync.Mutex // guards byID
	byID map[protocol.RunID]*run
}

// add registers a run and returns it. If one with its ID is registered already, that one takes its
// state and is returned.
func (a *activeRuns) add(r *run) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.byID[r.row.ID]
	if known == nil {
		a.byID[r.row.ID] = r
		return r
	}
	known.update(func() { known.row, known.info.State, known.info.StartedAt = r.row, r.row.State, r.row.StartedAt })
	return known
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
		list = append(list, r.snapshot())
	}
	return list
}
