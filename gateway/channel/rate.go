package channel

import (
	"sync"
	"time"
)

// A sender may write maxPerWindow messages in a window of time.
const (
	maxPerWindow = 20
	window       = time.Minute
	// maxSenders is the number of senders above which those of earlier windows are removed.
	maxSenders = 10_000
)

// rateLimiter limits the messages of each sender. It is safe for concurrent use.
type rateLimiter struct {
	mu     sync.Mutex // guards counts
	counts map[string]*count
}

// count is the number of a sender's messages in a window.
type count struct {
	since time.Time
	n     int
}

// allow counts a sender's message, and reports whether the sender is within the limit.
func (r *rateLimiter) allow(channel, sender string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, at := key(channel, sender), time.Now()
	c := r.counts[k]
	if c == nil || at.Sub(c.since) > window {
		if len(r.counts) > maxSenders {
			for old, x := range r.counts {
				if at.Sub(x.since) > window {
					delete(r.counts, old)
				}
			}
		}
		c = &count{since: at}
		r.counts[k] = c
	}
	c.n++
	return c.n <= maxPerWindow
}
