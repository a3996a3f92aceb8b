package rpc

import (
	"slices"
	"sync"

	"fairlead/gateway/peer/wire"
)

// held are the writers that delay their frames until the reader that produced them would block: all
// frames that result from one read go out in one write per peer. A reader flushes all writers
// before it blocks; an earlier flush does no harm.
type held struct {
	mu   sync.Mutex // guards list
	list []*wire.Writer
}

// hold adds a frame to w's delayed frames. It returns false when [wire.Writer.Hold] does. The
// caller must not block before the next flush.
func (h *held) hold(w *wire.Writer, frame []byte) bool {
	if !w.Hold(frame) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.list, w) {
		h.list = append(h.list, w)
	}
	return true
}

// flush writes all delayed frames. It never blocks.
func (h *held) flush() {
	for {
		h.mu.Lock()
		n := len(h.list)
		if n == 0 {
			h.mu.Unlock()
			return
		}
		w := h.list[n-1]
		h.list[n-1], h.list = nil, h.list[:n-1]
		h.mu.Unlock()
		w.Flush()
	}
}
