// Package resident keeps the memory use of mostly idle programs small, and gives programs that
// answer many calls more memory while they work. It does not need cgo.
package resident

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// settle is the time after the start at which a program releases memory that only the start needed.
const settle = 5 * time.Second

// Settle waits until the start is over, then calls [GiveBack] and more. If ctx ends first, it
// returns at once.
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
	// still is the length of the interval without allocations after which a program counts as idle.
	still = time.Minute
	// little is the number of bytes that an idle program may allocate in that interval. worth is
	// the number of bytes that it must have allocated before for a release to be worthwhile.
	little, worth = 1 << 20, 8 << 20
)

// Rest calls giveBack each time the program becomes idle after work, until ctx ends.
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

// made returns the number of bytes that the program has allocated since its start.
func made() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// GiveBack returns unused memory to the system: Go's free heap, and the pages of the program's
// files and libraries, most of which only the start uses. Pages that are needed again come from the
// system's cache. It takes some milliseconds, and a few more when the pages are used again.
func GiveBack() {
	debug.FreeOSMemory()
	forgetFiles()
}

// Run runs a program until ctx ends. It releases memory after the start, and in a [Roomy] program
// also whenever the program becomes idle after work.
func Run(ctx context.Context, program func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		Settle(ctx)
		if isRoomy() { // other programs collect so often that they have little to release, and the check itself would wake them
			Rest(ctx, GiveBack)
		}
	})
	defer wg.Wait()
	defer cancel()
	return program(ctx)
}
