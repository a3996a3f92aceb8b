// Package turn keeps what concerns one thing, such as a chat, in the order in which it came, while what concerns others goes on beside it.
package turn

import "sync"

// Queue gives out turns. The zero value is ready. It is safe for use by many goroutines.
type Queue struct {
	mu   sync.Mutex
	last map[string]<-chan struct{} // by key: closed when the last turn that was taken has ended
}

// Turn is a place in the order of one key. Whoever takes it must wait for it and end it, each once and in this order.
type Turn struct {
	q      *Queue
	key    string
	before <-chan struct{} // nil for the first one
	over   chan struct{}
}

// Take takes the turn after all that were taken of key and have not ended. It never blocks.
func (q *Queue) Take(key string) Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last == nil {
		q.last = make(map[string]<-chan struct{})
	}
	t := Turn{q: q, key: key, before: q.last[key], over: make(chan struct{})}
	q.last[key] = t.over
	return t
}

// Wait blocks until the turn has come.
func (t Turn) Wait() {
	if t.before != nil {
		<-t.before
	}
}

// End lets the next one begin.
func (t Turn) End() {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	if t.q.last[t.key] == t.over {
		delete(t.q.last, t.key) // nobody came after it
	}
	close(t.over)
}
