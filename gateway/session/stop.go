package session

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// errCancelled is the cause for cancelling a run that the person stopped.
//
//lint:ignore ST1005 the original's text, which its clients show
var errCancelled = errors.New("Run cancelled by user")

// Cancel stops a run: without an ID the one in progress, with an ID that one, or removes its
// message from the queue. The next queued message starts when the stopped run has ended. A run in
// progress stops even if that cannot be stored, which is then an error: the next start continues it.
func (m *Manager) Cancel(ctx context.Context, in protocol.ChatCancelParams) (out protocol.ChatCancelResult, err error) {
	var id protocol.RunID
	if doErr := m.do(m.Canonical(in.SessionKey), func(s *session) { id, err = s.stop(in.RunID) }); doErr != nil {
		return out, doErr
	}
	if err != nil {
		return out, m.pause.onStoreError(err)
	}
	return protocol.ChatCancelResult{OK: true, RunID: id, Cancelled: id != ""}, nil
}

// stop cancels a run as Cancel describes, and returns its ID, or "" if none exists.
func (s *session) stop(id protocol.RunID) (protocol.RunID, error) {
	runs := s.m.runs
	mark := func(id protocol.RunID) error {
		return s.m.store.Runs.MarkCancelled(context.WithoutCancel(s.m.ctx), id)
	}
	// A run that is not registered any more has already sent its terminal event.
	if s.run != nil && (id == "" || id == s.run.row.ID) && runs.get(s.run.row.ID) != nil {
		s.run.stop()
		return s.run.row.ID, mark(s.run.row.ID)
	}
	isWanted := func(row store.Run) bool {
		return row.ID == id || id == "" && row.StartedAt > 0 && !isDirect(row) // a run of an earlier start
	}
	if i := slices.IndexFunc(s.queue, isWanted); i >= 0 {
		row := s.queue[i]
		if err := mark(row.ID); err != nil {
			return "", err
		}
		s.queue = slices.Delete(s.queue, i, i+1)
		runs.get(row.ID).finish(errCancelled)
		return row.ID, nil
	}
	if r := runs.get(id); r != nil && isDirect(r.row) {
		r.stop()
		return id, mark(id)
	}
	return "", nil
}

// stopAll cancels all runs of the session, the queued ones too. The caller must wait for the
// returned channels before it changes the session's messages.
func (s *session) stopAll() (wait []<-chan struct{}) {
	for _, row := range s.queue {
		s.m.runs.get(row.ID).finish(errCancelled)
	}
	s.queue = nil
	for _, r := range s.m.runs.commandsOf(s.key) {
		r.stop()
		wait = append(wait, r.done)
	}
	if s.run != nil {
		s.run.stop()
		wait = append(wait, s.run.done)
	}
	return wait
}

// block prevents runs of a session from starting until unblock. It fails if some would be stopped for a
// change that cannot be stored now.
func (a *sessions) block(ctx context.Context, key protocol.SessionKey) error {
	isBusy := false
	if err := a.do(key, func(s *session) {
		s.blocks++
		isBusy = s.run != nil || len(s.queue)+len(s.m.runs.commandsOf(key)) > 0
	}); err != nil || !isBusy {
		return err
	}
	if _, err := a.m.store.Sessions.Update(ctx, key, func(*store.Session) {}); err != nil {
		a.unblock(key)
		return a.pause.onStoreError(err)
	}
	return nil
}

// stopAndBlock cancels all runs of a session and prevents new ones from starting until unblock.
func (a *sessions) stopAndBlock(ctx context.Context, key protocol.SessionKey) error {
	return a.stopWithBlock(ctx, key, (*session).stopAll)
}

// stopRunAndBlock cancels the agent's run in progress, waits for its end, and prevents runs from
// starting until unblock. Queued messages stay queued.
func (a *sessions) stopRunAndBlock(ctx context.Context, key protocol.SessionKey) error {
	return a.stopWithBlock(ctx, key, func(s *session) []<-chan struct{} {
		if s.run == nil {
			return nil
		}
		s.run.stop()
		return []<-chan struct{}{s.run.done}
	})
}

// stopWithBlock blocks a session, calls stop in it, and waits for the runs that stop returns.
func (a *sessions) stopWithBlock(ctx context.Context, key protocol.SessionKey, stop func(*session) []<-chan struct{}) error {
	if err := a.block(ctx, key); err != nil {
		return err
	}
	var wait []<-chan struct{}
	if err := a.do(key, func(s *session) { wait = stop(s) }); err != nil {
		return err
	}
	for _, done := range wait {
		select {
		case <-done:
		case <-ctx.Done():
			a.unblock(key)
			return ctx.Err()
		}
	}
	return nil
}

// blockIdle prevents runs of a chat from starting until unblock. While a run is in progress it
// returns a protocol.ErrConflict that names the requested action.
func (a *sessions) blockIdle(key protocol.SessionKey, action string) error {
	busy := false
	var ending <-chan struct{} // of a run that has already sent its terminal event
	if err := a.do(key, func(s *session) {
		if s.run != nil {
			busy, ending = s.m.runs.get(s.run.row.ID) != nil, s.run.done
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
func (a *sessions) unblock(key protocol.SessionKey) {
	a.do(key, func(s *session) {
		s.blocks--
		s.startNext()
	})
}

// pause prevents model steps and queued messages from starting. It is safe for concurrent use.
type pause struct {
	bus *event.Bus
	// changed, if set, is called when a storage error has paused the agents.
	changed func()

	mu           sync.Mutex    // guards the fields below
	ended        chan struct{} // closed when the pause ends; nil while none exists
	storageError string        // the storage error that caused the pause, or ""
}

// set pauses or resumes the agents. It returns false if nothing changed.
func (p *pause) set(paused bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if (p.ended != nil) == paused {
		return false
	}
	if paused {
		p.ended = make(chan struct{})
	} else {
		close(p.ended)
		p.ended, p.storageError = nil, ""
	}
	return true
}

// end returns a channel that is closed when the pause ends; nil when the agents are not paused.
func (p *pause) end() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// wait blocks while the agents are paused.
func (p *pause) wait(ctx context.Context) error {
	for ended := p.end(); ended != nil && ctx.Err() == nil; ended = p.end() {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// onStoreError pauses the agents and notifies the person if err says that nothing can be stored,
// such as on a full disk. It returns err.
func (p *pause) onStoreError(err error) error {
	if !errors.Is(err, protocol.ErrStorage) {
		return err
	}
	var e *protocol.Error
	errors.As(err, &e)
	p.mu.Lock()
	first := p.storageError == ""
	p.storageError = e.Message
	p.mu.Unlock()
	p.set(true)
	if !first {
		return err
	}
	if p.changed != nil {
		p.changed()
	}
	slog.Error("Nothing can be stored; the agents are paused", "err", err)
	p.bus.PublishNotice("error", e.Message+" The agent is paused. Resume it when the problem is fixed.")
	return err
}

// SetPaused pauses or resumes all agents. While paused, running model steps finish and nothing new
// starts.
func (a *sessions) SetPaused(paused bool) {
	if a.pause.set(paused) && !paused {
		a.startNext()
	}
}

// Paused reports whether the agents are paused. storageError is the storage error that caused the
// pause, or "".
func (a *sessions) Paused() (paused bool, storageError string) {
	a.pause.mu.Lock()
	defer a.pause.mu.Unlock()
	return a.pause.ended != nil, a.pause.storageError
}
