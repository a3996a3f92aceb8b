package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

// comeBack is how long a call waits for a node that went away in the middle of it and may be going on with it.
const comeBack = 30 * time.Second

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

// staleLocked are the calls that a node goes on with although whoever waited for them has left.
func (h *Hub) staleLocked(n *node) (list []protocol.CallID) {
	for _, id := range n.calls {
		if h.calls[id] == nil && h.done[id] == n.info.ID && slices.Contains(n.ext, protocol.ExtCancel) {
			list = append(list, id)
		}
	}
	return list
}

// Rejoin waits for the result of a call that a node goes on with, as [Hub.Call] does: an earlier start of the gateway made it. It gives
// protocol.ErrUnavailable when the node is not there or does not know the call.
func (h *Hub) Rejoin(ctx context.Context, id protocol.NodeID, call protocol.CallID, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	h.mu.Lock()
	n := h.nodes[id]
	if n == nil || n.link == nil || h.calls[call] != nil || !slices.Contains(n.calls, call) {
		h.mu.Unlock()
		return nil, protocol.ErrUnavailable.With(fmt.Sprintf(nodeGone, id))
	}
	p := &pending{node: n, link: n.link, listens: n.listens, keeps: true, reply: make(chan reply, 1), progress: progress}
	p.sent.Store(true)
	h.calls[call] = p
	h.mu.Unlock()
	defer h.abandon(call)
	r, err := p.wait(ctx)
	return h.answered(ctx, p, call, r, err)
}
