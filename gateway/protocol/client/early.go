package client

import (
	"bytes"
	"sync"

	"fairlead/gateway/protocol"
)

// early holds the events that come before the handshake is over: what is answered to them goes over the present connection, and theirs is that only
// then.
type early struct {
	deliver func(protocol.EventFrame) // nil drops them

	mu   sync.Mutex // guards what follows, and keeps the order while the held ones are delivered
	up   bool
	held []protocol.EventFrame
}

func (e *early) event(f protocol.EventFrame) {
	e.mu.Lock()
	if !e.up {
		f.Payload = bytes.Clone(f.Payload)
		e.held = append(e.held, f)
		e.mu.Unlock()
		return
	}
	e.mu.Unlock()
	if e.deliver != nil {
		e.deliver(f)
	}
}

// open delivers what was held, and everything at once from then on.
func (e *early) open() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.held {
		if e.deliver != nil {
			e.deliver(f)
		}
	}
	e.up, e.held = true, nil
}
