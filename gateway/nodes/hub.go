// Package nodes manages the nodes: which are connected, the tools they offer, and the calls in
// progress. Nodes that disconnect stay known as offline.
package nodes

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
)

// Link is a connection to a node.
type Link interface {
	// SendEvent queues an event for the node. Events are sent in order.
	SendEvent(ctx context.Context, name string, payload any) error
	// Close closes the connection with a WebSocket close code and reason.
	Close(code int, reason string)
}

// Persist stores nodes across restarts.
type Persist interface {
	// Put stores a node, together with the audit entries about it.
	Put(ctx context.Context, n protocol.NodeInfo, lines ...protocol.AuditEntry) error
	List(ctx context.Context) ([]protocol.NodeInfo, error)
	// Delete deletes a node and reports whether it was known.
	Delete(ctx context.Context, id protocol.NodeID) (bool, error)
	// StoppedCalls returns those of a node's calls that were cancelled before they ended.
	StoppedCalls(ctx context.Context, id protocol.NodeID, calls []protocol.CallID) ([]protocol.CallID, error)
}

// Entry describes how a node connected.
type Entry struct {
	Local  bool              // it runs in the gateway's own process
	Device protocol.DeviceID // its paired device; empty for a node that uses the gateway's token
	// Network is where a new machine belongs; empty or unknown means the default network.
	Network protocol.NetworkID
	Name    string // display name of the device, until the person gives the node another; may be empty
	// Address is the host from which it connected, and Words those of its device's key. They replace
	// what the node reports about itself; both are empty for a local node.
	Address string
	Words   []string
	// Unapproved are the tools that are unavailable until the person approves them.
	Unapproved []string
	// Sequence increases with each opened connection. The handshake of an abandoned connection is
	// sometimes read after that of a newer one.
	Sequence uint64
	// Listens is closed by [Listening] once the node has received its hello-ok and handles events.
	// nil means that hello-ok has already been sent.
	Listens <-chan struct{}
}

// settle is the time that a node without extensions needs after hello-ok before it handles events:
// GSV's nodes install their handler late and lose earlier events.
const settle = 250 * time.Millisecond

// Listening closes listens once a node that has just received its hello-ok handles events.
func Listening(p protocol.ConnectParams, listens chan<- struct{}) {
	if len(p.Extensions) > 0 {
		close(listens)
		return
	}
	crash.AfterFunc(settle, func() { close(listens) })
}

// Hub manages nodes. It is safe for concurrent use.
type Hub struct {
	Calls    *Calls // on the nodes
	Networks *Networks

	bus     *event.Bus
	persist Persist

	mu    sync.Mutex // guards nodes
	nodes map[protocol.NodeID]*node
}

// node is one node, connected or not.
type node struct {
	info  protocol.NodeInfo
	tools []protocol.ToolSpec // with names without the node
	ext   []string
	calls []protocol.CallID // calls that it had or continued when it connected
	stale []protocol.CallID // of these, calls to cancel once it handles events
	older []protocol.CallID // of these, calls that this start of the gateway does not know
	link  Link              // nil when offline
	// sequence increases with each connection, see [Entry].
	sequence uint64
	// programs are the names of the machine's programs, each between newlines; empty means unknown.
	// One string uses less memory than a list.
	programs string
	// variables are the environment variables that may be set for its commands, in the same form.
	variables string
	listens   <-chan struct{} // closed once events may be sent
	saved     time.Time       // time of the last write to the store
}

// New returns a hub. bus and persist may be nil.
func New(bus *event.Bus, persist Persist) *Hub {
	h := &Hub{bus: bus, persist: persist, nodes: make(map[protocol.NodeID]*node)}
	h.Calls = &Calls{bus: bus, mu: &h.mu, nodes: h.nodes, pending: make(map[protocol.CallID]*pending), abandoned: make(map[protocol.CallID]protocol.NodeID)}
	h.Networks = newNetworks(h)
	return h
}

