package app

import (
	"context"
	"runtime/debug"
	"time"
)

// gcPercent lets the heap grow by half between collections instead of doubling: most of it is fonts, which never change, and the
// program lies in the tray most of the day.
const gcPercent = 50

// settle is how long after the start the program gives back what only the start needed.
const settle = 5 * time.Second

// thrift keeps the memory at rest small. It blocks until the start is over, or ctx ends.
func thrift(ctx context.Context) {
	debug.SetGCPercent(gcPercent)
	timer := time.NewTimer(settle)
	defer timer.Stop()
	select {
	case <-timer.C:
		giveBack()
	case <-ctx.Done():
	}
}

// giveBack returns what is not used now to the system: free memory of Go and of C, and the pages of the program's own file, most of which
// only the start runs through. What of those is needed again comes from the system's cache.
func giveBack() {
	debug.FreeOSMemory()
	trim()
	forgetProgram()
}
