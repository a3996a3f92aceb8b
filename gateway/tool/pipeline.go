package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// Options are the stages of a pipeline. All fields are required.
type Options struct {
	Registry    *Registry
	Policy      Policy
	Approver    Approver
	Journal     Journal
	Steps       Steps
	Permissions Permissions
	Bus         *event.Bus
	Config      func() config.Config
}

// Pipeline runs tool calls. It is safe for concurrent use.
type Pipeline struct {
	Options

	mu       sync.Mutex // guards open
	open     map[protocol.CallID]*openCall
	unstored unstored // calls of nodes whose end is not stored
}

// openCall is a call in progress, as others see it.
type openCall struct {
	info    *protocol.CallInfo // nil until the call is published; never changed through the pointer
	cancel  context.CancelCauseFunc
	request *policy.Request // what its pending question was decided on
	ended   chan struct{}   // closed when the call is no longer in progress
	failure error           // why its end is not stored; set before ended is closed
}

// New returns a pipeline. Call Recover before the first call.
func New(o Options) *Pipeline {
	return &Pipeline{Options: o, open: make(map[protocol.CallID]*openCall)}
}

// Tools lists the tools that the agent of a chat can call now, with their full names: at most limit;
// 0 means no limit.
func (p *Pipeline) Tools(key protocol.SessionKey, limit int) []protocol.ToolSpec {
	return p.Registry.toolsFor(key, limit)
}

// Run runs a call, and blocks until it has ended. An error means that the gateway failed or ctx
// ended: unknown tool (protocol.ErrNotFound), machine offline (ErrUnavailable), invalid arguments
// (*toolkit.InputError), storage (ErrStorage), the end of ctx (its cause). Every outcome that comes
// from the tool, the person or the policy is a Result. For the ID of a call that has ended, Run
// returns the result of that call.
func (p *Pipeline) Run(ctx context.Context, c Call) (res Result, err error) {
	ctx, a, err := p.begin(ctx, c)
	if err != nil {
		return Result{}, err
	}
	defer a.release()
	switch {
	case a.stored && a.record.Info.Over():
		res = resultOf(a.record)
		if !res.Info.Edited {
			res.Info.Args = a.call.Args // the journal does not store file contents
		}
		return res, nil
	case a.record.Info.State == protocol.CallRunning:
		return p.rejoin(ctx, a)
	}
	err = a.through(ctx, a.resolve, a.authorize, a.validate, a.preview, a.decide, a.approve, a.start, a.execute)
	slog.Info("Call ended", "call", a.call.ID, "tool", c.Tool, "principal", c.Principal.String(), "state", a.result.Info.State, "err", err)
	return a.result, err
}

// Authorize takes a call through every stage before its execution, which the caller does itself,
// such as the queue of transfers. The caller must then report the outcome with
// [Authorization.Finish]. A call that is not allowed fails with protocol.ErrForbidden and the
// reason.
func (p *Pipeline) Authorize(ctx context.Context, c Call) (Authorization, error) {
	ctx, a, err := p.begin(ctx, c)
	if err != nil {
		return Authorization{}, err
	}
	err = a.through(ctx, a.resolve, a.authorize, a.validate, a.preview, a.decide, a.approve, a.start)
	if err == nil && a.ended {
		err = protocol.ErrForbidden.With(a.record.Info.Error)
	}
	if err != nil {
		a.release()
		return Authorization{}, err
	}
	return Authorization{a}, nil
}

// Authorization is a call that may run now. The zero value stands for a call that is not recorded.
type Authorization struct{ call *activeCall }

// ID returns the ID of the call, or of the earlier one that it is a decision about, with which
// [Pipeline.Continue] goes on; empty for the zero value.
func (a Authorization) ID() protocol.CallID {
	if a.call == nil {
		return ""
	}
	return cmp.Or(a.call.record.Of, a.call.call.ID)
}

// Finish records the outcome of the call: its result, or why it failed.
func (a Authorization) Finish(ctx context.Context, result any, failure error) error {
	if a.call == nil {
		return nil
	}
	defer a.call.release()
	raw, err := protocol.Marshal(result)
	if err != nil {
		return err
	}
	out, state := protocol.NativeResult{OK: true, Result: raw}, protocol.CallDone
	if failure != nil {
		out, state = protocol.NativeResult{Error: ErrorText(failure)}, protocol.CallFailed
		a.call.record.Info.Fault, _ = errors.AsType[*protocol.Fault](failure)
	}
	if raw, err = protocol.Marshal(out); err != nil {
		return err
	}
	return a.call.end(ctx, state, raw, "")
}

