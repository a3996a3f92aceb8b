package tool

import (
	"context"
	"encoding/json"
	"time"

	"fairlead/gateway/protocol"
)

// nodeTool is a tool of a node.
type nodeTool struct {
	node     protocol.NodeID
	spec     protocol.ToolSpec
	executor Executor
	machines Machines
}

func (t nodeTool) Preview(ctx context.Context, c Call) (protocol.CallPreview, bool, error) {
	return t.executor.Preview(ctx, t.node, protocol.ToolInvoke{Tool: t.spec.Name, Args: c.Args, SessionKey: c.Session, RunID: c.Run})
}

func (t nodeTool) Execute(ctx context.Context, _ Call, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	return t.executor.Call(ctx, t.node, inv, progress)
}

func (t nodeTool) Rejoin(ctx context.Context, call protocol.CallID, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	return t.executor.Rejoin(ctx, t.node, call, progress)
}

func (t nodeTool) Resources(Call) Resources {
	r := Resources{Apps: protocol.ScopesOf(t.spec.Name), Bare: protocol.ActsAs(t.spec.Name)}
	if info, ok := t.machines.Node(t.node); ok {
		r.Host = info.Host
	}
	return r
}

func (t nodeTool) Label(q *protocol.Question) {
	if q.Host = t.Resources(Call{}).Host; q.Host != nil {
		q.Sandbox = q.Host.Sandbox
	}
	if q.Sandbox == "" && q.Effect != protocol.EffectRead {
		q.Sandbox = protocol.NotEnforced
	}
}

// TimeLimit allows at least the call's own timeout argument, which for a command may mean no limit.
func (t nodeTool) TimeLimit(args json.RawMessage, limit time.Duration) time.Duration {
	switch t.spec.Name {
	case protocol.CommandTool:
		return max(limit, protocol.CommandTime(args))
	case protocol.FetchTool:
		return max(limit, protocol.FetchTime+time.Minute) // the node ends it before, and says why
	}
	return limitWith(t.spec, args, limit)
}

// fileOperation is an operation of a node's file browser, which names its files itself.
type fileOperation struct {
	nodeTool
	files []FileAccess
}

func (t fileOperation) Preview(context.Context, Call) (p protocol.CallPreview, ok bool, err error) {
	return p, false, nil
}

func (t fileOperation) Resources(c Call) Resources {
	r := t.nodeTool.Resources(c)
	r.Files = t.files
	return r
}
