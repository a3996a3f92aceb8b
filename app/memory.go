package app

import (
	"context"
	"runtime/debug"

	"fairlead/gateway/protocol/resident"
)

// gcPercent lets the heap grow by half between collections instead of doubling: most of it is fonts, which never change, and the
// program lies in the tray most of the day.
const gcPercent = 50

// rests is how often what only the start needed is given back: the first start, and one on a busy machine, goes on after the first time.
const rests = 3

// thrift keeps the memory at rest small. It blocks until the start is over, or ctx ends.
func thrift(ctx context.Context) {
	debug.SetGCPercent(gcPercent)
	for range rests {
		resident.Settle(ctx, trim)
	}
}

// giveBack returns what is not used now to the system: free memory of Go and of C, and the pages of the program's own file.
func giveBack() {
	resident.GiveBack()
	trim()
}
