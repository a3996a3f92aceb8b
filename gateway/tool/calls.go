package tool

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"fairlead/gateway/event"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// openCalls are the calls in progress, as others see them. It is safe for concurrent use.
type openCalls struct {
	bus *event.Bus

	mu   sync.Mutex // guards open
	open map[protocol.CallID]*openCall
}

// openCall is a call in progress.
type openCall struct {
	info     *protocol.CallInfo // nil until the call is published; never changed through the pointer
	cancel   context.CancelCauseFunc
	question *openQuestion
	ended    chan struct{} // closed when the call is no longer in progress
	failure  error         // why its end is not stored; set before ended is closed
}

// openQuestion is a question for which a call waits, with the requests that led to it: one, or those
// of a batch.
type openQuestion struct {
	id       protocol.QuestionID
	requests []policy.Request
}

// concerns reports whether a change can affect the question.
func (q *openQuestion) concerns(c protocol.Change) bool {
	return q != nil && (c.Kind != protocol.ChangeSession || c.Session != nil && q.requests[0].Session == c.Session.SessionKey)
}

func newOpenCalls(bus *event.Bus) *openCalls {
	return &openCalls{bus: bus, open: make(map[protocol.CallID]*openCall)}
}

// add makes a call the only one in progress with its ID. The context that it returns ends when the
// call is cancelled. release removes the call.
func (s *openCalls) add(ctx context.Context, id protocol.CallID) (_ context.Context, release func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] != nil {
		cancel(nil)
		return nil, nil, protocol.ErrConflict.With(fmt.Sprintf("call %s is already running", id))
	}
	ended := make(chan struct{})
	s.open[id] = &openCall{cancel: cancel, ended: ended}
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, id)
		close(ended)
	}, nil
}

func (s *openCalls) has(id protocol.CallID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id] != nil
}

// list returns the calls that are published.
func (s *openCalls) list() []protocol.CallInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]protocol.CallInfo, 0, len(s.open))
	for _, o := range s.open {
		if o.info != nil {
			list = append(list, *o.info)
		}
	}
	return list
}

// errCancelled is the cause of a call that the person cancelled.
var errCancelled = errors.New("stopped by the person")

// cancel cancels a call for the person, and reports whether there was one.
func (s *openCalls) cancel(id protocol.CallID) bool {
	s.mu.Lock()
	o := s.open[id]
	s.mu.Unlock()
	if o == nil {
		return false
	}
	o.cancel(errCancelled)
	return true
}

// publish publishes a call's state and holds it for snapshots.
func (s *openCalls) publish(info protocol.CallInfo) {
	s.mu.Lock()
	if o := s.open[info.CallID]; o != nil {
		o.info = &info
	}
	s.mu.Unlock()
	s.bus.Publish(protocol.Change{Kind: protocol.ChangeCall, SessionKey: info.SessionKey, Call: &info})
}

// lastOutput returns the end of the output that a call has reported, and its length.
func (s *openCalls) lastOutput(id protocol.CallID) (tail string, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.open[id]; o != nil && o.info != nil {
		return o.info.Tail, o.info.Bytes
	}
	return "", 0
}

// wait records the question that a call waits for; nil when it is closed.
func (s *openCalls) wait(id protocol.CallID, q *openQuestion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.open[id]; o != nil {
		o.question = q
	}
}

// affectedQuestions returns the questions that a change can affect, with the requests that led to
// them.
func (s *openCalls) affectedQuestions(c protocol.Change) map[protocol.QuestionID][]policy.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := map[protocol.QuestionID][]policy.Request{}
	for _, o := range s.open {
		if q := o.question; q.concerns(c) {
			list[q.id] = q.requests
		}
	}
	return list
}

// fail records that the end of a call could not be stored.
func (s *openCalls) fail(id protocol.CallID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.open[id]; o != nil {
		o.failure = errNotStored
	}
}

// awaitStored returns a function that waits until the end of a call is stored; nil if the call is
// not in progress.
func (s *openCalls) awaitStored(id protocol.CallID) func(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := s.open[id]
	if call == nil {
		return nil
	}
	return func(ctx context.Context) error {
		select {
		case <-call.ended:
			return call.failure
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
