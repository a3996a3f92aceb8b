package nodes

import (
	"strings"

	"fairlead/gateway/protocol"
)

// inLines joins names to one text, with each name between newlines. Without names it returns "".
func inLines(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "\n" + strings.Join(names, "\n") + "\n"
}

// HasProgram reports whether a node has a program. known is false if the node is offline or did not
// report its programs.
func (h *Hub) HasProgram(id protocol.NodeID, name string) (has, known bool) {
	return h.has(id, name, func(n *node) string { return n.programs })
}

// HasVariable reports whether an environment variable may be set for a node's commands. known is
// false if the node is offline or did not report its variables.
func (h *Hub) HasVariable(id protocol.NodeID, name string) (has, known bool) {
	return h.has(id, name, func(n *node) string { return n.variables })
}

func (h *Hub) has(id protocol.NodeID, name string, of func(*node) string) (has, known bool) {
	h.mu.Lock()
	n := h.nodes[id]
	all := ""
	if n != nil && n.link != nil {
		all = of(n)
	}
	h.mu.Unlock()
	return strings.Contains(all, "\n"+name+"\n"), all != ""
}
