// Package native implements the gateway's own tools, gsv__*: the agent's files, the configuration,
// logs, schedules, messages, other chats and transfers. They are called like the tools of a node,
// so validation, approval and journal apply to them too.
package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"fairlead/gateway/auth"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/workspace"
)

// Config accesses the configuration with masked secrets.
type Config interface {
	All() (json.RawMessage, error)
	Read(path string) (json.RawMessage, bool, error)
}

// Sessions are the conversations.
type Sessions interface {
	List(context.Context, protocol.SessionsListParams) (protocol.SessionsListResult, error)
	Preview(context.Context, protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error)
	Send(context.Context, auth.Principal, protocol.ChatSendParams) (protocol.ChatSendResult, error)
	// Shared reports whether other people than the person take part in a chat.
	Shared(protocol.SessionKey) bool
}

// Services are the dependencies of the tools. [Tools.Serve] sets the sessions later, because the
// sessions need the tools first.
type Services struct {
	Files   *workspace.Files
	Config  Config
	Watch   Watch
	Extra   []toolkit.Tool[tool.Call] // Cron, and other tools from higher packages
	Message func(ctx context.Context, call tool.Call, in MessageIn) (any, error)
	// Transfer validates its arguments and moves files; nil if transfers are not available.
	Transfer func(ctx context.Context, call tool.Call, in TransferIn) (TransferOut, error)
}

// Tools provides the gateway's own tools and those of the nodes.
type Tools struct {
	*nodes.Hub
	s        Services
	sessions Sessions
	order    []protocol.ToolSpec
	byName   map[string]toolkit.Tool[tool.Call]
}

// New returns the tools.
func New(h *nodes.Hub, s Services) *Tools {
	t := &Tools{Hub: h, s: s, byName: make(map[string]toolkit.Tool[tool.Call])}
	all := append(t.files(), t.inspect()...)
	all = append(all, s.Extra...)
	for _, n := range append(all, t.talk()...) {
		// A large file takes long, and a transfer without progress is stopped by its queue.
		n.Spec.OwnTime = n.Spec.Name == "Transfer"
		t.byName[n.Spec.Name] = n
		spec := n.Spec
		spec.Name = string(protocol.NewToolName(protocol.NativePrefix, n.Spec.Name))
		t.order = append(t.order, spec)
	}
	return t
}

// Serve sets the sessions. Call it once, before any tool is called.
func (t *Tools) Serve(s Sessions) { t.sessions = s }

// Tools lists the native tools first, then those of each node, as tools.list does.
func (t *Tools) Tools() []protocol.ToolSpec {
	return append(append([]protocol.ToolSpec{}, t.order...), t.Hub.Tools()...)
}

// own returns the native tool with the given name.
func (t *Tools) own(name protocol.ToolName) (toolkit.Tool[tool.Call], bool) {
	node, bare, ok := name.Split()
	if !ok || node != protocol.NativePrefix {
		return toolkit.Tool[tool.Call]{}, false
	}
	n, ok := t.byName[bare]
	return n, ok
}

// Lookup finds a tool, native or of a node.
func (t *Tools) Lookup(name protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error) {
	if n, ok := t.own(name); ok {
		return protocol.NativePrefix, n.Spec, nil
	}
	return t.Hub.Lookup(name)
}

// Preview returns what a call would do.
func (t *Tools) Preview(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke) (protocol.CallPreview, bool, error) {
	if id != protocol.NativePrefix {
		return t.Hub.Preview(ctx, id, inv)
	}
	n := t.byName[inv.Tool]
	p, ok, err := n.Preview(ctx, callOf(ctx, inv), inv.Args)
	if err == nil && !ok {
		ok = true // it affects no node, so nothing is outside of a sandbox
	}
	return p, ok, err
}

// Node describes a node. The gateway itself counts as a node that is always online.
func (t *Tools) Node(id protocol.NodeID) (protocol.NodeInfo, bool) {
	if id == protocol.NativePrefix {
		return protocol.NodeInfo{ID: id, Online: true}, true
	}
	return t.Hub.Node(id)
}

// callOf returns the call that a tool gets.
func callOf(ctx context.Context, inv protocol.ToolInvoke) tool.Call {
	return tool.Call{Session: inv.SessionKey, Run: inv.RunID, AskedBy: tool.Cause(ctx)}
}

// shared reports whether other people than the person take part in the calling chat.
func (t *Tools) shared(call tool.Call) bool {
	return call.Session != "" && t.sessions.Shared(call.Session)
}

// Call runs a tool. A native tool's failure is part of its result. Invalid arguments are an error,
// as with a node's tools.
func (t *Tools) Call(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	if id != protocol.NativePrefix {
		return t.Hub.Call(ctx, id, inv, progress)
	}
	n, ok := t.byName[inv.Tool]
	if !ok {
		return nil, &nodes.ToolError{Text: "Tool not found: " + inv.Tool}
	}
	raw, err := n.Call(ctx, callOf(ctx, inv), inv.Args)
	var bad *toolkit.InputError
	switch {
	case errors.As(err, &bad), err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return protocol.Marshal(protocol.NativeResult{Error: words(err)})
	}
	return protocol.Marshal(protocol.NativeResult{OK: true, Result: raw})
}

func words(err error) string {
	var e *protocol.Error
	if errors.As(err, &e) {
		return toolkit.Brief(e.Message)
	}
	return toolkit.Brief(fmt.Sprint(err))
}
