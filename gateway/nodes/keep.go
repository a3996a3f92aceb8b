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

// comeBack is how long a call waits for a node that went away in the middle of it and may be going on with it: longer than a node that has tried for
// long waits before it tries again.
const comeBack = 45 * time.Second

// keep notes whether a call outlives its node's connection: it has an effect, so that nobody wants to repeat it, and the node keeps its result. What
// only reads is sooner done again.
func (h *Hub) keep(p *pending, inv protocol.ToolInvoke) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if inv.Preview || !slices.Contains(p.node.ext, protocol.ExtKeep) {
		return
	}
	i := slices.IndexFunc(p.node.tools, func(t protocol.ToolSpec) bool { return t.Name == inv.Tool })
	p.keeps = i >= 0 && p.node.tools[i].Effect != protocol.EffectRead
}

// leaveLocked ends the calls of a node whose connection is lost. Those that it may be going on with wait for it. What it returns is to be called
// without the lock.
func (h *Hub) leaveLocked(n *node) (tell func()) {
	away := func(id protocol.CallID, p *pending) bool {
		if !p.keeps || !p.sent.Load() || h.nodes[n.info.ID] != n {
			return false
		}
		time.AfterFunc(comeBack, func() { h.giveUp(id, p, n) })
		return true
	}
	return h.failLocked(n, nodeGone, away)
}

// giveUp ends a call whose node has not come back.
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

// moveLocked gives the calls of a node's earlier connection to its new one, if it says that it goes on with them or has their results, and ends the
// others. What it returns is to be called without the lock.
func (h *Hub) moveLocked(old, now *node) (tell func()) {
	why := replacedCall
	if old.link == nil {
		why = nodeGone
	}
	return h.failLocked(old, why, func(id protocol.CallID, p *pending) bool {
		if !p.keeps || old.info.Device != now.info.Device || !slices.Contains(now.calls, id) {
			return false
		}
		p.node = now
		return true
	})
}

// leftLocked are the calls that a node goes on with although nobody waits for them: stale, which whoever waited for has left, and older, of which this
// start of the gateway knows nothing.
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

// stopLeft has a node that listens stop the calls that nobody wants any more, also those that were stopped while it was away and before the gateway was
// started anew.
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

// Rejoin waits for the result of a call that a node goes on with, as [Hub.Call] does: an earlier start of the gateway made it. It gives
// protocol.ErrUnavailable when the node was not here since or does not know the call.
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
	if n.link == nil { // it was here, and has lost its connection once more
		time.AfterFunc(comeBack, func() { h.giveUp(call, p, n) })
	}
	h.mu.Unlock()
	defer h.abandon(call)
	r, err := p.wait(ctx)
	return h.answered(ctx, p, call, r, err)
}
