package operator

import (
	"cmp"
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

// use builds a call of a tool on the request's machine, or returns the reason why it cannot. If the
// person named no machine, it is the default one, or the first that has the tool.
func (r formMatch) use(bare string, in args) (call, string) {
	if len(r.nodes) == 0 {
		return call{}, "No machine is connected, so I have no hands right now."
	}
	for _, node := range append([]protocol.NodeID{cmp.Or(r.node, r.first)}, r.nodes...) {
		if tool, ok := r.tools[node][bare]; ok {
			return call{tool, in}, ""
		}
		if r.node != "" {
			return call{}, fmt.Sprintf("%s cannot do that: it has no %s tool.", node, bare)
		}
	}
	return call{}, fmt.Sprintf("None of the connected machines can do that: there is no %s tool.", bare)
}
