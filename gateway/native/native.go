// Package native implements the gateway's own tools, gsv__*: the agent's files, the configuration,
// logs, schedules, messages, other chats and transfers. They are called like the tools of a node,
// so validation, approval and journal apply to them too.
package native

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

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
	Read(path string) (json.RawMessage, error)
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

func (t tools) isShared(call tool.Call) bool {
	return call.Session != "" && t.Sessions.Shared(call.Session)
}

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

// logsLimit is the time in which a node must return its log, as in the original system.
const logsLimit = 20 * time.Second

type configIn struct {
	Path string `json:"path,omitempty" jsonschema:"dotted path of one value, such as session.dmScope; without it the whole configuration"`
}

type logsIn struct {
	NodeID protocol.NodeID `json:"nodeId,omitempty" jsonschema:"machine to read the log of; required when several are connected"`
	Lines  *float64        `json:"lines,omitempty" jsonschema:"number of lines from the end; default 100, at most 5000"`
}

func (t tools) inspect() []toolkit.Tool[tool.Call] {
	read := toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true}
	return []toolkit.Tool[tool.Call]{
		toolkit.Define("ConfigGet", "Read Fairlead's configuration. Keys and tokens are masked.", read, t.configGet),
		toolkit.Define("LogsGet", "Read the last lines of a machine's log.", read, t.logsGet),
	}
}

func (t tools) configGet(_ context.Context, _ tool.Call, in configIn) (protocol.ConfigGetResult, error) {
	if in.Path == "" {
		all, err := t.Config.All()
		return protocol.ConfigGetResult{Config: all}, err
	}
	value, err := t.Config.Read(in.Path)
	return protocol.ConfigGetResult{Path: in.Path, Value: value}, err
}

func (t tools) logsGet(ctx context.Context, _ tool.Call, in logsIn) (protocol.LogsGetResult, error) {
	lines := protocol.DefaultLogLines
	if in.Lines != nil {
		if !(*in.Lines >= 1) {
			return protocol.LogsGetResult{}, protocol.ErrBadRequest.With("lines must be a positive number")
		}
		lines = int(min(math.Floor(*in.Lines), protocol.MaxLogLines))
	}
	id, err := t.Machines.Pick(in.NodeID)
	if err != nil {
		return protocol.LogsGetResult{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, logsLimit, protocol.ErrTimeout.With(fmt.Sprintf("logs.get timed out after %dms", logsLimit.Milliseconds())))
	defer cancel()
	return t.Machines.Logs(ctx, id, lines)
}
