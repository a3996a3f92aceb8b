package resident

import (
	"runtime/debug"
	"sync"
)

// eased is the growth of the heap that is allowed during a burst, in percent of the live heap.
const eased = 400

var burst struct {
	mu     sync.Mutex // guards the fields below, and ballast
	under  int
	before int // the usual percentage
}

// Ease lets the heap grow further before a garbage collection, until done is called. It is for work
// of at most a second that allocates much and retains little. In a [Roomy] program it does nothing.
// Bursts may overlap. It may block as long as a collection takes.
func Ease() (done func()) {
	burst.mu.Lock()
	defer burst.mu.Unlock()
	if ballast != nil {
		return func() {}
	}
	if burst.under++; burst.under == 1 {
		if burst.before = debug.SetGCPercent(eased); burst.before < 0 || burst.before > eased {
			debug.SetGCPercent(burst.before) // the user configured an even higher percentage, or none
		}
	}
	return sync.OnceFunc(func() {
		burst.mu.Lock()
		defer burst.mu.Unlock()
		if burst.under--; burst.under == 0 {
			debug.SetGCPercent(burst.before)
		}
	})
}
