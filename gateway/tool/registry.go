package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

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
}

// Own is one of the gateway's own tools, gsv__*.
type Own struct {
	toolkit.Tool[Call]
	// Files returns the files of machines that a call accesses; may be nil.
	Files func(args json.RawMessage) []FileAccess
}

// Registry holds every tool that exists now: the gateway's own and those of the connected nodes. It
// is safe for concurrent use.
type Registry struct {
	machines Machines

	mu  sync.RWMutex // guards own
	own []Own
}

// NewRegistry returns a registry with the tools of the machines.
func NewRegistry(machines Machines) *Registry { return &Registry{machines: machines} }

// Register adds tools of the gateway itself.
func (r *Registry) Register(tools ...Own) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own = append(r.own, tools...)
}

// Tools lists the tools with their full names: first the gateway's own, then those of each node.
func (r *Registry) Tools() []protocol.ToolSpec {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []protocol.ToolSpec
	for _, t := range r.own {
		spec := t.Spec
		spec.Name = string(protocol.NewToolName(protocol.NativePrefix, spec.Name))
		list = append(list, spec)
	}
	return append(list, r.machines.Tools()...)
}

// Target is where a call runs: a node with one of its tools, or the gateway with one of its own.
type Target struct {
	Node protocol.NodeID
	Spec protocol.ToolSpec // with the tool's name without the node
	own  *Own
}

// Lookup finds a tool by its full name. Errors are those of [Machines].
func (r *Registry) Lookup(name protocol.ToolName) (Target, error) {
	if node, bare, ok := name.Split(); ok && node == protocol.NativePrefix {
		r.mu.RLock()
		defer r.mu.RUnlock()
		if i := slices.IndexFunc(r.own, func(t Own) bool { return t.Spec.Name == bare }); i >= 0 {
			own := r.own[i]
			return Target{Node: node, Spec: own.Spec, own: &own}, nil
		}
	}
	node, spec, err := r.machines.Lookup(name)
	return Target{Node: node, Spec: spec}, err
}

// fileOperation makes a specification that stands in for a tool.
func (r *Registry) fileOperation(c Call) (Target, error) {
	op := c.FileOperation
	_, bare, _ := c.Tool.Split()
	t := Target{Node: op.Node, Spec: protocol.ToolSpec{Name: bare, Effect: op.Effect}}
	if !c.Direct {
		return t, protocol.ErrNotFound.With(fmt.Sprintf("No node provides tool: %s", c.Tool))
	}
	if info, ok := r.Node(op.Node); !ok || !info.Online {
		return t, protocol.ErrUnavailable.With(fmt.Sprintf("Node not connected: %s", op.Node))
	}
	return t, nil
}

// Node describes a node. The gateway itself counts as a node that is always online.
func (r *Registry) Node(id protocol.NodeID) (protocol.NodeInfo, bool) {
	if id == protocol.NativePrefix {
		return protocol.NodeInfo{ID: id, Online: true}, true
	}
	return r.machines.Node(id)
}

// preview describes what a call would do. A tool without a preview has an empty one: it affects no
// machine, so nothing is outside of a sandbox.
func (t Own) preview(ctx context.Context, c Call) (protocol.CallPreview, error) {
	p, _, err := t.Preview(ctx, c, c.Args)
	return p, err
}

// Execute runs a call. The tool's failure is part of its result; invalid arguments are an error, as
// with a node's tools.
func (t Own) Execute(ctx context.Context, c Call) (json.RawMessage, error) {
	raw, err := t.Call(ctx, c, c.Args)
	var bad *toolkit.InputError
	switch {
	case errors.As(err, &bad), err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return protocol.Marshal(protocol.NativeResult{Error: ErrorText(err)})
	}
	return protocol.Marshal(protocol.NativeResult{OK: true, Result: raw})
}

// ErrorText returns the text of an error for a model, at most a few thousand bytes long.
func ErrorText(err error) string {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return toolkit.Brief(cmp.Or(e.Message, err.Error()))
	}
	return toolkit.Brief(err.Error())
}
