package stream

import (
	"os"
	"sync"
	"time"
)

// uses has the entries of ledgers that attempts or sweeps of this process use, by path. A sweep
// skips an entry that an attempt uses, and an attempt waits for a sweep of its entry. The entry's
// time is updated for the sweeps of other processes.
var uses = struct {
	mu   sync.Mutex // guards the fields below
	open map[string]*use
}{open: make(map[string]*use)}

// use is the use of one entry; it is in uses while there is a user.
type use struct {
	attempts int
	swept    chan struct{} // closed when the sweep is over; nil: no sweep
}

// begin keeps sweeps away from an entry until end is called.
func (l *Ledger) begin(mark string) (end func()) {
	if l == nil {
		return func() {}
	}
	name := l.path(mark)
	for {
		uses.mu.Lock()
		u := uses.open[name]
		if u != nil && u.swept != nil {
			uses.mu.Unlock()
			<-u.swept
			continue
		}
		if u == nil {
			u = new(use)
			uses.open[name] = u
		}
		u.attempts++
		uses.mu.Unlock()
		now := time.Now()
		os.Chtimes(name, now, now) // the entry may not exist
		return func() {
			uses.mu.Lock()
			defer uses.mu.Unlock()
			if u.attempts--; u.attempts == 0 {
				delete(uses.open, name)
			}
		}
	}
}

// sweeping keeps attempts away from an entry until end is called; ok is false if an attempt uses
// it.
func (l *Ledger) sweeping(mark string) (end func(), ok bool) {
	name := l.path(mark)
	uses.mu.Lock()
	defer uses.mu.Unlock()
	if uses.open[name] != nil {
		return nil, false
	}
	u := &use{swept: make(chan struct{})}
	uses.open[name] = u
	return func() {
		uses.mu.Lock()
		defer uses.mu.Unlock()
		delete(uses.open, name)
		close(u.swept)
	}, true
}
