package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// serverTool is a tool of an MCP server.
type serverTool struct {
	server  protocol.NodeID
	spec    protocol.ToolSpec
	servers Servers
}

// Preview: only the server knows, so there is nothing to show.
func (t serverTool) Preview(context.Context, Call) (p protocol.CallPreview, ok bool, err error) {
	return p, true, nil
}

func (t serverTool) Execute(ctx context.Context, _ Call, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	raw, err := t.servers.Call(ctx, t.server, inv, progress)
	if _, isKnown := errors.AsType[*Failure](err); !isKnown && errors.Is(err, protocol.ErrUnavailable) {
		err = unproven{err}
	}
	return raw, err
}

// unproven marks a lost call whose outcome is unknown even if the tool says that it only reads: that
// a server claims so proves nothing.
type unproven struct{ error }

func (e unproven) Unwrap() error { return e.error }

func (t serverTool) Resources(Call) Resources {
	return Resources{Apps: []protocol.Scope{protocol.ScopeAllTools}, Bare: t.spec.Name}
}

func (t serverTool) Label(q *protocol.Question) { q.ServerTool = describeServerTool(t.spec, q.Args) }

// TimeLimit ignores an argument called timeout, which means what the server wants.
func (t serverTool) TimeLimit(_ json.RawMessage, limit time.Duration) time.Duration { return limit }

// Limits of what a question shows of a server's tool, in characters.
const (
	maxToolText     = 2_000
	maxArgumentText = 500
)

// describeServerTool describes a call of an MCP server's tool for its question.
func describeServerTool(spec protocol.ToolSpec, args json.RawMessage) *protocol.QuestionTool {
	out := &protocol.QuestionTool{
		Server: spec.Server, Name: format.Line(spec.ServerTool, maxArgumentText), Title: spec.Title, Description: format.Clip(spec.Description, maxToolText),
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(spec.InputSchema, &schema) // without descriptions, names and values are shown
	out.Arguments = protocol.NamedArguments(args)
	for i, a := range out.Arguments {
		var property struct {
			Description string `json:"description"`
		}
		_ = json.Unmarshal(schema.Properties[a.Name], &property)
		out.Arguments[i].Description = format.Line(property.Description, maxArgumentText)
	}
	return out
}
