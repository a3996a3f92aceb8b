package stream

import (
	"os"
	"sync"
	"time"
)

// uses are the entries of ledgers that attempts, or a sweep, of this process have at the moment, by their paths: a sweep leaves alone what an attempt goes
// on with, and an attempt begins when the sweep of what it would go on with is over. For another process's sweep the entry is made new.
var uses = struct {
	mu   sync.Mutex // guards what follows
	open map[string]*use
}{open: make(map[string]*use)}

// use is of one entry; it is in uses while anybody has it.
type use struct {
	attempts int
	swept    chan struct{} // closed when the sweep that has it is over; nil: none has
}

// begin keeps sweeps from an entry until end is called.
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
		os.Chtimes(name, now, now) // it may not be there
		return func() {
			uses.mu.Lock()
			defer uses.mu.Unlock()
			if u.attempts--; u.attempts == 0 {
				delete(uses.open, name)
			}
		}
	}
}

// sweeping keeps attempts from an entry until end is called; ok is false when one has it.
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
