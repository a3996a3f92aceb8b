package operator

import (
	"fmt"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// hands are the machines and their tools.
type hands struct {
	nodes []protocol.NodeID // without the gateway itself
	tools map[protocol.NodeID]map[string]protocol.ToolName
	first protocol.NodeID // the default machine
}

func newHands(req llm.Request) hands {
	h := hands{tools: make(map[protocol.NodeID]map[string]protocol.ToolName)}
	for _, t := range req.Tools {
		node, bare, ok := protocol.ToolName(t.Name).Split()
		if !ok {
			continue
		}
		if h.tools[node] == nil {
			h.tools[node] = make(map[string]protocol.ToolName)
			if node != protocol.NativePrefix {
				h.nodes = append(h.nodes, node)
			}
		}
		h.tools[node][bare] = protocol.ToolName(t.Name)
	}
	if len(h.nodes) > 0 {
		h.first = h.nodes[0]
	}
	if _, after, ok := strings.Cut(req.System, "Default machine: "); ok {
		name, _, _ := strings.Cut(after, "\n")
		if node, ok := h.named(strings.TrimSpace(name)); ok {
			h.first = node
		}
	}
	return h
}

// named returns a machine by its name, ignoring case.
func (h hands) named(name string) (protocol.NodeID, bool) {
	name = strings.TrimPrefix(unquote(name), "@")
	for _, n := range h.nodes {
		if strings.EqualFold(string(n), name) {
			return n, true
		}
	}
	return "", false
}

// call builds a call of a tool on a node, or returns the reason why it cannot. If no node is given,
// it is the default one, or the first that has the tool.
func (h hands) call(node protocol.NodeID, bare string, in map[string]any) (call, string) {
	if len(h.nodes) == 0 {
		return call{}, "No machine is connected, so I have no hands right now."
	}
	if node == "" {
		node = h.first
		for _, n := range h.nodes {
			if _, ok := h.tools[node][bare]; !ok {
				node = n
			}
		}
		if _, ok := h.tools[node][bare]; !ok {
			return call{}, fmt.Sprintf("None of the connected machines can do that: there is no %s tool.", bare)
		}
	}
	name, ok := h.tools[node][bare]
	if !ok {
		return call{}, fmt.Sprintf("%s cannot do that: it has no %s tool.", node, bare)
	}
	return call{name, in}, ""
}
