package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

// comeBack is the time for which a call waits for a node that disconnected during it. It is longer
// than the longest delay between a node's attempts to reconnect.
const comeBack = 45 * time.Second

// keep sets whether a call survives the loss of its node's connection: if the call has an effect,
// so that it should not be repeated, and the node retains its result. Calls that only read are
// simply repeated.
func (h *Hub) keep(p *pending, inv protocol.ToolInvoke) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if inv.Preview || !slices.Contains(p.node.ext, protocol.ExtKeep) {
		return
	}
	i := slices.IndexFunc(p.node.tools, func(t protocol.ToolSpec) bool { return t.Name == inv.Tool })
	p.keeps = i >= 0 && p.node.tools[i].Effect != protocol.EffectRead
}

// leaveLocked fails the calls of a node that lost its connection, except those that the node may be
// continuing.
func (h *Hub) leaveLocked(n *node) {
	away := func(id protocol.CallID, p *pending) bool {
		if !p.keeps || !p.sent.Load() || h.nodes[n.info.ID] != n {
			return false
		}
		time.AfterFunc(comeBack, func() { h.giveUp(id, p, n) })
		return true
	}
	h.failLocked(n, nodeGone, away)
}

// giveUp fails a call whose node has not reconnected.
func (h *Hub) giveUp(id protocol.CallID, p *pending, n *node) {
	h.mu.Lock()
	waits := h.calls[id] == p && p.node == n
	if waits {
		delete(h.calls, id)
	}
	h.mu.Unlock()
	if waits {
		p.reply <- reply{err: protocol.ErrUnavailable.With(fmt.Sprintf(nodeGone, n.info.ID))}
	}
}

// moveLocked moves calls from a node's earlier connection to its new one, if the node continues
// them or has their results, and fails the others.
func (h *Hub) moveLocked(old, now *node) {
	why := replacedCall
	if old.link == nil {
		why = nodeGone
	}
	h.failLocked(old, why, func(id protocol.CallID, p *pending) bool {
		if !p.keeps || old.info.Device != now.info.Device || !slices.Contains(now.calls, id) {
			return false
		}
		p.node = now
		return true
	})
}

// leftLocked returns the calls that a node continues although nobody waits for them: stale calls
// were abandoned by their waiters, older ones are unknown to this start of the gateway.
func (h *Hub) leftLocked(n *node) (stale, older []protocol.CallID) {
	if !slices.Contains(n.ext, protocol.ExtCancel) {
		return nil, nil
	}
	for _, id := range n.calls {
		switch {
		case h.calls[id] != nil:
		case h.done[id] == n.info.ID:
			stale = append(stale, id)
		default:
			older = append(older, id)
		}
	}
	return stale, older
}

// stopLeft cancels a node's calls that are no longer needed, including those that were cancelled
// while the node was offline before the gateway was restarted.
func (h *Hub) stopLeft(id protocol.NodeID, link Link, stale, older []protocol.CallID) {
	ctx := context.Background()
	if len(older) > 0 && h.persist != nil {
		stopped, err := h.persist.StoppedCalls(ctx, id, older)
		if err != nil {
			slog.Warn("It is not known which calls of a machine were stopped", "node", id, "err", err)
		}
		stale = append(stale, stopped...)
	}
	for _, call := range stale {
		if err := link.SendEvent(ctx, protocol.EventToolCancel, protocol.ToolCancel{CallID: call}); err != nil {
			slog.Warn("A call could not be stopped", "node", id, "call", call, "err", err)
		}
	}
}

// Rejoin waits, like [Hub.Call], for the result of a call that an earlier start of the gateway made
// and the node continues. It returns protocol.ErrUnavailable if the node has not connected since or
// does not know the call.
func (h *Hub) Rejoin(ctx context.Context, id protocol.NodeID, call protocol.CallID, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	h.mu.Lock()
	n := h.nodes[id]
	if n == nil || h.calls[call] != nil || !slices.Contains(n.calls, call) {
		h.mu.Unlock()
		return nil, protocol.ErrUnavailable.With(fmt.Sprintf(nodeGone, id))
	}
	p := &pending{node: n, link: n.link, listens: n.listens, keeps: true, reply: make(chan reply, 1), progress: progress}
	p.sent.Store(true)
	h.calls[call] = p
	if n.link == nil { // it connected, and has lost its connection again
		time.AfterFunc(comeBack, func() { h.giveUp(call, p, n) })
	}
	h.mu.Unlock()
	defer h.abandon(call)
	r, err := p.wait(ctx)
	return h.answered(ctx, p, call, r, err)
}
