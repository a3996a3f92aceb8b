// Package turn orders work by key: work with the same key, such as a chat, runs in the order in
// which it arrived, and work with different keys runs concurrently.
package turn

import "sync"

// Queue hands out turns. The zero value is ready. It is safe for concurrent use.
type Queue struct {
	mu   sync.Mutex
	last map[string]<-chan struct{} // by key: closed when the last turn has ended
}

// Turn is a place in the queue of one key. Its owner must call Wait and then End, each once.
type Turn struct {
	q      *Queue
	key    string
	before <-chan struct{} // nil for the first turn
	over   chan struct{}
}

// Take takes the turn after all unfinished turns of the key. It never blocks.
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

// Wait blocks until all earlier turns have ended.
func (t Turn) Wait() {
	if t.before != nil {
		<-t.before
	}
}

// End starts the next turn.
func (t Turn) End() {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	if t.q.last[t.key] == t.over {
		delete(t.q.last, t.key) // there is no later turn
	}
	close(t.over)
}
