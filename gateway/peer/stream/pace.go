package stream

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// firstShared is how many bytes all transfers that share a connection have under way at first, and leastWindow how many each has at least: a frame
	// and what goes before the next credit.
	firstShared = 4 << 20
	leastWindow = 128 << 10
	// sharedBody is how long its frames are.
	sharedBody = 64 << 10
	// patience is how much longer than at best bytes may be under way. Longer means that they wait in the system's buffers, before every call's answer.
	patience = 20 * time.Millisecond
	// forgetEvery is after how long the best time is looked for anew: the way may be another one.
	forgetEvery = 30 * time.Second
)

// Pace is what the transfers that go out over one connection share: they have together as many bytes under way as keep the way full, and each of them the
// same. The zero Pace is ready; it is safe for use by many goroutines.
type Pace struct {
	running atomic.Int32

	mu      sync.Mutex // guards what follows
	window  int        // for all of them
	best    time.Duration
	since   time.Time // when best was looked for anew
	changed time.Time // when window was made smaller
}

// shared reports whether there is more than one transfer.
func (p *Pace) shared() bool { return p != nil && p.running.Load() > 1 }

// each is how many bytes a transfer may have under way.
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

// took hears how long n bytes were under way, until they were written.
func (p *Pace) took(n int, d time.Duration, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := int(p.running.Load())
	old := !p.since.IsZero() && now.Sub(p.since) > forgetEvery
	if p.since.IsZero() || d < p.best || old {
		p.best, p.since = d, now
	}
	switch {
	case old: // what waits goes away for a moment, so that the best time is not that of a queue
		p.window = max(all*leastWindow, p.window/2)
		p.changed = now
	case d <= p.best+patience:
		p.window = min(all*Window, p.window+n/4)
	case now.Sub(p.changed) > d: // else what was done about it does not show yet
		p.window = max(all*leastWindow, p.window*3/4)
		p.changed = now
	}
}

// way is what of a transfer is under way.
type way struct {
	sent, given int64 // bytes; given ones were written
	begun       bool  // the first credit has come, which is no answer to anything
	marks       []stamp
}

// stamp is when the bytes up to a total were sent.
type stamp struct {
	total int64
	at    time.Time
}

func (w *way) send(n int, now time.Time) {
	w.sent += int64(n)
	w.marks = append(w.marks, stamp{w.sent, now})
}

// back takes n bytes of credit, and says how long the last of the bytes that they are for were under way.
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
