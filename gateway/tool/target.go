package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"fairlead/gateway/protocol"
)

// target is a tool where it runs: in the gateway itself, on a node, or on an MCP server.
type target interface {
	// Preview describes what a call would do; ok is false if nobody knows that before it runs.
	Preview(ctx context.Context, c Call) (preview protocol.CallPreview, ok bool, err error)
	// Execute runs a call and waits for its result. Its errors are those of [Executor], and
	// [ErrReported].
	Execute(ctx context.Context, c Call, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error)
	// Resources returns what a call needs and touches.
	Resources(c Call) Resources
	// Label adds what a question shows about the tool and its target.
	Label(q *protocol.Question)
	// TimeLimit returns how long a call may take if limit is the configured time.
	TimeLimit(args json.RawMessage, limit time.Duration) time.Duration
}

// rejoiner is a target that can continue a call without the gateway. It reports the end of a call
// again until the gateway has stored it.
type rejoiner interface {
	// Rejoin is Execute for a call that an earlier start of the gateway sent.
	Rejoin(ctx context.Context, call protocol.CallID, progress func(protocol.ToolProgress)) (json.RawMessage, error)
}

// Resources are what a call needs of its caller, and what the rules judge it by.
type Resources struct {
	Apps   []protocol.Scope // of which an app needs one
	Device protocol.Scope   // that a device of the owner needs
	Bare   string           // the tool whose rules apply
	Host   *protocol.HostInfo
	Files  []FileAccess // beside those in the arguments
	// Machine is the one that the gateway's own tool works for; empty for all.
	Machine protocol.NodeID
}

// resolved is a tool that exists now.
type resolved struct {
	Node protocol.NodeID   // or the name of the server
	Spec protocol.ToolSpec // with the tool's name without the node
	target
}

// Failure is a tool's message that it failed. It is a result for the model, not a failure of the
// gateway.
type Failure struct {
	Text  string
	Fault *protocol.Fault // the failure with its code; nil if the tool has none
	Cause error           // protocol.ErrUnavailable if the node did not get the call
}

func (e *Failure) Error() string { return e.Text }

func (e *Failure) Unwrap() error { return e.Cause }

// ErrReported is the error of a call that failed and whose result says why.
var ErrReported = errors.New("the tool failed: see its result")

// noLimit is the time limit of a tool that has its own.
const noLimit = 365 * 24 * time.Hour

// limitWith returns the time limit of a call with the argument timeout.
func limitWith(spec protocol.ToolSpec, raw json.RawMessage, limit time.Duration) time.Duration {
	var args struct {
		Timeout *float64 `json:"timeout"`
	}
	switch {
	case spec.OwnTime:
		return noLimit
	case json.Unmarshal(raw, &args) != nil || args.Timeout == nil:
		return limit
	case *args.Timeout > 0:
		own := time.Duration(min(*args.Timeout, float64(noLimit.Milliseconds()))) * time.Millisecond
		return max(limit, own+5*time.Second)
	case *args.Timeout == 0 && spec.Effect == protocol.EffectExec: // 0 means no limit, as in Bash
		return noLimit
	}
	return limit
}
