package tool

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
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

	calls    *openCalls
	unstored unstored // calls of nodes whose end is not stored
}

// New returns a pipeline. Call Recover before the first call.
func New(o Options) *Pipeline {
	return &Pipeline{Options: o, calls: newOpenCalls(o.Bus)}
}

// newCall returns a call that has passed no stage. r is what an earlier start has stored about it.
func (p *Pipeline) newCall(c Call, r Record) *activeCall {
	return &activeCall{
		subject: subject{call: c}, entry: p.newEntry(r), registry: p.Registry, bus: p.Bus, config: p.Config,
		judge: judge{policy: p.Policy, permissions: p.Permissions, machines: p.Registry.machines},
		asker: asker{p.Approver, p.Policy, p.calls, p.Config},
	}
}

func (p *Pipeline) newEntry(r Record) entry {
	return entry{record: r, journal: p.Journal, approver: p.Approver, calls: p.calls, unstored: &p.unstored}
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
	case a.entry.stored && a.entry.record.Info.Over():
		res = resultOf(a.entry.record)
		if !res.Info.Edited {
			res.Info.Args = a.subject.call.Args // the journal does not store file contents
		}
		return res, nil
	case a.entry.record.Info.State == protocol.CallRunning:
		return p.rejoin(ctx, a)
	}
	err = a.through(ctx, a.resolve, a.authorize, a.validate, a.preview, a.decide, a.approve, a.start, a.execute)
	slog.Info("Call ended", "call", a.subject.call.ID, "tool", c.Tool, "principal", c.Principal.String(), "state", a.entry.result.Info.State, "err", err)
	return a.entry.result, err
}

// Authorize takes a call through every stage before its execution, which the caller does itself,
// such as the queue of transfers. The caller must then report the outcome with
// [Authorization.Finish], or leave the call open with [Authorization.Leave]. A call that is not
// allowed fails with protocol.ErrForbidden and the reason.
func (p *Pipeline) Authorize(ctx context.Context, c Call) (Authorization, error) {
	ctx, a, err := p.begin(ctx, c)
	if err != nil {
		return Authorization{}, err
	}
	err = a.through(ctx, a.resolve, a.authorize, a.validate, a.preview, a.decide, a.approve, a.start)
	if err == nil && a.entry.ended {
		err = protocol.ErrForbidden.With(a.entry.record.Info.Error)
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
	return cmp.Or(a.call.entry.record.Of, a.call.subject.call.ID)
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
		a.call.entry.record.Info.Fault, _ = errors.AsType[*protocol.Fault](failure)
	}
	if raw, err = protocol.Marshal(out); err != nil {
		return err
	}
	return a.call.entry.end(ctx, state, raw, "")
}

// Leave releases a call that what it has queued ends: the caller has stored that together with the
// call's ID, and stores the call's end with its own. See [Pipeline.Recover].
func (a Authorization) Leave() {
	if a.call != nil {
		a.call.release()
	}
}

// begin makes c the only call in progress with its ID, and reads what an earlier start has stored
// about it. The context that it returns ends when the call is cancelled. The caller must release
// the call.
func (p *Pipeline) begin(ctx context.Context, c Call) (context.Context, *activeCall, error) {
	isNew := c.ID == "" // a new ID cannot be in the journal
	if isNew {
		c.ID = protocol.NewCallID()
	}
	ctx, release, err := p.calls.add(ctx, c.ID) // before the journal is read: nobody else can start it now
	if err != nil {
		return nil, nil, err
	}
	var r Record
	err = protocol.ErrNotFound
	if !isNew {
		r, err = p.Journal.Find(context.WithoutCancel(ctx), c.ID)
	}
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		release()
		return nil, nil, err
	}
	a := p.newCall(c, r)
	a.release, a.entry.stored = release, err == nil
	return ctx, a, nil
}

// Running returns the calls that wait or run.
func (p *Pipeline) Running() []protocol.CallInfo { return p.calls.list() }

// Cancel cancels a call in progress, whose run continues. It reports whether there was one.
func (p *Pipeline) Cancel(id protocol.CallID) bool { return p.calls.cancel(id) }

// IsKnown reports whether a call with this ID exists or existed.
func (p *Pipeline) IsKnown(ctx context.Context, id protocol.CallID) (bool, error) {
	if p.calls.has(id) {
		return true, nil
	}
	_, err := p.Journal.Find(ctx, id)
	if errors.Is(err, protocol.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
