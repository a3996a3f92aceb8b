package store

import (
	"context"
	"errors"
	"sync"

	"fairlead/gateway/protocol"
)

const (
	// maxUnsaved is the number of sessions without a row that are remembered. A client that asks
	// for more keys than that gets other IDs the next time.
	maxUnsaved = 1000
	// maxUnsavedPrevious is the number of previous IDs that are remembered for each of them.
	maxUnsavedPrevious = 20
)

// unsavedSessions are the IDs and times that readers were given for sessions without messages: in
// the original system, a session exists as soon as a client asks for it. They are remembered until
// the session is created with them, and are lost when the program ends.
type unsavedSessions struct {
	mu    sync.Mutex
	byKey map[protocol.SessionKey]unsavedSession
}

type unsavedSession struct {
	id       protocol.SessionID
	at       int64                // Unix milliseconds of the first read
	previous []protocol.SessionID // IDs before resets, at most maxUnsavedPrevious
	resetAt  int64                // time of the last reset
}

// get returns the session with a key, and makes one if there is none.
func (u *unsavedSessions) get(key protocol.SessionKey, now int64) unsavedSession {
	u.mu.Lock()
	defer u.mu.Unlock()
	s, ok := u.byKey[key]
	if !ok {
		if u.byKey == nil || len(u.byKey) >= maxUnsaved {
			u.byKey = make(map[protocol.SessionKey]unsavedSession)
		}
		s = unsavedSession{id: protocol.SessionID(protocol.NewID()), at: now}
		u.byKey[key] = s
	}
	return s
}

// reset gives a session another ID; the current one becomes a previous one.
func (u *unsavedSessions) reset(key protocol.SessionKey, id protocol.SessionID, now int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if s, ok := u.byKey[key]; ok {
		s.previous = append(s.previous[max(0, len(s.previous)+1-maxUnsavedPrevious):len(s.previous):len(s.previous)], s.id)
		s.id, s.resetAt = id, now
		u.byKey[key] = s
	}
}

// take removes and returns a session as get does. An ID is used once: a session that is created
// again after a deletion gets another one.
func (u *unsavedSessions) take(key protocol.SessionKey, now int64) unsavedSession {
	s := u.get(key, now)
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.byKey, key)
	return s
}

// Peek returns a session as Ensure would, but stores nothing: a missing one has the ID and the time
// with which it will be created.
func (s *Sessions) Peek(ctx context.Context, key protocol.SessionKey, now int64) (Session, error) {
	out, err := s.Get(ctx, key)
	if errors.Is(err, protocol.ErrNotFound) {
		u := s.unsaved.get(key, now)
		return newSession(key, u, u.at), nil
	}
	return out, err
}

// ResetUnsaved assigns another ID to a session without messages, but stores nothing; it returns the
// session with its old ID. If the session is stored, it is not changed and exists is true.
func (s *Sessions) ResetUnsaved(ctx context.Context, key protocol.SessionKey, next protocol.SessionID, now int64) (old Session, exists bool, err error) {
	switch old, err = s.Get(ctx, key); {
	case err == nil:
		return old, true, nil
	case !errors.Is(err, protocol.ErrNotFound):
		return old, false, err
	}
	u := s.unsaved.get(key, now)
	s.unsaved.reset(key, next, now)
	return newSession(key, u, u.at), false, nil
}

// newSession returns a session without messages.
func newSession(key protocol.SessionKey, u unsavedSession, now int64) Session {
	return Session{
		Key: key, ID: u.id, Agent: agentOf(key), CreatedAt: u.at, UpdatedAt: now, LastActiveAt: now, Previous: u.previous, LastResetAt: u.resetAt,
	}
}
