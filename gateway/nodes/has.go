package nodes

import (
	"strings"

	"fairlead/gateway/protocol"
)

// inLines is one text of many names, each between line ends; empty of none.
func inLines(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "\n" + strings.Join(names, "\n") + "\n"
}

// HasProgram reports whether a machine has a program; known is false for one that is offline or does not tell.
func (h *Hub) HasProgram(id protocol.NodeID, name string) (has, known bool) {
	return h.has(id, name, func(n *node) string { return n.programs })
}

// HasVariable reports whether commands of a machine may find an environment variable set; known is false for one that is offline or does not tell.
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
