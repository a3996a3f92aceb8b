package session

import (
	"context"
	"log/slog"
	"slices"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// session is one conversation. Only its goroutine accesses its fields; see [session.do].
type session struct {
	x             *executor
	key           protocol.SessionKey
	inbox         chan func()
	queue         queue
	run           *run  // the agent's run in progress
	lastCreatedAt int64 // of the newest run
	blocks        int   // number of resets and deletions in progress; no run starts meanwhile
	// hasEarlierRuns reports that Runs.load has queued runs of an earlier start; nothing starts
	// before Runs.resume.
	hasEarlierRuns bool
}

// loop runs the functions that [session.do] sends, until the sessions close.
func (s *session) loop() {
	for {
		select {
		case f := <-s.inbox:
			f()
		case <-s.x.workers.Context().Done():
			return
		}
	}
}

// do runs f on the session's goroutine and waits for it. f may use the disk, but must not wait for
// a run. The error says that the sessions are closed, or that f panicked.
func (s *session) do(f func(*session)) error {
	done := make(chan error, 1)
	select {
	case s.inbox <- func() { done <- crash.Run("session", func() { f(s) }, "session", s.key) }:
		return <-done
	case <-s.x.workers.Context().Done():
		return errStopping
	}
}

// canStart reports whether a run may start now.
func (s *session) canStart() bool {
	isResumed := !s.hasEarlierRuns || s.x.resumed.Load()
	return s.run == nil && s.blocks == 0 && isResumed && s.x.pause.end() == nil && s.x.workers.Context().Err() == nil
}

// accept starts a run at once or queues it. The run is stored when it returns without error.
func (s *session) accept(row store.Run) (queued bool, err error) {
	ctx := context.WithoutCancel(s.x.workers.Context())
	if err := s.x.checkNewRun(ctx, row.ID); err != nil {
		return false, err
	}
	row.CreatedAt = max(row.CreatedAt, s.lastCreatedAt+1) // keeps the order of runs after a restart
	s.lastCreatedAt = row.CreatedAt
	if s.canStart() && len(s.queue) == 0 {
		return false, s.start(row)
	}
	row.State = protocol.RunQueued
	if _, err := s.x.sessions.Ensure(ctx, s.key, now()); err != nil {
		return false, err
	}
	if err := s.x.runs.Put(ctx, row); err != nil {
		return false, err
	}
	s.queue.add(row)
	s.x.track(row, nil).progress.publish()
	return true, nil
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
	stored, err := s.x.runs.Start(context.WithoutCancel(s.x.workers.Context()), row, message(row))
	if err != nil {
		return err
	}
	s.x.chats.publishMessage(s.key, stored)
	s.x.chats.publishSession(s.key)
	s.begin(row)
	return nil
}

// startAfresh hides all earlier messages from the model when a schedule starts a run in its own
// chat: each run of a task is independent of the others.
func (s *session) startAfresh(row store.Run) error {
	id := s.key.Schedule()
	if id == "" || id == protocol.HeartbeatSchedule || !isScheduled(row) {
		return nil
	}
	return s.x.sessions.StartAfresh(context.WithoutCancel(s.x.workers.Context()), s.key)
}

// begin executes a stored run of the agent.
func (s *session) begin(row store.Run) {
	s.run = s.x.execute(row, (*run).runAgent, func() {
		s.do(func(s *session) { // an error means that the gateway stops, so nothing starts
			s.run = nil
			s.startNext()
		})
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
			s.x.pause.onStoreError(err)
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