// stage is one step of a call. A stage that ends the call stores its end, and returns no error.
type stage func(context.Context) error

// through takes a call through its stages until one of them ends it. It always closes a call that
// an earlier start left waiting, one whose context ends early, and one that panics.
func (a *activeCall) through(ctx context.Context, stages ...stage) error {
	var err error
	for _, run := range stages {
		if err = crash.Call("tool "+string(a.call.Tool), func() error { return run(ctx) }, "call", a.call.ID); err != nil || a.ended {
			break
		}
	}
	crashed, hasCrashed := errors.AsType[*crash.Error](err)
	switch {
	case err == nil || a.ended || errors.Is(err, protocol.ErrStorage) || errors.Is(err, ErrSuspended):
		return err
	case a.record.Info.CallID == "":
		return err // nothing was published about it
	case hasCrashed: // what a call that was running has done by then is not known
		state, text := protocol.CallFailed, crashed.Error()
		if info := a.record.Info; info.State == protocol.CallRunning && info.Effect != protocol.EffectRead {
			state, text = protocol.CallUnknown, text+". "+unknownText(a.record)
		}
		a.record.Info.Fault = endFault(protocol.FaultInternal, text, state)
		return a.end(ctx, state, nil, text)
	case context.Cause(ctx) != nil:
		return a.finishStopped(ctx, nil)
	case a.stored:
		return a.end(ctx, protocol.CallFailed, nil, err.Error())
	}
	return err
}

// begin makes c the only call in progress with its ID, and reads what an earlier start has stored
// about it. The context that it returns ends when the call is cancelled. The caller must release
// the call.
func (p *Pipeline) begin(ctx context.Context, c Call) (context.Context, *activeCall, error) {
	isNew := c.ID == "" // a new ID cannot be in the journal
	if isNew {
		c.ID = protocol.NewCallID()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p.mu.Lock()
	if p.open[c.ID] != nil {
		p.mu.Unlock()
		cancel(nil)
		return nil, nil, protocol.ErrConflict.With(fmt.Sprintf("call %s is already running", c.ID))
	}
	ended := make(chan struct{})
	p.open[c.ID] = &openCall{cancel: cancel, ended: ended} // before the journal is read: nobody else can start it now
	p.mu.Unlock()
	a := &activeCall{Pipeline: p, call: c, release: func() {
		cancel(nil)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, c.ID)
		close(ended)
	}}
	if isNew {
		return ctx, a, nil
	}
	var err error
	a.record, err = p.Journal.Find(context.WithoutCancel(ctx), c.ID)
	a.stored = err == nil
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		a.release()
		return nil, nil, err
	}
	return ctx, a, nil
}

// Running returns the calls that wait or run.
func (p *Pipeline) Running() []protocol.CallInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]protocol.CallInfo, 0, len(p.open))
	for _, o := range p.open {
		if o.info != nil {
			list = append(list, *o.info)
		}
	}
	return list
}

// errCancelled is the cause of a call that the person cancelled.
var errCancelled = errors.New("stopped by the person")

// Cancel cancels a call in progress, whose run continues. It reports whether there was one.
func (p *Pipeline) Cancel(id protocol.CallID) bool {
	p.mu.Lock()
	o := p.open[id]
	p.mu.Unlock()
	if o == nil {
		return false
	}
	o.cancel(errCancelled)
	return true
}

// IsKnown reports whether a call with this ID exists or existed.
func (p *Pipeline) IsKnown(ctx context.Context, id protocol.CallID) (bool, error) {
	p.mu.Lock()
	isOpen := p.open[id] != nil
	p.mu.Unlock()
	if isOpen {
		return true, nil
	}
	_, err := p.Journal.Find(ctx, id)
	if errors.Is(err, protocol.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// publish publishes a call's state and stores it for snapshots.
func (p *Pipeline) publish(info protocol.CallInfo) {
	p.mu.Lock()
	if o := p.open[info.CallID]; o != nil {
		o.info = &info
	}
	p.mu.Unlock()
	p.Bus.Publish(protocol.Change{Kind: protocol.ChangeCall, SessionKey: info.SessionKey, Call: &info})
}

// jsonObject is the arguments of a call without any.
var jsonObject = json.RawMessage("{}")
