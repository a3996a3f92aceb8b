package client

import (
	"bytes"
	"sync"

	"fairlead/gateway/protocol"
)

// earlyEvents holds back events that arrive before the handshake is complete. Answers to them go
// over the current connection, which is theirs only after the handshake.
type earlyEvents struct {
	deliver func(protocol.EventFrame) // nil: events are dropped

	mu     sync.Mutex // guards the fields below, and keeps the order while held events are delivered
	isOpen bool
	held   []protocol.EventFrame
}

func (e *earlyEvents) event(f protocol.EventFrame) {
	e.mu.Lock()
	if !e.isOpen {
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

// open delivers the held events; later ones are delivered at once.
func (e *earlyEvents) open() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.held {
		if e.deliver != nil {
			e.deliver(f)
		}
	}
	e.isOpen, e.held = true, nil
}
