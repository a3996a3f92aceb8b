package session

import (
	"context"
	"maps"
	"slices"
	"sync"

	"fairlead/gateway/protocol"
)

// sessions are the conversations that have a goroutine. It is safe for concurrent use.
type sessions struct {
	ctx    context.Context // cancelled when the manager closes
	wg     sync.WaitGroup
	pause  *pause
	create func(key protocol.SessionKey) *session

	mu     sync.Mutex // guards the fields below
	byKey  map[protocol.SessionKey]*session
	closed bool
}

// get returns a session and starts its goroutine if needed. It returns nil when the manager is
// closed.
func (a *sessions) get(key protocol.SessionKey) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	s := a.byKey[key]
	if s == nil {
		s = a.create(key)
		a.byKey[key] = s
		a.wg.Go(s.loop)
	}
	return s
}

// all returns the sessions.
func (a *sessions) all() []*session {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Values(a.byKey))
}

// do runs f on the session's goroutine and waits for it.
func (a *sessions) do(ctx context.Context, key protocol.SessionKey, f func(*session)) error {
	s := a.get(key)
	if s == nil {
		return errStopping
	}
	done := make(chan struct{})
	select {
	case s.inbox <- func() { defer close(done); f(s) }:
	case <-a.ctx.Done():
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-a.ctx.Done():
		return errStopping
	}
}

var errStopping = protocol.ErrUnavailable.With("the gateway is stopping")
