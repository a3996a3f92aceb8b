package store

import (
	"context"
	"errors"
	"sync"

	"fairlead/gateway/protocol"
)

// maxPromises is how many sessions without a row are remembered; whoever asks for that many keys reads other ids the next time.
const maxPromises = 1000

// maxPreviousPromised is how many previous ids are remembered of a session without a row.
const maxPreviousPromised = 20

// promises are what readers were told of sessions that nobody has written to: in the original a session exists as soon as it is asked for. They
// are kept until the session is made, so that it is the one that was read, and are forgotten when the program ends.
type promises struct {
	mu sync.Mutex
	of map[protocol.SessionKey]promise
}

type promise struct {
	id protocol.SessionID
	at int64 // Unix milliseconds of the first look
	// resets of the session, and when the last one was; at most maxPreviousPromised ids.
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

// reset promises another id; the one until now becomes a previous one.
func (p *promises) reset(key protocol.SessionKey, id protocol.SessionID, now int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if told, ok := p.of[key]; ok {
		told.previous = append(told.previous[max(0, len(told.previous)+1-maxPreviousPromised):len(told.previous):len(told.previous)], told.id)
		told.id, told.resetAt = id, now
		p.of[key] = told
	}
}

// redeem takes a promise back to be kept, or makes one when there was none. An id is given once: a session that is made again after a deletion is
// another one.
func (p *promises) redeem(key protocol.SessionKey, now int64) promise {
	told := p.give(key, now)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, key)
	return told
}

// PeekSession returns a session as EnsureSession would, and stores nothing: one that is missing is read with the id and the time that it will be
// made with.
func (s *Store) PeekSession(ctx context.Context, key protocol.SessionKey, now int64) (Session, error) {
	out, err := s.Session(ctx, key)
	if errors.Is(err, protocol.ErrNotFound) {
		told := s.promised.give(key, now)
		return fresh(key, told, told.at), nil
	}
	return out, err
}

// PeekAgain gives a session that nobody has written to another id, and stores nothing; it returns the one that was told until now. A session that is
// there is left as it is: made is true.
func (s *Store) PeekAgain(ctx context.Context, key protocol.SessionKey, next protocol.SessionID, now int64) (old Session, made bool, err error) {
	switch old, err = s.Session(ctx, key); {
	case err == nil:
		return old, true, nil
	case !errors.Is(err, protocol.ErrNotFound):
		return old, false, err
	}
	told := s.promised.give(key, now)
	s.promised.reset(key, next, now)
	return fresh(key, told, told.at), false, nil
}

// fresh is a session that nobody has written to.
func fresh(key protocol.SessionKey, told promise, now int64) Session {
	return Session{
		Key: key, ID: told.id, Agent: agentOf(key), CreatedAt: told.at, UpdatedAt: now, LastActiveAt: now, Previous: told.previous, LastResetAt: told.resetAt,
	}
}
