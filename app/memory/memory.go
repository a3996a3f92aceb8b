// Package memory reduces the desktop program's memory use at rest, and its painting time on
// machines without a graphics processor.
//
// Without a graphics processor, the graphics driver paints in the program's own memory: it
// allocates and frees pictures of some megabytes within a frame. By default the C library returns
// such blocks to the system at once, and the system zeroes them for the next frame, which took 5 to
// 13 of the 33 ms of a frame. [Prepare] makes the C library retain them. The other functions return
// unused memory to the system after the start, after work, when the windows lose the focus, and
// when they are hidden in the tray.
package memory

import (
	"context"

	"fairlead/gateway/peer/resident"
)

// rests is the number of times that memory of the start is returned: a first start, or one on a
// busy machine, continues after the first time.
const rests = 3

// Prepare makes the C library retain free memory for the next frame. Call it before creating the
// first window.
func Prepare() { keep() }

// Thrift returns the memory that only the start needed. It blocks until the start is over, or ctx
// ends.
func Thrift(ctx context.Context) {
	for range rests {
		resident.Settle(ctx, Trim)
	}
}

// Rest returns unused memory whenever the program becomes idle after work, until ctx ends. It
// blocks.
func Rest(ctx context.Context) { resident.Rest(ctx, GiveBack) }

// GiveBack returns unused memory to the system: free memory of Go and of C, and the mapped pages of
// the program file and its libraries.
func GiveBack() {
	resident.GiveBack()
	trim()
}

// Trim returns the free memory of C to the system. It takes a millisecond or two.
func Trim() { trim() }
