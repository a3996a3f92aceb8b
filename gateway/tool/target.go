package tool

import (
	"cmp"
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

// Preview implements target. A tool without a preview has an empty one: it affects no machine, so
// nothing is outside of a sandbox.
func (t ownTool) Preview(ctx context.Context, c Call) (protocol.CallPreview, bool, error) {
	p, _, err := t.Own.Preview(ctx, c, c.Args)
	return p, true, err
}

// ownTool is a tool of the gateway itself.
type ownTool struct{ Own }

func (t ownTool) Execute(ctx context.Context, c Call, _ protocol.ToolInvoke, _ func(protocol.ToolProgress)) (json.RawMessage, error) {
	return t.Own.Execute(ctx, c)
}

func (t ownTool) Resources(c Call) Resources {
	r := Resources{Apps: []protocol.Scope{protocol.ScopeAllTools}, Device: cmp.Or(t.Scope, protocol.ScopeAdmin), Bare: t.Spec.Name}
	if t.Files != nil {
		r.Files = t.Files(c.Args)
	}
	return r
}

func (t ownTool) Label(*protocol.Question) {}

func (t ownTool) TimeLimit(args json.RawMessage, limit time.Duration) time.Duration {
	return limitWith(t.Spec, args, limit)
}

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
