package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
)

// Machines are the connected nodes and their tools. gateway/nodes implements it.
type Machines interface {
	// Tools lists the tools of the connected nodes, with their full names.
	Tools() []protocol.ToolSpec
	// Lookup finds the node of a tool. The result has the tool's name without the node. Errors are
	// protocol.ErrNotFound, and protocol.ErrUnavailable for a node that is offline.
	Lookup(protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error)
	Node(protocol.NodeID) (protocol.NodeInfo, bool)
	Nodes() []protocol.NodeInfo
	NetworkList() []protocol.Network
}

// Servers are the MCP servers and their tools. gateway/servers implements it.
type Servers interface {
	// Has reports whether a server has the name in a tool's full name.
	Has(name protocol.NodeID) bool
	// Tools lists the tools of the connected servers, with their full names.
	Tools() []protocol.ToolSpec
	// ToolsFor lists those for the model of a chat, at most limit; a negative limit means no
	// limit. left names the servers of the others, which [FindTools] finds; empty if there are none.
	ToolsFor(key protocol.SessionKey, limit int) (list []protocol.ToolSpec, left string)
	// Lookup finds a tool. The result has the tool's name without the server. Errors are those of
	// [Machines], and protocol.ErrForbidden.
	Lookup(protocol.ToolName) (protocol.ToolSpec, error)
	// Call is Call of [Executor].
	Call(ctx context.Context, server protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error)
}

// FindTools is the bare name of the tool with which an agent finds tools that are left out of its
// list.
const FindTools = "FindTools"

// Registry holds every tool that exists now: the gateway's own, those of the connected nodes, and
// those of MCP servers. It is safe for concurrent use.
type Registry struct {
	machines Machines
	executor Executor
	servers  Servers // nil: there are none

	mu  sync.RWMutex // guards own
	own []Own
}

// NewRegistry returns a registry with the tools of the machines, which executor runs, and of MCP
// servers; servers may be nil.
func NewRegistry(machines Machines, executor Executor, servers Servers) *Registry {
	return &Registry{machines: machines, executor: executor, servers: servers}
}

// Register adds tools of the gateway itself.
func (r *Registry) Register(tools ...Own) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own = append(r.own, tools...)
}

// Tools lists the tools with their full names: first the gateway's own, then those of each node, then
// those of MCP servers.
func (r *Registry) Tools() []protocol.ToolSpec {
	list := append(r.ownTools(), r.machines.Tools()...)
	if r.servers != nil {
		list = append(list, r.servers.Tools()...)
	}
	return list
}

// ToolsOf lists those of [Registry.Tools] that are on machines that a caller may use. For the caller,
// others do not exist.
func (r *Registry) ToolsOf(p auth.Principal) []protocol.ToolSpec {
	return slices.DeleteFunc(r.Tools(), func(s protocol.ToolSpec) bool {
		node, _, ok := protocol.ToolName(s.Name).Split()
		return !ok || !mayUse(p, node)
	})
}

// MachinesOf lists the machines that a caller may use, the same way.
func (r *Registry) MachinesOf(p auth.Principal) []protocol.NodeInfo {
	return slices.DeleteFunc(r.machines.Nodes(), func(n protocol.NodeInfo) bool { return !mayUse(p, n.ID) })
}

// NetworksOf lists the networks that a caller may use or that have a machine that it may use. Others
// do not exist for it.
func (r *Registry) NetworksOf(p auth.Principal) []protocol.Network {
	machines := r.MachinesOf(p)
	return slices.DeleteFunc(r.machines.NetworkList(), func(n protocol.Network) bool {
		return !mayUseNetwork(p, n.ID) && !slices.ContainsFunc(machines, func(m protocol.NodeInfo) bool { return m.Network == n.ID })
	})
}

// toolsFor lists the tools for the model of a chat, at most limit; 0 means no limit. The tools of MCP
// servers are left out first; the description of [FindTools] says which.
func (r *Registry) toolsFor(key protocol.SessionKey, limit int) []protocol.ToolSpec {
	list := slices.DeleteFunc(append(r.ownTools(), r.machines.Tools()...), func(s protocol.ToolSpec) bool {
		_, bare, ok := protocol.ToolName(s.Name).Split()
		return ok && protocol.ForPrograms(bare)
	})
	if limit > 0 && len(list) > limit {
		slog.Warn("Tools of machines are left out: the model's provider limits their number", "tools", len(list), "limit", limit)
		list = list[:limit]
	}
	room := limit - len(list)
	if limit <= 0 {
		room = -1
	}
	var theirs []protocol.ToolSpec
	left := ""
	if r.servers != nil {
		theirs, left = r.servers.ToolsFor(key, room)
	}
	find := slices.IndexFunc(list, func(s protocol.ToolSpec) bool {
		return s.Name == string(protocol.NewToolName(protocol.NativePrefix, FindTools))
	})
	switch {
	case find >= 0 && left == "":
		list = slices.Delete(list, find, find+1)
	case find >= 0:
		list[find].Description += " Left out are tools of: " + left + "."
	}
	return append(list, theirs...)
}

func (r *Registry) ownTools() []protocol.ToolSpec {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []protocol.ToolSpec
	for _, t := range r.own {
		spec := t.Spec
		spec.Name = string(protocol.NewToolName(protocol.NativePrefix, spec.Name))
		list = append(list, spec)
	}
	return list
}

// Lookup finds a tool by its full name. Errors are those of [Machines].
func (r *Registry) Lookup(name protocol.ToolName) (t resolved, err error) {
	node, bare, _ := name.Split()
	switch {
	case node == protocol.NativePrefix:
		if own, ok := r.ownTool(bare); ok {
			return resolved{node, own.Spec, own}, nil
		}
	case r.servers != nil && r.servers.Has(node):
		t.Node = node
		t.Spec, err = r.servers.Lookup(name)
		t.target = r.at(t.Node, t.Spec)
		return t, err
	}
	t.Node, t.Spec, err = r.machines.Lookup(name)
	t.target = nodeTool{t.Node, t.Spec, r.executor, r.machines}
	return t, err
}

func (r *Registry) ownTool(bare string) (ownTool, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	i := slices.IndexFunc(r.own, func(t Own) bool { return t.Spec.Name == bare })
	if i < 0 {
		return ownTool{}, false
	}
	return ownTool{r.own[i]}, true
}

// at returns a tool that was there once, whether it exists now or not.
func (r *Registry) at(id protocol.NodeID, spec protocol.ToolSpec) target {
	switch {
	case id == protocol.NativePrefix:
		return ownTool{Own{Tool: toolkit.Tool[Call]{Spec: spec}}}
	case r.servers != nil && r.servers.Has(id):
		return serverTool{id, spec, r.servers}
	}
	return nodeTool{id, spec, r.executor, r.machines}
}

// fileOperation returns an operation of a node's file browser with a specification that stands in
// for a tool.
func (r *Registry) fileOperation(c Call) (resolved, error) {
	op := c.FileOperation
	_, bare, _ := c.Tool.Split()
	spec := protocol.ToolSpec{Name: bare, Effect: op.Effect}
	t := resolved{op.Node, spec, fileOperation{nodeTool{op.Node, spec, r.executor, r.machines}, op.Files}}
	if !c.Direct {
		return t, noTool(c.Tool)
	}
	if info, ok := r.machines.Node(op.Node); !ok || !info.Online {
		return t, protocol.ErrUnavailable.With(fmt.Sprintf("Node not connected: %s", op.Node))
	}
	return t, nil
}

func noTool(name protocol.ToolName) error {
	return protocol.ErrNotFound.With(fmt.Sprintf("No node provides tool: %s", name))
}
