package session

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Runs queues, starts, stops and pauses runs. It has the sessions that have been used since the
// start. It is safe for concurrent use.
type Runs struct {
	x         *executor
	set       func(ctx context.Context, path string, value json.RawMessage) error // changes the configuration
	awaitNode func(ctx context.Context, id protocol.NodeID) error
	sending   sync.Map // the IDs of messages that are being processed

	mu    sync.Mutex // guards byKey
	byKey map[protocol.SessionKey]*session
}

// load registers the runs that an earlier start left.
func (r *Runs) load(ctx context.Context) error {
	rows, err := r.x.runs.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.State == protocol.RunCancelled { // it was stopped, and its end was not stored
			r.x.track(row, nil).finish(errCancelled)
			continue
		}
		if err := r.do(row.Session, func(s *session) {
			s.lastCreatedAt, s.hasEarlierRuns = max(s.lastCreatedAt, row.CreatedAt), true
			s.queue.add(row)
			r.x.track(row, nil).progress.publish()
		}); err != nil {
			return err
		}
	}
	return nil
}

// resumeWait is the time that runs of an earlier start wait for a node to connect before they
// continue without it.
const resumeWait = 3 * time.Second

// resume lets runs start. If there are some of an earlier start, it first waits for a node.
func (r *Runs) resume(ctx context.Context) {
	if !r.x.active.isEmpty() {
		ctx, cancel := context.WithTimeout(ctx, resumeWait)
		defer cancel()
		r.awaitNode(ctx, "") // without one, they start nevertheless
	}
	r.x.resumed.Store(true)
	r.startNext()
}

// startNext starts the next run of every session that may start one.
func (r *Runs) startNext() {
	r.mu.Lock()
	keys := slices.Collect(maps.Keys(r.byKey))
	r.mu.Unlock()
	for _, key := range keys {
		r.do(key, (*session).startNext) // an error means that the gateway stops, so nothing starts
	}
}

// do runs f on the session's goroutine, as [session.do] does.
func (r *Runs) do(key protocol.SessionKey, f func(*session)) error {
	r.mu.Lock()
	s := r.byKey[key]
	if s == nil {
		s = &session{x: r.x, key: key, inbox: make(chan func())}
		if !r.x.workers.Start(s.loop) {
			r.mu.Unlock()
			return errStopping
		}
		r.byKey[key] = s
	}
	r.mu.Unlock()
	return s.do(f)
}

var errStopping = protocol.ErrUnavailable.With("the gateway is stopping")

// reserve reserves the ID of a new run until done: processing an attachment such as a recording
// takes time, and the sender may retry meanwhile.
func (r *Runs) reserve(ctx context.Context, id protocol.RunID) (done func(), err error) {
	if _, isBeingSent := r.sending.LoadOrStore(id, true); isBeingSent {
		return nil, errRunExists(id)
	}
	if err := r.x.checkNewRun(ctx, id); err != nil {
		r.sending.Delete(id)
		return nil, err
	}
	return func() { r.sending.Delete(id) }, nil
}

// Stats returns a chat's counters.
func (r *Runs) Stats(ctx context.Context, in protocol.SessionParams) (protocol.SessionStats, error) {
	s, err := r.x.chats.peek(ctx, in.SessionKey)
	if err != nil {
		return protocol.SessionStats{}, err
	}
	out := protocol.SessionStats{
		SessionKey: s.Key, SessionID: s.ID, MessageCount: s.MessageCount, Tokens: tokens(s.Usage), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		Uptime: now() - s.CreatedAt, Cost: s.Usage.Cost,
	}
	return out, r.do(s.Key, func(s *session) { out.IsProcessing, out.QueueSize = s.run != nil, len(s.queue) })
}

// Active returns the runs that have not ended, oldest first.
func (r *Runs) Active() []protocol.RunInfo { return r.x.active.snapshot() }

// IsActive reports whether a run is known and has not ended. Approvals of other runs are orphans.
func (r *Runs) IsActive(id protocol.RunID) bool { return r.x.active.get(id) != nil }

// hasCommands reports whether commands of the person run in a chat.
func (r *Runs) hasCommands(key protocol.SessionKey) bool { return len(r.x.active.commandsOf(key)) > 0 }

// block prevents runs of a session from starting until unblock. It fails if some would be stopped
// for a change that cannot be stored now.
func (r *Runs) block(ctx context.Context, key protocol.SessionKey) error {
	isBusy := false
	if err := r.do(key, func(s *session) {
		s.blocks++
		isBusy = s.run != nil || len(s.queue)+len(s.x.active.commandsOf(key)) > 0
	}); err != nil || !isBusy {
		return err
	}
	if _, err := r.x.sessions.Update(ctx, key, func(*store.Session) {}); err != nil {
		r.unblock(key)
		return r.x.pause.onStoreError(err)
	}
	return nil
}

// stopAndBlock cancels all runs of a session and prevents new ones from starting until unblock.
func (r *Runs) stopAndBlock(ctx context.Context, key protocol.SessionKey) error {
	return r.stopWithBlock(ctx, key, (*session).stopAll)
}

// stopRunAndBlock cancels the agent's run in progress, waits for its end, and prevents runs from
// starting until unblock. Queued messages stay queued.
func (r *Runs) stopRunAndBlock(ctx context.Context, key protocol.SessionKey) error {
	return r.stopWithBlock(ctx, key, func(s *session) []<-chan struct{} {
		if s.run == nil {
			return nil
		}
		s.run.stop()
		return []<-chan struct{}{s.run.done}
	})
}

// stopWithBlock blocks a session, calls stop in it, and waits for the runs that stop returns.
func (r *Runs) stopWithBlock(ctx context.Context, key protocol.SessionKey, stop func(*session) []<-chan struct{}) error {
	if err := r.block(ctx, key); err != nil {
		return err
	}
	var wait []<-chan struct{}
	if err := r.do(key, func(s *session) { wait = stop(s) }); err != nil {
		return err
	}
	for _, done := range wait {
		select {
		case <-done:
		case <-ctx.Done():
			r.unblock(key)
			return ctx.Err()
		}
	}
	return nil
}

// blockIdle prevents runs of a chat from starting until unblock. While a run is in progress it
// returns a protocol.ErrConflict that names the requested action.
func (r *Runs) blockIdle(key protocol.SessionKey, action string) error {
	busy := false
	var ending <-chan struct{} // of a run that has already sent its terminal event
	if err := r.do(key, func(s *session) {
		if s.run != nil {
			busy, ending = s.x.active.get(s.run.row.ID) != nil, s.run.done
		}
		if !busy {
			s.blocks++
		}
	}); err != nil {
		return err
	}
	if busy {
		return protocol.ErrConflict.With("A run is in progress. Wait for it or send /stop, then " + action + ".")
	}
	if ending != nil {
		<-ending
	}
	return nil
}

// unblock reverts stopAndBlock, stopRunAndBlock or blockIdle, and starts the next queued message.
func (r *Runs) unblock(key protocol.SessionKey) {
	r.do(key, func(s *session) {
		s.blocks--
		s.startNext()
	})
}
