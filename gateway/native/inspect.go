package native

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// logsLimit is the time in which a node must return its log, as in the original system.
const logsLimit = 20 * time.Second

type configIn struct {
	Path string `json:"path,omitempty" jsonschema:"dotted path of one value, such as session.dmScope; without it the whole configuration"`
}

type configOut struct {
	Path   string          `json:"path,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Config json.RawMessage `json:"config,omitempty"`
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

func (t tools) configGet(_ context.Context, _ tool.Call, in configIn) (configOut, error) {
	if in.Path == "" {
		all, err := t.Config.All()
		return configOut{Config: all}, err
	}
	value, _, err := t.Config.Read(in.Path)
	return configOut{Path: in.Path, Value: value}, err
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
