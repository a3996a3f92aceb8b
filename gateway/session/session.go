package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// session is one conversation. Only its goroutine accesses its fields; see [sessions.do].
type session struct {
	m             *Manager
	key           protocol.SessionKey
	inbox         chan func()
	queue         queue
	run           *run  // the agent's run in progress
	lastCreatedAt int64 // of the newest run
	blocks        int   // number of resets and deletions in progress; no run starts meanwhile
	// hasEarlierRuns reports that Load has queued runs of an earlier start; nothing starts before
	// Resume.
	hasEarlierRuns bool
}

// loop runs the functions that [sessions.do] sends, until the manager closes.
func (s *session) loop() {
	for {
		select {
		case f := <-s.inbox:
			f()
		case <-s.m.ctx.Done():
			return
		}
	}
}

// canStart reports whether a run may start now.
func (s *session) canStart() bool {
	isResumed := !s.hasEarlierRuns || s.m.resumed.Load()
	return s.run == nil && s.blocks == 0 && isResumed && s.m.pause.end() == nil && s.m.ctx.Err() == nil
}

// accept starts a run at once or queues it. The run is stored when it returns without error.
func (s *session) accept(row store.Run) (queued bool, err error) {
	ctx := context.WithoutCancel(s.m.ctx)
	if err := s.m.checkNewRun(ctx, row.ID); err != nil {
		return false, err
	}
	row.CreatedAt = max(row.CreatedAt, s.lastCreatedAt+1) // keeps the order of runs after a restart
	s.lastCreatedAt = row.CreatedAt
	if s.canStart() && len(s.queue) == 0 {
		return false, s.start(row)
	}
	row.State = protocol.RunQueued
	if _, err := s.m.store.Sessions.Ensure(ctx, s.key, now()); err != nil {
		return false, err
	}
	if err := s.m.store.Runs.Put(ctx, row); err != nil {
		return false, err
	}
	s.queue.add(row)
	s.m.runs.track(row).publish()
	return true, nil
}

// checkNewRun returns protocol.ErrConflict for an ID that another run has.
func (m *Manager) checkNewRun(ctx context.Context, id protocol.RunID) error {
	_, err := m.store.Runs.Get(ctx, id)
	if errors.Is(err, protocol.ErrNotFound) {
		return nil
	}
	return cmp.Or(err, errRunExists(id))
}

func errRunExists(id protocol.RunID) error {
	return protocol.ErrConflict.With(fmt.Sprintf("a run with the id %s exists already", id))
}

// start stores the user message with the run and starts it, or continues the run of an earlier
// start. An event that the agent already knows about starts nothing.
func (s *session) start(row store.Run) error {
	switch {
	case isDirect(row):
		s.resumeDirect(row)
		return nil
	case row.StartedAt > 0:
		s.begin(row)
		return nil
	case isEvent(row) && s.knowsCompletion(row):
		return s.finishKnownEvent(row)
	}
	s.resetWhenDue()
	if err := s.startAfresh(row); err != nil {
		return err
	}
	row.State, row.StartedAt = protocol.RunThinking, now()
	stored, err := s.m.store.Runs.Start(context.WithoutCancel(s.m.ctx), row, message(row))
	if err != nil {
		return err
	}
	s.m.publishMessage(s.key, stored)
	s.m.publishSession(s.key)
	s.begin(row)
	return nil
}

// startAfresh hides all earlier messages from the model when a schedule starts a run in its own chat:
// each run of a task is independent of the others.
func (s *session) startAfresh(row store.Run) error {
	id := s.key.Schedule()
	if id == "" || id == protocol.HeartbeatSchedule || !isScheduled(row) {
		return nil
	}
	return s.m.store.Sessions.StartAfresh(context.WithoutCancel(s.m.ctx), s.key)
}

// begin executes a stored run in its own goroutine.
func (s *session) begin(row store.Run) {
	ctx, cancel := context.WithCancelCause(s.m.ctx)
	r := s.m.runs.track(row)
	r.update(func() { r.cancel = cancel })
	s.run = r
	s.m.wg.Go(func() {
		defer cancel(nil)
		defer func() {
			close(r.done)
			s.m.do(s.key, func(s *session) { // an error means that the manager closes, so nothing starts
				s.run = nil
				s.startNext()
			})
		}()
		r.publish()
		r.finishUnlessSuspended(ctx, crash.Call("run", func() error { return r.runAgent(ctx) }, "session", row.Session, "run", row.ID))
	})
}

// startNext starts the oldest queued run, if no run is in progress.
func (s *session) startNext() {
	for s.canStart() && len(s.queue) > 0 {
		row := s.queue[0]
		s.queue = s.queue[1:]
		if err := s.start(row); err != nil {
			slog.Error("Starting a queued message failed", "session", s.key, "run", row.ID, "err", err)
			s.queue = slices.Insert(s.queue, 0, row)
			s.m.pause.onStoreError(err)
			return
		}
	}
}

// queue contains the runs that wait in a session, in the order in which they will start. Each
// message waits as a run of its own.
type queue []store.Run

// add adds a run: the person's commands and then the run that an earlier start has begun before all
// others, an event before the waiting messages, as in GSV, and a message at the end.
func (q *queue) add(row store.Run) {
	rank := func(r store.Run) int {
		return slices.Index([]bool{isDirect(r), r.StartedAt > 0, isEvent(r), true}, true)
	}
	at := len(*q)
	for at > 0 && rank((*q)[at-1]) > rank(row) {
		at--
	}
	*q = slices.Insert(*q, at, row)
}

// sessions are the conversations that have been used since the start. It is safe for concurrent
// use.
type sessions struct {
	m     *Manager
	wg    crash.Group // the goroutines of sessions and runs, and others
	pause *pause

	mu     sync.Mutex // guards the fields below
	byKey  map[protocol.SessionKey]*session
	closed bool
}

// startNext starts the next run of every session that may start one.
func (a *sessions) startNext() {
	a.mu.Lock()
	keys := slices.Collect(maps.Keys(a.byKey))
	a.mu.Unlock()
	for _, key := range keys {
		a.do(key, (*session).startNext) // an error means that the manager closes, so nothing starts
	}
}

// do runs f on the session's goroutine and waits for it. f may use the disk, but must not wait for
// a run. The error says that the manager is closed, or that f panicked.
func (a *sessions) do(key protocol.SessionKey, f func(*session)) error {
	a.mu.Lock()
	s := a.byKey[key]
	if s == nil && !a.closed {
		s = &session{m: a.m, key: key, inbox: make(chan func())}
		a.byKey[key] = s
		a.wg.Go(s.loop)
	}
	a.mu.Unlock()
	if s == nil {
		return errStopping
	}
	done := make(chan error, 1)
	select {
	case s.inbox <- func() { done <- crash.Run("session", func() { f(s) }, "session", key) }:
		return <-done
	case <-a.m.ctx.Done():
		return errStopping
	}
}

var errStopping = protocol.ErrUnavailable.With("the gateway is stopping")
