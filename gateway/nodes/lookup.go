package nodes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// Nodes lists all known nodes: online ones first, then by ID.
func (h *Hub) Nodes() []protocol.NodeInfo {
	h.mu.Lock()
	list := make([]protocol.NodeInfo, 0, len(h.nodes))
	for _, n := range h.nodes {
		list = append(list, n.info)
	}
	h.mu.Unlock()
	slices.SortFunc(list, func(a, b protocol.NodeInfo) int {
		switch {
		case a.Online == b.Online:
			return cmp.Compare(a.ID, b.ID)
		case a.Online:
			return -1
		}
		return 1
	})
	return list
}

// Node returns one node.
func (h *Hub) Node(id protocol.NodeID) (protocol.NodeInfo, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.nodes[id]
	if n == nil {
		return protocol.NodeInfo{}, false
	}
	return n.info, true
}

// NameOf returns the person's name of a machine, or "".
func (h *Hub) NameOf(id protocol.NodeID) string {
	n, _ := h.Node(id)
	return n.Name
}

// Tools lists the tools of the connected nodes under their full names, sorted by node; each node's
// tools are in the node's own order.
func (h *Hub) Tools() []protocol.ToolSpec {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := []protocol.ToolSpec{}
	for _, id := range slices.Sorted(maps.Keys(h.nodes)) {
		n := h.nodes[id]
		for _, t := range n.tools {
			if n.link == nil || slices.Contains(n.info.Held, t.Name) {
				continue
			}
			t.Name = string(protocol.NewToolName(id, t.Name))
			list = append(list, t)
		}
	}
	return list
}

// connectedByPrefix returns the connected node with the given tool prefix in the names that models
// see, or nil. It requires the hub's lock.
func connectedByPrefix(nodes map[protocol.NodeID]*node, prefix protocol.NodeID) *node {
	for id, n := range nodes {
		if n.link != nil && id.ToolPrefix() == prefix {
			return n
		}
	}
	return nil
}

// Lookup finds the node of a tool, by the tool's full name or by the name that models see. The
// returned tool has its name without the node. Errors: protocol.ErrNotFound for an unknown tool,
// protocol.ErrUnavailable for a tool of an offline node. The messages are those of GSV.
func (h *Hub) Lookup(name protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error) {
	unknown := func() error { return protocol.ErrNotFound.With(fmt.Sprintf("No node provides tool: %s", name)) }
	id, tool, ok := name.Split()
	if !ok {
		return "", protocol.ToolSpec{}, unknown()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.nodes[id]
	if n == nil {
		if n = connectedByPrefix(h.nodes, id); n != nil {
			id = n.info.ID
		}
	}
	switch {
	case n == nil:
		return "", protocol.ToolSpec{}, unknown()
	case n.link == nil:
		return id, protocol.ToolSpec{}, protocol.ErrUnavailable.With(fmt.Sprintf("Node not connected: %s", id))
	}
	for _, t := range n.tools {
		if t.Name == tool && slices.Contains(n.info.Held, tool) {
			return id, protocol.ToolSpec{}, protocol.ErrForbidden.With(fmt.Sprintf("%s waits for the person: %s offers more than when it was paired", name, id))
		}
		if t.Name == tool {
			return id, t, nil
		}
	}
	return "", protocol.ToolSpec{}, unknown()
}

// Contact describes the connection of a node.
type Contact struct {
	Extensions []string
	Local      bool            // it runs in the gateway's own process
	Listens    <-chan struct{} // closed once events may be sent; a node without extensions loses events that arrive before hello-ok
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

// HasProgram reports whether a node has a program. known is false if the node is offline or did not
// report its programs.
func (h *Hub) HasProgram(id protocol.NodeID, name string) (has, known bool) {
	return reports(h, id, name, func(n *node) string { return n.programs })
}

// HasVariable reports whether an environment variable may be set for a node's commands. known is
// false if the node is offline or did not report its variables.
func (h *Hub) HasVariable(id protocol.NodeID, name string) (has, known bool) {
	return reports(h, id, name, func(n *node) string { return n.variables })
}

// reports reports whether a name is in a list that joinLines made; known is false for an offline node.
func reports(h *Hub, id protocol.NodeID, name string, list func(*node) string) (has, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := h.nodes[id]; n != nil && n.link != nil {
		return strings.Contains(list(n), "\n"+name+"\n"), list(n) != ""
	}
	return false, false
}

// joinLines joins names to one text, with each name between newlines. Without names it returns "".
func joinLines(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "\n" + strings.Join(names, "\n") + "\n"
}
