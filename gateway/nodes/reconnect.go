package nodes

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// reconnectLimit is the time for which a call waits for a node that disconnected during it. It is
// longer than the longest delay between a node's attempts to reconnect.
const reconnectLimit = 45 * time.Second

// continues reports whether a node continues a call when it loses its connection: if the call has
// an effect, so that it should not be repeated, and the node retains its result. Calls that only
// read are simply repeated. It requires the hub's lock.
func (n *node) continues(inv protocol.ToolInvoke) bool {
	return !inv.Preview && slices.Contains(n.ext, protocol.ExtKeep) &&
		slices.ContainsFunc(n.tools, func(t protocol.ToolSpec) bool { return t.Name == inv.Tool && t.Effect != protocol.EffectRead })
}

// failLater fails a call if its node has not reconnected when the time for that is over.
func (t *Calls) failLater(id protocol.CallID, p *pending, n *node) {
	crash.AfterFunc(reconnectLimit, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.pending[id] == p && p.node == n {
			delete(t.pending, id)
			p.reply <- reply{err: protocol.ErrUnavailable.With(fmt.Sprintf(nodeGone, n.info.ID))}
		}
	})
}

// moveLocked moves calls from a node's earlier connection to its new one, if the node continues
// them or has their results, and fails the others.
func (t *Calls) moveLocked(old, now *node) {
	why := replacedCall
	if old.link == nil {
		why = nodeGone
	}
	t.failLocked(old, why, func(id protocol.CallID, p *pending) bool {
		if !p.survives || old.info.Device != now.info.Device || !slices.Contains(now.calls, id) {
			return false
		}
		p.node = now
		return true
	})
}

// leftoverLocked returns the calls that a node continues although nobody waits for them: stale
// calls were abandoned by their waiters, older ones are unknown to this start of the gateway.
func (t *Calls) leftoverLocked(n *node) (stale, older []protocol.CallID) {
	if !slices.Contains(n.ext, protocol.ExtCancel) {
		return nil, nil
	}
	for _, id := range n.calls {
		switch {
		case t.pending[id] != nil:
		case t.abandoned[id] == n.info.ID:
			stale = append(stale, id)
		default:
			older = append(older, id)
		}
	}
	return stale, older
}

// cancelLeftover cancels a node's calls that are no longer needed, including those that were
// cancelled while the node was offline before the gateway was restarted. persist may be nil.
func cancelLeftover(persist Persist, id protocol.NodeID, link Link, stale, older []protocol.CallID) {
	ctx := context.Background()
	if len(older) > 0 && persist != nil {
		stopped, err := persist.StoppedCalls(ctx, id, older)
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
