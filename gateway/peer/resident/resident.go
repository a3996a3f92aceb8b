// Package resident keeps the memory of a program that rests most of the day small, and lets one that answers many calls have more of it while it works.
// It needs no cgo.
package resident

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// settle is how long after the start a program gives back what only the start needed.
const settle = 5 * time.Second

// Settle waits until the start is over and then gives memory back, together with what more does. It returns at once when ctx ends first.
func Settle(ctx context.Context, more ...func()) {
	timer := time.NewTimer(settle)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	GiveBack()
	for _, f := range more {
		f()
	}
}

const (
	// still is how long a program makes next to nothing before it rests.
	still = time.Minute
	// little is what it may make in that time, in bytes, and worth what it must have made before for something to be given back.
	little, worth = 1 << 20, 8 << 20
)

// Rest calls giveBack each time that the program rests after it has worked, until ctx ends.
func Rest(ctx context.Context, giveBack func()) {
	ticker := time.NewTicker(still)
	defer ticker.Stop()
	given := made()
	last := given
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		now := made()
		if now-last <= little && now-given >= worth {
			giveBack()
			now = made()
			given = now
		}
		last = now
	}
}

// made is how many bytes the program has allocated since its start.
func made() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// GiveBack returns to the system what is not used now: Go's free memory, and the pages of the files of the program and its libraries, most of which
// only the start runs through. What of those is needed again comes from the system's cache. It takes some milliseconds, and some more are spent on the
// pages that are needed again.
func GiveBack() {
	debug.FreeOSMemory()
	forgetFiles()
}

// Run runs a program that goes on until ctx ends, and gives memory back once its start is over; of one that is [Roomy] by then also whenever it rests
// after work.
func Run(ctx context.Context, program func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		Settle(ctx)
		if isRoomy() { // another collects so early that it has little to give back, and looking would wake it
			Rest(ctx, GiveBack)
		}
	})
	defer wg.Wait()
	defer cancel()
	return program(ctx)
}
