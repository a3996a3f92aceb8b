// Package native implements the gateway's own tools, gsv__*: the agent's files, the configuration,
// logs, schedules, messages, other chats and transfers. They are called like the tools of a node,
// so validation, approval and journal apply to them too.
package native

import (
	"context"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/auth"
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

// Services are the dependencies of the tools.
type Services struct {
	Files    *workspace.Files
	Config   Config
	Sessions Sessions
	Machines Machines
	Watch    Watch
	Cron     toolkit.Tool[tool.Call]
	Message  func(ctx context.Context, call tool.Call, in MessageIn) (any, error)
	// Transfer starts a transfer and waits for its end; nil if transfers are not available.
	Transfer func(ctx context.Context, call tool.Call, in TransferIn) (TransferOut, error)
}

// Machines are the connected nodes.
type Machines interface {
	// Pick returns the node with the given ID, or the only connected one.
	Pick(id protocol.NodeID) (protocol.NodeID, error)
	Logs(ctx context.Context, id protocol.NodeID, lines int) (protocol.LogsGetResult, error)
}

// tools holds what the functions of the tools need.
type tools struct{ Services }

// Tools returns the gateway's own tools.
func Tools(s Services) []tool.Own {
	t := tools{s}
	var list []tool.Own
	for _, part := range [][]toolkit.Tool[tool.Call]{t.files(), t.inspect(), {s.Cron}, t.talk()} {
		for _, one := range part {
			if one.Spec.Name != "" {
				list = append(list, tool.Own{Tool: one})
			}
		}
	}
	return append(list, t.transferTool())
}

// isShared reports whether other people than the person take part in the calling chat.
func (t tools) isShared(call tool.Call) bool {
	return call.Session != "" && t.Sessions.Shared(call.Session)
}

// oneOf sets the valid values of a parameter in the tool's schema.
func oneOf(t toolkit.Tool[tool.Call], parameter string, texts ...any) toolkit.Tool[tool.Call] {
	var s jsonschema.Schema
	err := json.Unmarshal(t.Spec.InputSchema, &s)
	if err == nil {
		s.Properties[parameter].Enum = texts
		t.Spec.InputSchema, err = protocol.Marshal(&s)
	}
	if err != nil {
		panic(err) // the schema is part of the program
	}
	return t
}
