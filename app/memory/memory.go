// Package memory keeps the desktop program small while it rests and even while it paints.
//
// The graphics driver paints in the program's own memory where there is no graphics processor. It allocates pictures of some megabytes and frees them
// again within a frame; as the C library comes, it gives such pieces back to the system at once and has them zeroed by it for the next frame, which
// took 5 to 13 of the 33 ms that a frame may take. [Prepare] has it keep them; what is kept for nothing is given back when the program has
// started, when it rests after work, when its windows lose the focus, and when they go to the tray.
package memory

import (
	"context"

	"fairlead/gateway/peer/resident"
)

// rests is how often what only the start needed is given back: the first start, and one on a busy machine, goes on after the first time.
const rests = 3

// Prepare has free memory of C kept for the next frame. It is to be called before the first window is made.
func Prepare() { keep() }

// Thrift gives back what only the start needed. It blocks until the start is over, or ctx ends.
func Thrift(ctx context.Context) {
	for range rests {
		resident.Settle(ctx, Trim)
	}
}

// Rest gives back what work has left, each time that the program rests after some, until ctx ends.
func Rest(ctx context.Context) { resident.Rest(ctx, GiveBack) }

// GiveBack returns what is not used now to the system: free memory of Go and of C, and the pages of the program's file and libraries.
func GiveBack() {
	resident.GiveBack()
	trim()
}

// Trim returns the free memory of C to the system. It takes a millisecond or two.
func Trim() { trim() }
