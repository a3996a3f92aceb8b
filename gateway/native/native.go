// Package native implements the gateway's own tools, gsv__*: the agent's files, the configuration,
// logs, schedules, messages, other chats and transfers. They are called like the tools of a node,
// so validation, approval and journal apply to them too.
package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/workspace"
)

// Config is the configuration with its secrets masked.
type Config interface {
	All() (json.RawMessage, error)
	Read(path string) (json.RawMessage, bool, error)
}

// Sessions are the chats.
type Sessions interface {
	List(context.Context, protocol.SessionsListParams) (protocol.SessionsListResult, error)
	Preview(context.Context, protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error)
	Send(context.Context, auth.Principal, protocol.ChatSendParams) (protocol.ChatSendResult, error)
	// Shared reports whether others than the person take part in a chat.
	Shared(protocol.SessionKey) bool
}

// Services are what the tools work on. Sessions is set later, by [Tools.Serve]: the chats need the tools first.
type Services struct {
	Files   *workspace.Files
	Config  Config
	Watch   Watch
	Extra   []toolkit.Tool // Cron, and what else lives in packages above
	Message func(ctx context.Context, from protocol.SessionKey, in MessageIn) (any, error)
	// Transfer moves files, and checks what it is given; nil where nothing can.
	Transfer func(ctx context.Context, in TransferIn) (TransferOut, error)
}

// Tools are the gateway's own tools and, behind them, those of the machines.
type Tools struct {
	*nodes.Hub
	s        Services
	sessions Sessions
	order    []protocol.ToolSpec
	byName   map[string]toolkit.Tool
}

// New makes the tools.
func New(h *nodes.Hub, s Services) *Tools {
	t := &Tools{Hub: h, s: s, byName: make(map[string]toolkit.Tool)}
	all := append(t.files(), t.inspect()...)
	all = append(all, s.Extra...)
	for _, n := range append(all, t.talk()...) {
		n.Spec.OwnTime = n.Spec.Name == "Transfer" // a large file takes its time, and one that stalls is ended
		t.byName[n.Spec.Name] = n
		spec := n.Spec
		spec.Name = string(protocol.NewToolName(protocol.NativePrefix, n.Spec.Name))
		t.order = append(t.order, spec)
	}
	return t
}

// Serve gives the tools the chats. Call it once, before anything is called.
func (t *Tools) Serve(s Sessions) { t.sessions = s }

// Tools lists the native tools first, then those of each node, as tools.list does.
func (t *Tools) Tools() []protocol.ToolSpec {
	return append(append([]protocol.ToolSpec{}, t.order...), t.Hub.Tools()...)
}

// own returns the native tool of a name.
func (t *Tools) own(name protocol.ToolName) (toolkit.Tool, bool) {
	node, bare, ok := name.Split()
	if !ok || node != protocol.NativePrefix {
		return toolkit.Tool{}, false
	}
	n, ok := t.byName[bare]
	return n, ok
}

// Lookup finds a tool, native or a machine's.
func (t *Tools) Lookup(name protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error) {
	if n, ok := t.own(name); ok {
		return protocol.NativePrefix, n.Spec, nil
	}
	return t.Hub.Lookup(name)
}

// Preview says what a call would do.
func (t *Tools) Preview(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke) (protocol.CallPreview, bool, error) {
	if id != protocol.NativePrefix {
		return t.Hub.Preview(ctx, id, inv)
	}
	n := t.byName[inv.Tool]
	p, ok, err := n.Preview(context.WithValue(ctx, callerKey{}, caller{inv.SessionKey, inv.RunID}), inv.Args)
	if err == nil && !ok {
		ok = true // it touches no machine: there is nothing outside
	}
	return p, ok, err
}

// Node describes a machine. The gateway itself counts as one that is always there.
func (t *Tools) Node(id protocol.NodeID) (protocol.NodeInfo, bool) {
	if id == protocol.NativePrefix {
		return protocol.NodeInfo{ID: id, Online: true}, true
	}
	return t.Hub.Node(id)
}

type callerKey struct{}

// caller is on whose behalf a tool runs.
type caller struct {
	session protocol.SessionKey
	run     protocol.RunID
}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// SessionOf is the chat on whose behalf a tool of [Services.Extra] runs; empty for the person's own calls.
func SessionOf(ctx context.Context) protocol.SessionKey { return callerOf(ctx).session }

// shared reports whether others than the person take part in the chat on whose behalf a tool runs.
func (t *Tools) shared(ctx context.Context) bool {
	key := SessionOf(ctx)
	return key != "" && t.sessions.Shared(key)
}

// AgentOf is the agent on whose behalf a tool runs.
func AgentOf(ctx context.Context) protocol.AgentID {
	if parts := strings.SplitN(string(callerOf(ctx).session), ":", 3); len(parts) == 3 && parts[0] == "agent" {
		return protocol.AgentID(parts[1])
	}
	return protocol.MainAgent
}

// Call runs a tool. What goes wrong in a native tool is part of its result; arguments that do not fit are an error, as with a machine's.
func (t *Tools) Call(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	if id != protocol.NativePrefix {
		return t.Hub.Call(ctx, id, inv, progress)
	}
	n, ok := t.byName[inv.Tool]
	if !ok {
		return nil, &nodes.ToolError{Text: "Tool not found: " + inv.Tool}
	}
	raw, err := n.Call(context.WithValue(ctx, callerKey{}, caller{inv.SessionKey, inv.RunID}), inv.Args)
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
