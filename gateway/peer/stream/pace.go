package stream

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// firstShared is the initial number of bytes in flight of all transfers on a connection
	// together. leastWindow is the minimum for each: a frame, and what is sent before the next
	// credit.
	firstShared = 4 << 20
	leastWindow = 128 << 10
	// sharedBody is the maximum length of a frame when several transfers share the connection.
	sharedBody = 64 << 10
	// patience is the queueing delay that is accepted above the best time. More means that bytes
	// wait in the system's buffers, where they delay the answer of every call.
	patience = 20 * time.Millisecond
	// forgetEvery is the interval after which the best time is measured again, because the network
	// path may have changed.
	forgetEvery = 30 * time.Second
)

// Pace is shared by the outgoing transfers of one connection. Together they have as many bytes in
// flight as the connection needs, in equal parts. The zero Pace is ready. It is safe for concurrent
// use.
type Pace struct {
	running atomic.Int32

	mu      sync.Mutex // guards the fields below
	window  int        // of all transfers together
	best    time.Duration
	since   time.Time // time of the last reset of best
	changed time.Time // time of the last reduction of window
}

// shared reports whether there is more than one transfer.
func (p *Pace) shared() bool { return p != nil && p.running.Load() > 1 }

// each returns the number of bytes that a transfer may have in flight.
func (p *Pace) each() int {
	if !p.shared() {
		return Window
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.window == 0 {
		p.window = firstShared
	}
	return min(Window, max(leastWindow, p.window/int(p.running.Load())))
}

// took records that n bytes were in flight for the time d, until they were written.
func (p *Pace) took(n int, d time.Duration, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := int(p.running.Load())
	old := !p.since.IsZero() && now.Sub(p.since) > forgetEvery
	if p.since.IsZero() || d < p.best || old {
		p.best, p.since = d, now
	}
	switch {
	case old: // shrinks the window for a moment, so that the best time is measured without a queue
		p.window = max(all*leastWindow, p.window/2)
		p.changed = now
	case d <= p.best+patience:
		p.window = min(all*Window, p.window+n/4)
	case now.Sub(p.changed) > d: // otherwise the last reduction has not taken effect yet
		p.window = max(all*leastWindow, p.window*3/4)
		p.changed = now
	}
}

// way tracks the bytes in flight of one transfer.
type way struct {
	sent, given int64 // total bytes sent and bytes written by the receiver
	begun       bool  // the first credit, which answers nothing, has arrived
	marks       []stamp
}

// stamp is the time at which the bytes up to a total were sent.
type stamp struct {
	total int64
	at    time.Time
}

func (w *way) send(n int, now time.Time) {
	w.sent += int64(n)
	w.marks = append(w.marks, stamp{w.sent, now})
}

// back subtracts n bytes of credit, and returns how long the last of these bytes were in flight.
func (w *way) back(n int, now time.Time) (took time.Duration, ok bool) {
	if !w.begun {
		w.begun = true
		return 0, false
	}
	w.given += int64(n)
	for len(w.marks) > 0 && w.marks[0].total <= w.given {
		took, ok = now.Sub(w.marks[0].at), true
		w.marks = w.marks[1:]
	}
	return took, ok
}
