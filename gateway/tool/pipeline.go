package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Nodes runs tools on nodes.
type Nodes interface {
	Lookup(protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error)
	Preview(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke) (protocol.CallPreview, bool, error)
	Call(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error)
	Node(protocol.NodeID) (protocol.NodeInfo, bool)
	Tools() []protocol.ToolSpec
	// Rejoin waits for a call that an earlier start of the gateway made, see [nodes.Hub.Rejoin].
	Rejoin(ctx context.Context, id protocol.NodeID, call protocol.CallID, progress func(protocol.ToolProgress)) (json.RawMessage, error)
}

// Asker requests approvals from the person.
type Asker interface {
	Ask(ctx context.Context, a protocol.Approval, limit time.Duration, put func()) (protocol.Approval, error)
	Review(ctx context.Context, decided func(protocol.Approval) bool) error
}

// Journal saves calls and grants.
type Journal interface {
	PutCall(ctx context.Context, c store.Call, lines ...protocol.AuditEntry) error
	FinishCall(ctx context.Context, c store.Call, lines ...protocol.AuditEntry) (bool, error)
	SettleCall(ctx context.Context, c store.Call, lines ...protocol.AuditEntry) (bool, error)
	Call(ctx context.Context, id protocol.CallID) (store.Call, error)
	OpenCalls(ctx context.Context) ([]store.Call, error)
	Grants(ctx context.Context, session protocol.SessionKey) ([]store.Grant, error)
	PutGrant(ctx context.Context, g store.Grant, lines ...protocol.AuditEntry) error
	Approval(ctx context.Context, id protocol.ApprovalID) (protocol.Approval, error)
	CloseApproval(ctx context.Context, a protocol.Approval) (won bool, err error)
	Session(ctx context.Context, key protocol.SessionKey) (store.Session, error)
}

// Rules decide which calls need an approval.
type Rules interface {
	Decide(ctx context.Context, q policy.Request) policy.Decision
	Evaluate(q policy.Request) policy.Decision
	Version() string
	OffersOf(d policy.Decision) ([]protocol.RuleOffer, error)
	FillOffers(a *protocol.Approval) error
	Grant(ctx context.Context, by string, a protocol.Approval) error
}

// Pipeline runs tool calls. It is safe for concurrent use.
type Pipeline struct {
	nodes   Nodes
	gate    Asker
	rules   Rules
	journal Journal
	bus     *event.Bus
	config  func() config.Config

	mu   sync.Mutex // guards open
	open map[protocol.CallID]*running
}

// running is a call in progress.
type running struct {
	info   *protocol.CallInfo // nil until the call is published; never changed through the pointer
	cancel context.CancelCauseFunc
	asks   *policy.Request // what its pending approval was decided on
}

// New returns a dispatcher.
func New(n Nodes, gate Asker, rules Rules, journal Journal, bus *event.Bus, cfg func() config.Config) *Pipeline {
	return &Pipeline{nodes: n, gate: gate, rules: rules, journal: journal, bus: bus, config: cfg, open: make(map[protocol.CallID]*running)}
}

// Call is a request to run a tool.
type Call struct {
	ID         protocol.CallID // empty: a new one is made
	ToolCallID string          // the model's ID
	Tool       protocol.ToolName
	Args       json.RawMessage
	Session    protocol.SessionKey
	Run        protocol.RunID
	AskedBy    protocol.AskedBy
	Direct     bool // a direct action of the person
	Act        *Act // instead of a tool, for direct actions only
	Iteration  int  // the model step of the run
	// OnAsk, if set, is called when an approval is requested, and again when it is closed.
	OnAsk func(protocol.Approval)
	// OnPut, if set, is called when an approval has been stored and published.
	OnPut func()
	// OnStart, if set, is called just before the call is sent to the node. It is not called for a
	// call that does not run.
	OnStart func()
}

// Agent returns the agent whose chat makes the call; the main agent for a call outside a chat.
func (c Call) Agent() protocol.AgentID {
	if parts := strings.SplitN(string(c.Session), ":", 3); len(parts) == 3 && parts[0] == "agent" {
		return protocol.AgentID(parts[1])
	}
	return protocol.MainAgent
}

// Act is an operation of a node that is not a tool: only the person can request it. The rules judge
// it as calls of a tool.
type Act struct {
	Node   protocol.NodeID
	Effect protocol.Effect
	// As is the tool, such as Write, as whose calls the act is judged, one for each of Paths. If
	// one is denied, the act is denied.
	As    string
	Paths []string
	Whole bool // including everything below Paths
}

// Result is the outcome of a call. A tool that failed, was denied or cancelled has a result too,
// with IsError.
type Result struct {
	Info    protocol.CallInfo
	Raw     json.RawMessage  // the complete result of the tool
	Content protocol.Content // the same for a model, cut to a readable size
	IsError bool
}

