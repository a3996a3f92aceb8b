package resident

import (
	"runtime/debug"
	"sync"
)

// eased is how far the heap may grow during a burst, in percent of what is alive.
const eased = 400

var burst struct {
	mu     sync.Mutex // guards what follows, and ballast
	under  int
	before int // the percent otherwise
}

// Ease lets the heap grow further than otherwise before garbage is collected, until done is called: for work of a second at most that makes much and
// keeps little of it. A [Roomy] program has the room already. Bursts may overlap. It may block for as long as a collection takes.
func Ease() (done func()) {
	burst.mu.Lock()
	defer burst.mu.Unlock()
	if ballast != nil {
		return func() {}
	}
	if burst.under++; burst.under == 1 {
		if burst.before = debug.SetGCPercent(eased); burst.before < 0 || burst.before > eased {
			debug.SetGCPercent(burst.before) // it was told to collect less
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
