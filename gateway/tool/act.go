package tool

import (
	"context"
	"fmt"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// actOf returns the node of an act and a specification that stands in for a tool.
func (t *task) actOf(a *Act) (protocol.NodeID, protocol.ToolSpec, error) {
	_, bare, _ := t.call.Tool.Split()
	spec := protocol.ToolSpec{Name: bare, Effect: a.Effect}
	if !t.call.Direct {
		return "", spec, protocol.ErrNotFound.With(fmt.Sprintf("No node provides tool: %s", t.call.Tool))
	}
	if info, ok := t.nodes.Node(a.Node); !ok || !info.Online {
		return a.Node, spec, protocol.ErrUnavailable.With(fmt.Sprintf("Node not connected: %s", a.Node))
	}
	return a.Node, spec, nil
}

// judge applies the rules to each path that an act touches.
func (t *task) judge(ctx context.Context, a *Act, r policy.Request) (d policy.Decision) {
	r.Tool, r.Bare, r.Whole = protocol.NewToolName(a.Node, a.As), a.As, a.Whole
	for _, path := range a.Paths {
		args, err := protocol.Marshal(map[string]string{"path": path})
		if err != nil {
			return policy.Decision{Verdict: policy.Deny, Reason: "its path cannot be judged"}
		}
		r.Args, r.Preview = args, &protocol.CallPreview{Path: path}
		if d = t.rules.Decide(ctx, r); d.Verdict != policy.Allow {
			d.Verdict = policy.Deny // a direct action of the person needs no approval
			return d
		}
	}
	return d
}
