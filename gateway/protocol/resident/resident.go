// Package resident keeps the memory of a program that rests most of the day small. It needs no cgo.
package resident

import (
	"context"
	"runtime/debug"
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

// GiveBack returns to the system what is not used now: Go's free memory, and the pages of the files of the program and its libraries, most of which
// only the start runs through. What of those is needed again comes from the system's cache. It takes some milliseconds, and some more are spent on the
// pages that are needed again.
func GiveBack() {
	debug.FreeOSMemory()
	forgetFiles()
}

// Run runs a program that goes on until ctx ends, and gives memory back once its start is over.
func Run(ctx context.Context, program func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { Settle(ctx) })
	defer wg.Wait()
	defer cancel()
	return program(ctx)
}
