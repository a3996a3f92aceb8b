package terminal

import (
	"time"

	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

const (
	// maxPending is the number of bytes that wait for a viewer. One that reads more slowly misses some
	// output, and gets a snapshot instead.
	maxPending = 256 << 10
	// snapshotEvery is the least time between two snapshots for a viewer that reads too slowly.
	snapshotEvery = 200 * time.Millisecond
	// maxBody limits the body of a frame that is sent, in bytes.
	maxBody = 64 << 10
)

// frame is a frame for a viewer.
type frame struct {
	kind byte
	body []byte
}

// viewer is one stream that shows a terminal. Its fields are guarded by the terminal.
type viewer struct {
	pending []frame
	size    int  // of pending, in bytes
	isStale bool // it needs a snapshot instead of pending
	isOver  bool // the last frame is in pending
	wake    wake.Signal
}

func newViewer() *viewer { return &viewer{isStale: true, wake: wake.New()} }

// add adds a frame. Of a viewer that is behind, only the end is retained, which follows the next
// snapshot.
func (v *viewer) add(kind byte, body []byte) {
	if kind == protocol.TerminalEnded {
		v.isOver = true
	} else if v.isStale = v.isStale || v.size+len(body) > maxPending; v.isStale {
		v.pending, v.size = nil, 0
		v.wake.Send()
		return
	}
	last := len(v.pending) - 1
	if kind == protocol.TerminalOutput && last >= 0 && v.pending[last].kind == kind && len(v.pending[last].body) < maxBody/2 {
		v.pending[last].body = append(v.pending[last].body, body...)
	} else {
		v.pending = append(v.pending, frame{kind, append([]byte(nil), body...)})
	}
	v.size += len(body)
	v.wake.Send()
}