// Load restores the known nodes as offline.
func (h *Hub) Load(ctx context.Context) error {
	if h.persist == nil {
		return nil
	}
	list, err := h.persist.List(ctx)
	if err != nil {
		return fmt.Errorf("load machines: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, info := range list {
		info.Online, info.Network = false, h.Networks.placeLocked(info.Network)
		if h.nodes[info.ID] == nil {
			h.nodes[info.ID] = &node{info: info}
		}
	}
	return nil
}

// known are the standard tools with an effect. Before one of them is repeated, the hash of the file
// or the person decides.
var known = map[string]bool{"Bash": true, "Process": true, "Write": true, "Edit": true}

// Attach registers a node's connection. It closes an older connection with the same ID and fails
// its calls, except those that the node continues. The caller must call detach when the link has
// closed. Errors are protocol.ErrInvalidConnect, or protocol.ErrConflict when a newer connection
// exists or the name is that of the gateway's own node.
func (h *Hub) Attach(ctx context.Context, p protocol.ConnectParams, e Entry, link Link) (detach func(), err error) {
	n, err := newNode(p, e, link)
	if err != nil {
		return nil, err
	}
	oldLink, info, err := h.replace(n)
	if err != nil {
		return nil, err
	}
	if oldLink != nil {
		oldLink.Close(protocol.CloseReplaced, "Replaced by newer node connection")
	}
	save(ctx, h.persist, info)
	slog.Info("Node connected", "node", info.ID, "tools", len(n.tools))
	return func() { h.detach(context.WithoutCancel(ctx), n) }, nil
}

// newNode checks what a connecting node reports about itself.
func newNode(p protocol.ConnectParams, e Entry, link Link) (*node, error) {
	id, err := protocol.ParsePeerNodeID(p.Client.ID)
	if err != nil {
		return nil, protocol.ErrInvalidConnect.With(err.Error())
	}
	runtime, err := checkRuntime(p)
	if err != nil {
		return nil, err
	}
	host, err := hostOf(id, p.Host)
	if err != nil {
		return nil, err
	}
	if host != nil {
		host.Address, host.Words = e.Address, e.Words
	}
	now := time.Now()
	n := &node{link: link, sequence: e.Sequence, tools: p.Tools, ext: p.Extensions, calls: p.Calls, listens: e.Listens, saved: now}
	for i, t := range n.tools {
		n.tools[i] = toolkit.Declared(t)
	}
	n.programs, n.variables = joinLines(p.Programs), joinLines(p.Environment)
	if n.listens == nil {
		listens := make(chan struct{})
		Listening(p, listens)
		n.listens = listens
	}
	n.info = protocol.NodeInfo{
		ID: id, Name: e.Name, Network: e.Network, Online: true, Local: e.Local, Device: e.Device, Held: e.Unapproved, Platform: line(p.Client.Platform), Version: line(p.Client.Version), Host: host,
		Caps: runtime.HostCapabilities, ConnectedAt: now.UnixMilli(), LastSeenAt: now.UnixMilli(),
		Files: slices.Contains(p.Extensions, protocol.ExtFiles), Direct: slices.Contains(p.Extensions, protocol.ExtDirect),
		Terminals: slices.Contains(p.Extensions, protocol.ExtTerminal),
	}
	for _, t := range n.tools {
		n.info.Tools = append(n.info.Tools, t.Name)
		if toolkit.Risky(t) && !known[t.Name] {
			slog.Warn("Tool has an effect, is not idempotent and ignores its idempotency key: a call with an unknown outcome may happen twice",
				"node", id, "tool", t.Name)
		}
	}
	return n, nil
}

// replace makes n the connection of its node. old is the connection that it replaces, which the
// caller closes; nil if the node was offline.
func (h *Hub) replace(n *node) (oldLink Link, info protocol.NodeInfo, err error) {
	id := n.info.ID
	h.mu.Lock()
	defer h.mu.Unlock()
	if other := connectedByPrefix(h.nodes, id.ToolPrefix()); other != nil && other.info.ID != id {
		return nil, info, protocol.ErrInvalidConnect.With(fmt.Sprintf("models could not tell %s from %s, which is connected: give this node another name", id, other.info.ID))
	}
	old := h.nodes[id]
	if old != nil && old.link != nil && old.sequence > n.sequence {
		return nil, info, protocol.ErrConflict.With("a newer connection of this node exists")
	}
	if old != nil && old.link != nil && old.info.Local && !n.info.Local {
		return nil, info, protocol.ErrConflict.With(fmt.Sprintf("the gateway's own machine is called %s: give this one another name", id))
	}
	h.nodes[id] = n
	if old != nil {
		oldLink = old.link
		h.Calls.moveLocked(old, n)
		n.info.Name, n.info.Colour = cmp.Or(old.info.Name, n.info.Name), old.info.Colour
		n.info.Network = old.info.Network
	}
	n.info.Network = h.Networks.placeLocked(n.info.Network)
	n.stale, n.older = h.Calls.leftoverLocked(n)
	publish(h.bus, n.info)
	return oldLink, n.info, nil
}

// Own reports whether a name is that of the gateway's own node and this node is connected.
func (h *Hub) Own(id protocol.NodeID) bool {
	_, c, ok := h.Link(id)
	return ok && c.Local
}

func (h *Hub) detach(ctx context.Context, n *node) {
	h.mu.Lock()
	present := h.nodes[n.info.ID] == n && n.link != nil // otherwise it was replaced
	// The calls fail, except those that the node may be continuing.
	h.Calls.failLocked(n, nodeGone, func(id protocol.CallID, p *pending) bool {
		continues := p.survives && p.sent.Load() && h.nodes[n.info.ID] == n
		if continues {
			h.Calls.failLater(id, p, n)
		}
		return continues
	})
	if present {
		n.link = nil
		n.info.Online = false
		n.info.LastSeenAt = time.Now().UnixMilli()
		publish(h.bus, n.info)
	}
	info := n.info
	h.mu.Unlock()
	if present {
		save(ctx, h.persist, info)
		slog.Info("Node disconnected", "node", info.ID)
	}
}

// publish publishes a node's state, under the hub's lock to keep the order. bus may be nil.
func publish(bus *event.Bus, info protocol.NodeInfo) {
	if bus != nil {
		bus.Publish(protocol.Change{Kind: protocol.ChangeNode, Node: &info})
	}
}

// save stores a node for later starts, where it begins as offline. So the order of writes does not
// matter. persist may be nil.
func save(ctx context.Context, persist Persist, info protocol.NodeInfo) {
	if persist == nil {
		return
	}
	if err := persist.Put(ctx, info); err != nil {
		slog.Warn("A machine could not be remembered", "node", info.ID, "err", err)
	}
}
