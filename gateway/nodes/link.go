package nodes

import "fairlead/gateway/protocol"

// Contact describes the connection of a node.
type Contact struct {
	Extensions []string
	Local      bool            // it runs in the gateway's own process
	Listens    <-chan struct{} // closed once events may be sent; a node without extensions loses events that arrive before hello-ok
}

// LinkOf returns a node's connection without the details.
func (h *Hub) LinkOf(id protocol.NodeID) (Link, bool) {
	l, _, ok := h.Link(id)
	return l, ok
}

// Link returns a node's connection. ok is false while the node is offline.
func (h *Hub) Link(id protocol.NodeID) (l Link, c Contact, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.nodes[id]
	if n == nil || n.link == nil {
		return nil, Contact{}, false
	}
	return n.link, Contact{n.ext, n.info.Local, n.listens}, true
}
