package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// session is one conversation. Only its goroutine accesses its fields.
type session struct {
	m     *Manager
	key   protocol.SessionKey
	inbox chan func()
	queue []store.Run
	run   *active
	last  int64       // CreatedAt of the newest run
	block int         // number of resets and deletions in progress; no run starts meanwhile
	left  []store.Run // started runs of an earlier start, until Resume
	held  bool        // block includes one for the pending Resume
}

// active is the run in progress.
type active struct {
	run    store.Run
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when its goroutine has ended
}

// errCancelled is the cause for cancelling a run that the person stopped.
//
//lint:ignore ST1005 the original's text, which its clients show
var errCancelled = errors.New("Run cancelled by user")

func (s *session) loop() {
	for {
		select {
		case f := <-s.inbox:
			f()
		case <-s.m.ctx.Done():
			if s.run != nil {
				<-s.run.done
			}
			return
		}
	}
}

// accept starts a run at once or queues it. The run is stored when accept returns without error.
func (s *session) accept(r store.Run) (queued bool, err error) {
	ctx := context.WithoutCancel(s.m.ctx)
	paused, _ := s.m.Paused()
	if s.m.liveRun(r.ID) != nil {
		return false, protocol.ErrConflict.With(fmt.Sprintf("a run with the id %s exists already", r.ID))
	}
	r.CreatedAt = max(r.CreatedAt, s.last+1) // keeps the order of runs after a restart
	s.last = r.CreatedAt
	if s.run == nil && !paused && s.block == 0 && len(s.queue) == 0 {
		return false, s.start(r)
	}
	r.State = protocol.RunQueued
	if _, err := s.m.store.Sessions.Ensure(ctx, s.key, s.m.now()); err != nil {
		return false, err
	}
	if err := s.m.store.Runs.Put(ctx, r); err != nil {
		return false, err
	}
	s.enqueue(r)
	s.m.track(r).publish()
	return true, nil
}

// start stores the user message with the run and starts it. An event that the agent already knows
// about starts nothing.
func (s *session) start(r store.Run) error {
	if isEvent(r) && s.knows(r) {
		return s.pass(r)
	}
	s.resetWhenDue()
	r.State, r.StartedAt = protocol.RunThinking, s.m.now()
	stored, err := s.m.store.Runs.Start(context.WithoutCancel(s.m.ctx), r, message(r))
	if err != nil {
		return err
	}
	s.m.publishMessage(s.key, stored)
	s.m.publishSession(s.key)
	s.begin(r)
	return nil
}

// begin executes a stored run in its own goroutine.
func (s *session) begin(r store.Run) {
	ctx, cancel := context.WithCancelCause(s.m.ctx)
	a := &active{run: r, cancel: cancel, done: make(chan struct{})}
	s.run = a
	l := s.m.track(r)
	s.m.wg.Go(func() {
		defer cancel(nil)
		l.execute(ctx)
		close(a.done)
		select {
		case s.inbox <- func() { s.ended(a) }:
		case <-s.m.ctx.Done():
		}
	})
}

// ended handles the end of a run's goroutine.
func (s *session) ended(a *active) {
	if s.run == a {
		s.run = nil
	}
	s.next()
}

// next starts the oldest queued run, if no run is active.
func (s *session) next() {
	for {
		paused, _ := s.m.Paused()
		if s.run != nil || paused || s.block > 0 || len(s.queue) == 0 {
			return
		}
		r := s.queue[0]
		s.queue = slices.Clone(s.queue[1:])
		if err := s.start(r); err != nil {
			slog.Error("A waiting message could not be started", "session", s.key, "run", r.ID, "err", err)
			s.queue = append([]store.Run{r}, s.queue...)
			s.m.stored(err)
			return
		}
	}
}

// load registers a run of an earlier start: it is visible from now on, and new messages queue
// behind it. Nothing starts before resume.
func (s *session) load(r store.Run) {
	if !s.held {
		s.held = true
		s.block++
	}
	s.last = max(s.last, r.CreatedAt)
	if r.State == protocol.RunQueued {
		s.enqueue(r)
	} else {
		s.left = append(s.left, r)
	}
	s.m.track(r).publish()
}

// resume continues the runs that load has registered.
func (s *session) resume() {
	if !s.held {
		return
	}
	s.held = false
	s.block--
	left := s.left
	s.left = nil
	for _, r := range left {
		switch {
		case isDirect(r):
			s.m.resumeDirect(r)
		case s.run == nil:
			s.begin(r)
		default: // two runs cannot be active at once; the later one is queued
			r.State = protocol.RunQueued
			s.queue = append([]store.Run{r}, s.queue...)
		}
	}
	s.next()
}

// stop cancels the run in progress, or removes a queued one.
func (s *session) stop(id protocol.RunID) protocol.ChatCancelResult {
	res := protocol.ChatCancelResult{OK: true}
	// A run that is not live any more has already sent its terminal event.
	if s.run != nil && (id == "" || id == s.run.run.ID) && s.m.liveRun(s.run.run.ID) != nil {
		s.run.cancel(errCancelled)
		res.RunID, res.Cancelled = s.run.run.ID, true
		return res
	}
	for i, r := range s.left {
		if r.ID == id || id == "" && !isDirect(r) {
			s.left = slices.Delete(slices.Clone(s.left), i, i+1)
			s.m.liveRun(r.ID).finish(errCancelled)
			res.RunID, res.Cancelled = r.ID, true
			return res
		}
	}
	if l := s.m.liveRun(id); l != nil && isDirect(l.run) {
		l.cancelDirect()
		res.RunID, res.Cancelled = id, true
		return res
	}
	for i, r := range s.queue {
		if r.ID == id {
			s.queue = slices.Delete(slices.Clone(s.queue), i, i+1)
			s.m.liveRun(id).finish(errCancelled)
			res.RunID, res.Cancelled = id, true
			return res
		}
	}
	return res
}

// clear cancels all runs of the session. The caller must wait for the returned channels before it
// changes the session's messages.
func (s *session) clear() (wait []<-chan struct{}) {
	for _, r := range append(s.left, s.queue...) {
		s.m.liveRun(r.ID).finish(errCancelled)
	}
	s.left, s.queue = nil, nil
	for _, l := range s.m.directOf(s.key) {
		l.cancelDirect()
		wait = append(wait, l.done)
	}
	if s.run != nil {
		s.run.cancel(errCancelled)
		wait = append(wait, s.run.done)
	}
	return wait
}
