package access

import (
	"context"
	"sync"

	"fairlead/gateway/protocol"
)

// Slots bounds what runs at the same time: for each program, and for the chats and windows together.
// One at its limit does not block the others. It is safe for concurrent use.
type Slots struct {
	size int

	mu sync.Mutex // guards of
	of map[string]chan struct{}
}

// NewSlots returns slots of which each caller has size.
func NewSlots(size int) *Slots { return &Slots{size: size, of: make(map[string]chan struct{})} }

// Take waits for a free slot of a caller, nil for the chats. The caller calls release once. The
// error is that of ctx.
func (s *Slots) Take(ctx context.Context, caller *protocol.ToolCaller) (release func(), err error) {
	s.mu.Lock()
	slots := s.of[CallerID(caller)]
	if slots == nil {
		slots = make(chan struct{}, s.size)
		s.of[CallerID(caller)] = slots
	}
	s.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// CallerID returns the ID for which a limit counts; empty for the chats and windows.
func CallerID(c *protocol.ToolCaller) string {
	if c == nil {
		return ""
	}
	return c.ID
}
