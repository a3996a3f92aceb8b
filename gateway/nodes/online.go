package nodes

import (
	"context"
	"slices"
	"sync/atomic"

	"fairlead/gateway/protocol"
)

// AwaitOnline waits until a node is connected, or ctx ends. The empty ID means any node.
func (h *Hub) AwaitOnline(ctx context.Context, id protocol.NodeID) error {
	isMeant := func(n protocol.NodeInfo) bool { return n.Online && (id == "" || n.ID == id) }
	sub := h.bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNode && isMeant(*c.Node) })
	defer sub.Close()
	if slices.ContainsFunc(h.Nodes(), isMeant) {
		return nil
	}
	_, err := sub.Next(ctx)
	return err
}

// Readiness is whether the gateway can do its work: once its own node has connected, if it has one.
// It is safe for concurrent use.
type Readiness struct {
	hub   *Hub
	own   protocol.NodeID // empty: none exists
	ready func()          // called once it can; may be nil
	is    atomic.Bool
}

// NewReadiness returns the readiness of a gateway that starts together with a node. The node may be
// empty. ready is called once by Run, and may be nil.
func NewReadiness(h *Hub, own protocol.NodeID, ready func()) *Readiness {
	return &Readiness{hub: h, own: own, ready: ready}
}

// Run waits until the gateway is ready, or ctx ends.
func (r *Readiness) Run(ctx context.Context) {
	if r.own != "" && r.hub.AwaitOnline(ctx, r.own) != nil {
		return
	}
	r.is.Store(true)
	if r.ready != nil {
		r.ready()
	}
}

// IsReady reports whether the gateway has become ready.
func (r *Readiness) IsReady() bool { return r.is.Load() }
