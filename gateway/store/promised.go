package store

import (
	"context"
	"errors"
	"sync"

	"fairlead/gateway/protocol"
)

// maxPromises is the number of sessions without a row that are remembered. A client that asks for
// more keys than that gets other IDs the next time.
const maxPromises = 1000

// maxPreviousPromised is the number of previous IDs that are remembered for a session without a
// row.
const maxPreviousPromised = 20

// promises are the IDs and times that readers were given for sessions without messages: in the
// original system, a session exists as soon as a client asks for it. They are remembered until the
// session is created with them, and are lost when the program ends.
type promises struct {
	mu sync.Mutex
	of map[protocol.SessionKey]promise
}

type promise struct {
	id protocol.SessionID
	at int64 // Unix milliseconds of the first read
	// previous are the IDs before resets of the session, at most maxPreviousPromised; resetAt is
	// the time of the last reset.
	previous []protocol.SessionID
	resetAt  int64
}

func (p *promises) give(key protocol.SessionKey, now int64) promise {
	p.mu.Lock()
	defer p.mu.Unlock()
	told, ok := p.of[key]
	if !ok {
		if p.of == nil || len(p.of) >= maxPromises {
			p.of = make(map[protocol.SessionKey]promise)
		}
		told = promise{id: protocol.SessionID(protocol.NewID()), at: now}
		p.of[key] = told
	}
	return told
}

// reset promises another ID; the current one becomes a previous one.
func (p *promises) reset(key protocol.SessionKey, id protocol.SessionID, now int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if told, ok := p.of[key]; ok {
		told.previous = append(told.previous[max(0, len(told.previous)+1-maxPreviousPromised):len(told.previous):len(told.previous)], told.id)
		told.id, told.resetAt = id, now
		p.of[key] = told
	}
}

// redeem removes and returns a promise, or makes one if there was none. An ID is used once: a
// session that is created again after a deletion gets another one.
func (p *promises) redeem(key protocol.SessionKey, now int64) promise {
	told := p.give(key, now)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, key)
	return told
}

// Peek returns a session as EnsureSession would, but stores nothing: a missing one has the
// ID and the time with which it will be created.
func (s *Sessions) Peek(ctx context.Context, key protocol.SessionKey, now int64) (Session, error) {
	out, err := s.Get(ctx, key)
	if errors.Is(err, protocol.ErrNotFound) {
		told := s.promised.give(key, now)
		return fresh(key, told, told.at), nil
	}
	return out, err
}

// ResetUnsaved assigns another ID to a session without messages, but stores nothing; it returns the
// session with the ID until now. If the session exists, it is not changed and made is true.
func (s *Sessions) ResetUnsaved(ctx context.Context, key protocol.SessionKey, next protocol.SessionID, now int64) (old Session, made bool, err error) {
	switch old, err = s.Get(ctx, key); {
	case err == nil:
		return old, true, nil
	case !errors.Is(err, protocol.ErrNotFound):
		return old, false, err
	}
	told := s.promised.give(key, now)
	s.promised.reset(key, next, now)
	return fresh(key, told, told.at), false, nil
}

// fresh returns a session without messages.
func fresh(key protocol.SessionKey, told promise, now int64) Session {
	return Session{
		Key: key, ID: told.id, Agent: agentOf(key), CreatedAt: told.at, UpdatedAt: now, LastActiveAt: now, Previous: told.previous, LastResetAt: told.resetAt,
	}
}
