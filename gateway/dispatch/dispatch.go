package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Nodes runs tools on machines.
type Nodes interface {
	Lookup(protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error)
	Preview(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke) (protocol.CallPreview, bool, error)
	Call(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error)
	Node(protocol.NodeID) (protocol.NodeInfo, bool)
	// Start is Call without the wait, see [nodes.Hub.Start].
	Start(id protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress), end func(json.RawMessage, error)) *nodes.Started
	Tools() []protocol.ToolSpec
	// Rejoin waits for a call that an earlier start made, see [nodes.Hub.Rejoin].
	Rejoin(ctx context.Context, id protocol.NodeID, call protocol.CallID, progress func(protocol.ToolProgress)) (json.RawMessage, error)
}

// Asker puts questions to the person.
type Asker interface {
	Ask(ctx context.Context, a protocol.Approval, limit time.Duration, put func()) (protocol.Approval, error)
	Review(ctx context.Context, decided func(protocol.Approval) bool) error
}

// Journal keeps calls and grants.
type Journal interface {
	PutCall(ctx context.Context, c store.Call, lines ...protocol.AuditEntry) error
	FinishCall(ctx context.Context, c store.Call, lines ...protocol.AuditEntry) (bool, error)
	// PutSoon and FinishSoon never block, and report false for what must be written by PutCall or FinishCall.
	PutSoon(c store.Call) bool
	FinishSoon(c store.Call) (won, ok bool)
	SettleCall(ctx context.Context, c store.Call, lines ...protocol.AuditEntry) (bool, error)
	Call(ctx context.Context, id protocol.CallID) (store.Call, error)
	OpenCalls(ctx context.Context) ([]store.Call, error)
	Grants(ctx context.Context, session protocol.SessionKey) ([]store.Grant, error)
	PutGrant(ctx context.Context, g store.Grant, lines ...protocol.AuditEntry) error
	Approval(ctx context.Context, id protocol.ApprovalID) (protocol.Approval, error)
	CloseApproval(ctx context.Context, a protocol.Approval) (won bool, err error)
	Session(ctx context.Context, key protocol.SessionKey) (store.Session, error)
}

// Rules decide what is asked about.
type Rules interface {
	Decide(ctx context.Context, q approval.Request) approval.Decision
	Weigh(q approval.Request) approval.Decision
	Version() string
	FillOffers(a *protocol.Approval) error
	Grant(ctx context.Context, by string, a protocol.Approval) error
}

// Dispatcher is safe for use by many goroutines.
type Dispatcher struct {
	nodes   Nodes
	gate    Asker
	rules   Rules
	journal Journal
	bus     *event.Bus
	config  func() config.Config

	mu   sync.Mutex // guards open
	open map[protocol.CallID]*running
}

// running is a call under way.
type running struct {
	info   *protocol.CallInfo // nil until somebody is told of it; what it points to never changes
	cancel context.CancelCauseFunc
	asks   *approval.Request // what its question was decided on, while it is open
}

// New makes a dispatcher.
func New(n Nodes, gate Asker, rules Rules, journal Journal, bus *event.Bus, cfg func() config.Config) *Dispatcher {
	return &Dispatcher{nodes: n, gate: gate, rules: rules, journal: journal, bus: bus, config: cfg, open: make(map[protocol.CallID]*running)}
}

// Call is what someone wants done.
type Call struct {
	ID         protocol.CallID // empty: a new one
	ToolCallID string          // the model's id
	Tool       protocol.ToolName
	Args       json.RawMessage
	Session    protocol.SessionKey
	Run        protocol.RunID
	AskedBy    protocol.AskedBy
	Direct     bool // the person's own act
	Act        *Act // instead of a tool, for the person's own acts only
	Iteration  int  // the model step of the run
	// OnAsk, when set, is called when a question is put, and with its end.
	OnAsk func(protocol.Approval)
	// OnPut, when set, is called when a question has been stored and shown to all.
	OnPut func()
	// OnStart, when set, is called when the machine is about to be told to run the call. A call that is not run has none.
	OnStart func()
}

// Act is something that a machine does for the person and that is no tool: nobody but the person can ask for it. The rules judge it as calls of a tool.
type Act struct {
	Node   protocol.NodeID
	Effect protocol.Effect
	// As is the tool, such as Write, as whose calls it is judged, one for each of Paths: where one is denied, so is the act.
	As    string
	Paths []string
	Whole bool // with all that is below Paths
}

// Result is how a call ended. A tool that failed, was denied or stopped is a result too, with IsError.
type Result struct {
	Info    protocol.CallInfo
	Raw     json.RawMessage  // what the tool returned, whole
	Content protocol.Content // the same for a model, cut to a size it can read
	IsError bool
}

// errStopped is the cause of a call that the person stopped.
var errStopped = errors.New("stopped by the person")

// errTimeout is the cause of a call that took too long.
var errTimeout = protocol.ErrTimeout.With("Tool request timed out")

// Tools lists what can be called now, under full names.
func (d *Dispatcher) Tools() []protocol.ToolSpec { return d.nodes.Tools() }

// Running lists the calls that wait or run.
func (d *Dispatcher) Running() []protocol.CallInfo {
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

// Cancel stops a call; its run goes on with what the call has produced. It reports whether the call was under way.
func (d *Dispatcher) Cancel(id protocol.CallID) bool {
	d.mu.Lock()
	r := d.open[id]
	d.mu.Unlock()
	if r == nil {
		return false
	}
	r.cancel(errStopped)
	return true
}

// Known reports whether there was a call of this id, or is one.
func (d *Dispatcher) Known(ctx context.Context, id protocol.CallID) (bool, error) {
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

// Call does what c says for p, and blocks until it has ended. An error means that the gateway failed or ctx ended: no such tool
// (protocol.ErrNotFound), machine offline (ErrUnavailable), arguments that do not fit (*tool.InputError), storage (ErrStorage), the end of
// ctx (its cause). Everything the tool, the person or the policy says is a Result.
func (d *Dispatcher) Call(ctx context.Context, p auth.Principal, c Call) (Result, error) {
	known := c.ID != "" // else the journal cannot have it
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
	d.open[c.ID] = &running{cancel: cancel} // before the journal is read: nobody else may begin the call from here on
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
		res.Info.Args = c.Args // the journal has no contents
		return res, nil
	case err == nil && earlier.Info.State == protocol.CallRunning:
		return d.rejoin(ctx, c, earlier)
	case err != nil && !errors.Is(err, protocol.ErrNotFound):
		return Result{}, err
	}
	t := &task{Dispatcher: d, call: c, row: earlier, stored: err == nil}
	res, err := t.do(ctx, p)
	slog.Info("Call ended", "call", c.ID, "tool", c.Tool, "principal", p.String(), "state", res.Info.State, "err", err)
	return res, err
}

// show publishes a call's state and remembers it for snapshots. What it returns must not be changed.
func (d *Dispatcher) show(info protocol.CallInfo) *protocol.CallInfo {
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

// replay is the result of a call that has ended.
func replay(c store.Call) Result {
	// A command that failed has answered: what it printed is the result.
	r := Result{Info: c.Info, Raw: c.ResultJSON, IsError: c.Info.State != protocol.CallDone && (c.Info.Error != "" || c.Info.State != protocol.CallFailed)}
	if c.Info.Error != "" {
		r.Content = errorContent(c.Info, c.ResultJSON)
	} else {
		r.Content = content(c.ResultJSON)
	}
	return r
}
