package rpc

import (
	"slices"
	"sync"

	"fairlead/gateway/peer/wire"
)

// held are the writers that hold frames until the reader that made them would wait for more: what one read brings is answered by one write for each
// peer. A reader flushes before it waits, whoever's frames they are; earlier does no harm.
type held struct {
	mu   sync.Mutex // guards list
	list []*wire.Writer
}

// hold gives w a frame. It reports false as [wire.Writer.Hold] does. Whoever calls it must not wait for anything before the next flush.
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

// flush writes all that is held. It never blocks.
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
