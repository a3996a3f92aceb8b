package session

import (
	"context"
	"errors"
	"slices"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// errCancelled is the cause for cancelling a run that the person stopped.
//
//lint:ignore ST1005 GSV's text, which its clients show
var errCancelled = errors.New("Run cancelled by user")

// Cancel stops a run: without an ID the one in progress, with an ID that one, or removes its
// message from the queue. The next queued message starts when the stopped run has ended. A run in
// progress stops even if that cannot be stored, which is then an error: the next start continues it.
func (r *Runs) Cancel(ctx context.Context, in protocol.ChatCancelParams) (out protocol.ChatCancelResult, err error) {
	var id protocol.RunID
	if doErr := r.do(r.x.chats.Canonical(in.SessionKey), func(s *session) { id, err = s.stop(in.RunID) }); doErr != nil {
		return out, doErr
	}
	if err != nil {
		return out, r.x.pause.onStoreError(err)
	}
	return protocol.ChatCancelResult{OK: true, RunID: id, Cancelled: id != ""}, nil
}

// stop cancels a run as Cancel describes, and returns its ID, or "" if none exists.
func (s *session) stop(id protocol.RunID) (protocol.RunID, error) {
	runs := s.x.active
	mark := func(id protocol.RunID) error {
		return s.x.runs.MarkCancelled(context.WithoutCancel(s.x.workers.Context()), id)
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
		s.x.active.get(row.ID).finish(errCancelled)
	}
	s.queue = nil
	for _, r := range s.x.active.commandsOf(s.key) {
		r.stop()
		wait = append(wait, r.done)
	}
	if s.run != nil {
		s.run.stop()
		wait = append(wait, s.run.done)
	}
	return wait
}
