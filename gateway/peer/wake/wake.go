// Package wake wakes goroutines: by a signal, or at intervals.
package wake

import (
	"context"
	"time"
)

// Signal wakes the goroutine that receives from it. Signals that it has not received yet are one.
type Signal chan struct{}

// New returns a signal that was not sent.
func New() Signal { return make(Signal, 1) }

// Send sends the signal. It does not block.
func (s Signal) Send() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Every calls f after each interval, until ctx ends. A call that takes longer delays the next one.
func Every(ctx context.Context, interval time.Duration, f func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f()
		}
	}
}
