package nodes

import (
	"context"
	"encoding/json"
	"slices"

	"fairlead/gateway/protocol"
)

// Offerer is a [Link] that can accept an event without blocking. OfferEvent returns false, and has
// sent nothing, if it would have to block.
type Offerer interface {
	OfferEvent(name string, payload any) bool
}

// Started is a call that no goroutine waits for.
type Started struct {
	hub  *Hub
	call protocol.CallID
	p    *pending
}

// Start is [Hub.Call] without waiting: end is called once with Call's results, on the goroutine
// that receives them, possibly before Start returns. end must not block. Start returns nil and does
// nothing if the event cannot be sent at once: then use Call, which waits or returns the error.
func (h *Hub) Start(id protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress), end func(json.RawMessage, error)) *Started {
	if inv.Args == nil {
		inv.Args = json.RawMessage("{}")
	}
	p, err := h.open(id, inv.CallID, false, progress, end)
	if err != nil {
		return nil
	}
	s := &Started{hub: h, call: inv.CallID, p: p}
	if !p.told(inv) && s.Stop() {
		h.drop(inv.CallID)
		return nil
	}
	return s
}

// told sends the event if that is possible without blocking.
func (p *pending) told(inv protocol.ToolInvoke) bool {
	select {
	case <-p.listens:
	default:
		return false
	}
	link, ok := p.link.(Offerer)
	return ok && link.OfferEvent(protocol.EventToolInvoke, inv)
}

// Stop detaches the call from its end function, which is then never called. It returns false when
// the function has been called, or is about to be.
func (s *Started) Stop() bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.hub.calls[s.call] != s.p || s.p.end == nil {
		return false
	}
	s.p.end, s.p.reply = nil, make(chan reply, 1)
	return true
}

// Late cancels a stopped call at its node, if the node supports that, and returns the result that
// arrives within two seconds, or nil.
func (s *Started) Late(ctx context.Context) json.RawMessage {
	defer s.hub.abandon(s.call)
	return s.hub.late(ctx, s.p, s.call)
}

// late cancels a call at its node and waits for its result. A node that is offline gets the
// cancellation when it reconnects.
func (h *Hub) late(ctx context.Context, p *pending, call protocol.CallID) json.RawMessage {
	h.mu.Lock()
	link, ext := p.node.link, p.node.ext
	h.mu.Unlock()
	if link == nil || !slices.Contains(ext, protocol.ExtCancel) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelLimit)
	defer cancel()
	if link.SendEvent(ctx, protocol.EventToolCancel, protocol.ToolCancel{CallID: call}) != nil {
		return nil
	}
	select {
	case r := <-p.reply:
		if r.err == nil {
			return r.result
		}
	case <-ctx.Done():
	}
	return nil
}

// drop forgets a call that was not sent to its node.
func (h *Hub) drop(call protocol.CallID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.calls, call)
}
