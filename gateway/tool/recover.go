package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// Recover ends the calls that an earlier start left open and that nothing will end: those that a
// person or a program made directly, unless goesOn says that what they have queued continues. It must
// run before any call.
func (p *Pipeline) Recover(ctx context.Context, goesOn func(protocol.CallID) bool) error {
	open, err := p.Journal.Open(ctx)
	if err != nil {
		return fmt.Errorf("find calls of an earlier start: %w", err)
	}
	for _, r := range open {
		if r.Info.RunID != "" || r.Info.Tool == protocol.KeepTool && r.Info.State == protocol.CallWaiting || goesOn(r.Info.CallID) {
			continue // a run, or the report of its node, resumes it, or a transfer ends it
		}
		e := p.newEntry(r)
		if _, err := e.lose(ctx); err != nil {
			return fmt.Errorf("end call %s of an earlier start: %w", r.Info.CallID, err)
		}
	}
	return nil
}

// rejoin ends a call that an earlier start of the gateway sent. If the node has continued it,
// rejoin waits for its result; otherwise the outcome is unknown. The call is never sent again.
func (p *Pipeline) rejoin(ctx context.Context, a *activeCall) (Result, error) {
	e := &a.entry
	i := e.record.Info
	spec := protocol.ToolSpec{Name: i.Tool, Effect: i.Effect, Idempotent: e.record.Idempotent}
	at := p.Registry.at(i.Node, spec)
	sent, canRejoin := at.(rejoiner)
	if i.Effect == protocol.EffectRead || !canRejoin {
		return e.lose(ctx)
	}
	e.isRepeated = true
	if a.subject.call.OnStart != nil {
		a.subject.call.OnStart()
	}
	p.calls.publish(i)
	waitForNodes(ctx, p.Bus, func() bool {
		info, known := p.Registry.machines.Node(i.Node)
		return !known || info.Online
	})
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrSuspended):
		return Result{}, cause // the next start rejoins the call
	case cause != nil:
		return e.lose(ctx)
	}
	if !i.Edited {
		e.record.Info.Args = a.subject.call.Args // the journal does not store file contents
	}
	e.record.Decision, e.record.DecidedBy = policy.Decision{Verdict: policy.Allow, Reason: "an earlier start began it"}, e.record.Principal
	limit := at.TimeLimit(a.subject.call.Args, usualLimit(p.Config()))
	limited, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	raw, err := sent.Rejoin(limited, i.CallID, e.progress(nil))
	err = e.finish(ctx, raw, err, limit)
	return e.result, err
}

// storeUnstored stores the end of a call that could not be stored at first. It returns false if none is
// held for the call, or if the call's run has been resumed and has recorded an unknown outcome.
func (p *Pipeline) storeUnstored(ctx context.Context, node protocol.NodeID, id protocol.CallID) (bool, error) {
	r, ok := p.unstored.get(node, id)
	if !ok {
		return false, nil
	}
	isFirst, err := p.Journal.Finish(context.WithoutCancel(ctx), &r)
	if err != nil {
		return false, errNotStored
	}
	p.unstored.remove(id)
	if isFirst {
		p.calls.publish(r.Info)
	}
	return isFirst, nil
}

// AcceptLateResult handles a node's result of a call that nobody waits for. If the call's outcome
// was unknown, it updates the journal and returns the result for the chat. protocol.ErrNotFound
// means that there is no such call; protocol.ErrUnavailable makes the node report again.
// The result is nil if it is the report of a call whose end could not be stored at first.
func (p *Pipeline) AcceptLateResult(ctx context.Context, node protocol.NodeID, late protocol.ToolResultParams) (*Result, error) {
	if isStored, err := p.storeUnstored(ctx, node, late.CallID); isStored || err != nil {
		return nil, err
	}
	r, err := p.Journal.Find(ctx, late.CallID)
	switch {
	case err != nil:
		return nil, err
	case r.Info.Node != node:
		return nil, protocol.ErrForbidden.With("Node not authorized for this call")
	case r.Info.State == protocol.CallRunning:
		return nil, protocol.ErrUnavailable.With("the run of this call has not been resumed yet; report it again")
	case r.Info.State != protocol.CallUnknown:
		return nil, protocol.ErrNotFound.With("Unknown callId")
	}
	intro := fmt.Sprintf("The outcome of the call of %s on %s that started at %s was unknown. The machine has now reported it:",
		r.Info.Tool, r.Info.Node, time.UnixMilli(r.Info.StartedAt).Format("15:04:05"))
	r.Decision, r.DecidedBy = policy.Decision{Verdict: policy.Allow, Reason: "its machine has reported the outcome, which was unknown"}, r.Principal
	r.Info.Tail, r.Info.Bytes = "", 0
	raw := late.Result
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	if late.Error != "" {
		r.close(protocol.CallFailed, nil, late.Error)
	} else {
		r.close(r.interpret(raw), raw, "")
	}
	changed, err := p.Journal.Correct(context.WithoutCancel(ctx), &r)
	switch {
	case err != nil:
		return nil, err
	case !changed:
		return nil, protocol.ErrNotFound.With("Unknown callId")
	}
	p.calls.publish(r.Info)
	res := resultOf(r)
	res.addNote(intro)
	return &res, nil
}
