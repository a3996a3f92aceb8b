package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
)

// Own is one of the gateway's own tools, gsv__*.
type Own struct {
	toolkit.Tool[Call]
	// Scope is that of the equivalent method, which a device of the owner needs too; empty: admin.
	Scope protocol.Scope
	// Apps are the scopes of which an app needs one, beside that for all tools.
	Apps []protocol.Scope
	// Files returns the files of machines that a call accesses; may be nil.
	Files func(args json.RawMessage) []FileAccess
	// Machine returns the machine that a call is about; may be nil. An app that is limited to some
	// machines can use the tool for those.
	Machine func(args json.RawMessage) protocol.NodeID
}

// Execute runs a call. The tool's failure is part of its result, and [ErrReported]; invalid arguments
// are an error, as with a node's tools.
func (t Own) Execute(ctx context.Context, c Call) (json.RawMessage, error) {
	raw, err := t.Call(ctx, c, c.Args)
	var bad *toolkit.InputError
	switch {
	case errors.As(err, &bad), err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		fault, _ := errors.AsType[*protocol.Fault](err)
		if raw, err = protocol.Marshal(protocol.NativeResult{Error: ErrorText(err), Fault: fault}); err == nil {
			err = ErrReported
		}
		return raw, err
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

// ownTool is a tool of the gateway itself.
type ownTool struct{ Own }

// Preview implements target. A tool without a preview has an empty one: it affects no machine, so
// nothing is outside of a sandbox.
func (t ownTool) Preview(ctx context.Context, c Call) (protocol.CallPreview, bool, error) {
	p, _, err := t.Own.Preview(ctx, c, c.Args)
	return p, true, err
}

func (t ownTool) Execute(ctx context.Context, c Call, _ protocol.ToolInvoke, _ func(protocol.ToolProgress)) (json.RawMessage, error) {
	return t.Own.Execute(ctx, c)
}

func (t ownTool) Resources(c Call) Resources {
	r := Resources{Apps: append([]protocol.Scope{protocol.ScopeAllTools}, t.Apps...), Device: cmp.Or(t.Scope, protocol.ScopeAdmin), Bare: t.Spec.Name}
	if t.Files != nil {
		r.Files = t.Files(c.Args)
	}
	if t.Machine != nil {
		r.Machine = t.Machine(c.Args)
	}
	return r
}

func (t ownTool) Label(*protocol.Question) {}

func (t ownTool) TimeLimit(args json.RawMessage, limit time.Duration) time.Duration {
	return limitWith(t.Spec, args, limit)
}
