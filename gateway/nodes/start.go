package nodes

import (
	"context"
	"encoding/json"
	"slices"

	"fairlead/gateway/protocol"
)

// Offerer is a [Link] that can take an event without ever blocking. It reports false when it cannot now; then nothing was sent.
type Offerer interface {
	OfferEvent(name string, payload any) bool
}

// Started is a call that no goroutine waits for.
type Started struct {
	hub  *Hub
	call protocol.CallID
	p    *pending
}

// Start is [Hub.Call] without the wait: end is called once, with what Call would return, on the goroutine that learns of it, which may be before
// Start returns. It must not block. Start returns nil, and has done nothing, when the node cannot be told at this moment: Call then waits, or says why.
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

// told sends the event if that can be done at once.
func (p *pending) told(inv protocol.ToolInvoke) bool {
	select {
	case <-p.listens:
	default:
		return false
	}
	link, ok := p.link.(Offerer)
	return ok && link.OfferEvent(protocol.EventToolInvoke, inv)
}

// Stop takes the call away from its end, which is then never called. It reports false when the end has been called, or is about to be.
func (s *Started) Stop() bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.hub.calls[s.call] != s.p || s.p.end == nil {
		return false
	}
	s.p.end, s.p.reply = nil, make(chan reply, 1)
	return true
}

// Late tells the node of a stopped call to stop too, if it understands that, and returns what it reports within two seconds; nil for nothing.
func (s *Started) Late(ctx context.Context) json.RawMessage {
	defer s.hub.abandon(s.call)
	return s.hub.late(ctx, s.p, s.call)
}

// late tells the node to stop and waits for what it has. One that is away is told when it comes back.
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

// drop forgets a call of which its node was not told.
func (h *Hub) drop(call protocol.CallID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.calls, call)
}
