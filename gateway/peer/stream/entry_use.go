package stream

import (
	"os"
	"sync"
	"time"
)

// entries has the entries of unfinished files that attempts or sweeps of this process use, by path.
// A sweep skips an entry that an attempt uses, and an attempt waits for a sweep of its entry. The
// entry's time is updated for the sweeps of other processes.
var entries = struct {
	mu   sync.Mutex // guards the fields below
	open map[string]*entryUse
}{open: make(map[string]*entryUse)}

// entryUse is the use of one entry; it is in uses while there is a user.
type entryUse struct {
	attempts  int
	sweepDone chan struct{} // closed when the sweep is over; nil: no sweep
}

// beginAttempt keeps sweeps away from an entry until end is called.
func (l *Unfinished) beginAttempt(mark string) (end func()) {
	if l == nil {
		return func() {}
	}
	name := l.path(mark)
	for {
		entries.mu.Lock()
		u := entries.open[name]
		if u != nil && u.sweepDone != nil {
			entries.mu.Unlock()
			<-u.sweepDone
			continue
		}
		if u == nil {
			u = new(entryUse)
			entries.open[name] = u
		}
		u.attempts++
		entries.mu.Unlock()
		now := time.Now()
		os.Chtimes(name, now, now) // the entry may not exist
		return func() {
			entries.mu.Lock()
			defer entries.mu.Unlock()
			if u.attempts--; u.attempts == 0 {
				delete(entries.open, name)
			}
		}
	}
}

// beginSweep keeps attempts away from an entry until end is called; ok is false if an attempt uses
// it.
func (l *Unfinished) beginSweep(mark string) (end func(), ok bool) {
	name := l.path(mark)
	entries.mu.Lock()
	defer entries.mu.Unlock()
	if entries.open[name] != nil {
		return nil, false
	}
	u := &entryUse{sweepDone: make(chan struct{})}
	entries.open[name] = u
	return func() {
		entries.mu.Lock()
		defer entries.mu.Unlock()
		delete(entries.open, name)
		close(u.sweepDone)
	}, true
}