// errStopped is the cause of a call that the person cancelled.
var errStopped = errors.New("stopped by the person")

// errTimeout is the cause of a call that took too long.
var errTimeout = protocol.ErrTimeout.With("Tool request timed out")

// Tools returns the available tools, with their full names.
func (d *Pipeline) Tools() []protocol.ToolSpec { return d.nodes.Tools() }

// Running returns the calls that wait or run.
func (d *Pipeline) Running() []protocol.CallInfo {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]protocol.CallInfo, 0, len(d.open))
	for _, r := range d.open {
		if r.info != nil {
			list = append(list, *r.info)
		}
	}
	return list
}

// Cancel cancels a call; its run continues with the output so far. It reports whether the call was
// in progress.
func (d *Pipeline) Cancel(id protocol.CallID) bool {
	d.mu.Lock()
	r := d.open[id]
	d.mu.Unlock()
	if r == nil {
		return false
	}
	r.cancel(errStopped)
	return true
}

// Known reports whether a call with this ID exists or existed.
func (d *Pipeline) Known(ctx context.Context, id protocol.CallID) (bool, error) {
	d.mu.Lock()
	open := d.open[id] != nil
	d.mu.Unlock()
	if open {
		return true, nil
	}
	_, err := d.journal.Call(ctx, id)
	if errors.Is(err, protocol.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Call runs c for p, and blocks until it has ended. An error means that the gateway failed or ctx
// ended: unknown tool (protocol.ErrNotFound), machine offline (ErrUnavailable), invalid arguments
// (*tool.InputError), storage (ErrStorage), the end of ctx (its cause). Every outcome that comes
// from the tool, the person or the policy is a Result.
func (d *Pipeline) Call(ctx context.Context, p auth.Principal, c Call) (Result, error) {
	known := c.ID != "" // a new ID cannot be in the journal
	if !known {
		c.ID = protocol.NewCallID()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d.mu.Lock()
	if d.open[c.ID] != nil {
		d.mu.Unlock()
		return Result{}, protocol.ErrConflict.With(fmt.Sprintf("call %s is under way already", c.ID))
	}
	// before the journal is read: from here on nobody else can start the call
	d.open[c.ID] = &running{cancel: cancel}
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.open, c.ID)
		d.mu.Unlock()
	}()
	var earlier store.Call
	err := error(protocol.ErrNotFound)
	if known {
		earlier, err = d.journal.Call(context.WithoutCancel(ctx), c.ID)
	}
	switch {
	case err == nil && earlier.Info.Over():
		res := replay(earlier)
		res.Info.Args = c.Args // the journal does not store file contents
		return res, nil
	case err == nil && earlier.Info.State == protocol.CallRunning:
		return d.rejoin(ctx, c, earlier)
	case err != nil && !errors.Is(err, protocol.ErrNotFound):
		return Result{}, err
	}
	t := &task{Pipeline: d, call: c, row: earlier, stored: err == nil}
	res, err := t.do(ctx, p)
	slog.Info("Call ended", "call", c.ID, "tool", c.Tool, "principal", p.String(), "state", res.Info.State, "err", err)
	return res, err
}

// show publishes a call's state and stores it for snapshots. The result must not be changed.
func (d *Pipeline) show(info protocol.CallInfo) *protocol.CallInfo {
	d.mu.Lock()
	if r := d.open[info.CallID]; r != nil {
		r.info = &info
	}
	d.mu.Unlock()
	d.bus.Publish(protocol.Change{Kind: protocol.ChangeCall, SessionKey: info.SessionKey, Call: &info})
	return &info
}

// unknownText is the text for the model and the person about a call that may or may not have run.
func unknownText(c store.Call) string {
	text := fmt.Sprintf("Unknown outcome: the call of %s on %s started at %s and ended without a report. It may have happened.",
		c.Info.Tool, c.Info.Node, time.UnixMilli(c.Info.StartedAt).Format("15:04:05"))
	if c.Idempotent {
		return text + " Repeating it does no harm."
	}
	return text + " Look first; do not repeat it without looking. Its idempotency key is " + c.IdempotencyKey + "."
}

// replay returns the result of a finished call from the journal.
func replay(c store.Call) Result {
	// A command with an exit code other than 0 has a result: its output.
	r := Result{Info: c.Info, Raw: c.ResultJSON, IsError: c.Info.State != protocol.CallDone && (c.Info.Error != "" || c.Info.State != protocol.CallFailed)}
	if c.Info.Error != "" {
		r.Content = errorContent(c.Info, c.ResultJSON)
	} else {
		r.Content = content(c.ResultJSON)
	}
	return r
}
