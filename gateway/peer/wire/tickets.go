package wire

import "sync"

// TicketLocks has a first-in, first-out lock for each key: work with the same key, such as a chat,
// runs in the order in which it arrived, and work with different keys runs concurrently. The zero
// value is ready. It is safe for concurrent use.
type TicketLocks struct {
	mu   sync.Mutex
	last map[string]<-chan struct{} // by key: closed when the last ticket is released
}

// Ticket is a place in the queue of one key. Its owner must call Wait and then Release, each once.
type Ticket struct {
	locks    *TicketLocks
	key      string
	previous <-chan struct{} // nil for the first ticket
	released chan struct{}
}

// Take returns the ticket after all unreleased tickets of the key. It never blocks.
func (l *TicketLocks) Take(key string) Ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last = make(map[string]<-chan struct{})
	}
	t := Ticket{locks: l, key: key, previous: l.last[key], released: make(chan struct{})}
	l.last[key] = t.released
	return t
}

// Wait blocks until all earlier tickets are released.
func (t Ticket) Wait() {
	if t.previous != nil {
		<-t.previous
	}
}

// Release lets the owner of the next ticket continue.
func (t Ticket) Release() {
	t.locks.mu.Lock()
	defer t.locks.mu.Unlock()
	if t.locks.last[t.key] == t.released {
		delete(t.locks.last, t.key)
	}
	close(t.released)
}
