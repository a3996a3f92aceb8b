package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/protocol"
)

// storeRecord writes the record even if the context has ended: no outcome is ever in doubt.
func (a *activeCall) storeRecord(ctx context.Context) error {
	err := a.Journal.Start(context.WithoutCancel(ctx), &a.record)
	a.stored = a.stored || err == nil
	return err
}

// end stores the end of the call and publishes it. failure is empty if the result is enough.
func (a *activeCall) end(ctx context.Context, state string, raw json.RawMessage, failure string) error {
	a.record.close(state, raw, failure)
	a.ended = true
	if state == protocol.CallUnknown {
		a.record.Info.Tail, a.record.Info.Bytes = a.lastOutput(a.call.ID)
	}
	if err := a.storeEnd(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	a.withdrawApproval(ctx)
	a.publish(a.record.Info)
	a.result = resultOf(a.record)
	return nil
}

// lastOutput returns the end of the output that a call in progress has reported, and its length.
func (p *Pipeline) lastOutput(id protocol.CallID) (tail string, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.open[id]; o != nil && o.info != nil {
		return o.info.Tail, o.info.Bytes
	}
	return "", 0
}

// close sets the end of the call in its record.
func (r *Record) close(state string, raw json.RawMessage, failure string) {
	r.Info.State, r.Info.EndedAt, r.Info.Error, r.ResultJSON = state, time.Now().UnixMilli(), failure, raw
}

func (a *activeCall) storeEnd(ctx context.Context) error {
	if !a.stored {
		return a.storeRecord(ctx) // a refused call gets a record too
	}
	isFirst, err := a.Journal.Finish(ctx, &a.record)
	if err != nil {
		a.mu.Lock()
		if o := a.open[a.call.ID]; o != nil {
			o.failure = errNotStored
		}
		a.mu.Unlock()
		if _, again := a.target.target.(rejoiner); again {
			a.unstored.add(a.record)
		}
	}
	switch {
	case err != nil && a.record.Info.State != protocol.CallDone:
		return err
	case err != nil:
		// The effect has happened. Losing its result would be worse than an open record, which the
		// next start reports as unknown.
		slog.Error("Cannot store the result of a call", "call", a.call.ID, "err", err)
	case !isFirst:
		slog.Warn("Call had already ended", "call", a.call.ID)
	}
	return nil
}

// withdrawApproval closes the pending approval that an earlier start requested for the call.
func (a *activeCall) withdrawApproval(ctx context.Context) {
	if id := a.record.Info.ApprovalID; id != "" {
		if err := a.Approver.Withdraw(context.WithoutCancel(ctx), id); err != nil {
			slog.Warn("Cannot withdraw an approval", "approval", id, "err", err)
		}
	}
}

// finishStopped ends a call whose context has ended: cancelled by the person or with its run, or
// because the gateway stops. raw is the output so far, if any. It returns the cause unless the
// person cancelled the call.
func (a *activeCall) finishStopped(ctx context.Context, raw json.RawMessage) error {
	cause := context.Cause(ctx)
	text := "The call was stopped with its run."
	switch {
	case errors.Is(cause, errCancelled):
		return a.end(ctx, protocol.CallCancelled, raw, "The person stopped this call."+a.record.unreportedText(raw))
	case cause == nil: // its approval was cancelled by an earlier start
		return a.end(ctx, protocol.CallCancelled, nil, text)
	case errors.Is(cause, ErrSuspended):
		if a.record.Info.State != protocol.CallRunning {
			return cause // it has not started: the next start resumes it
		}
		text = "The call was stopped because Fairlead was quit."
	}
	err := a.end(ctx, protocol.CallCancelled, raw, text+a.record.unreportedText(raw))
	a.result = Result{}
	if err != nil {
		return err
	}
	return cause
}

// unreportedText returns a warning if a cancelled call may have had an effect without a report.
func (r *Record) unreportedText(raw json.RawMessage) string {
	if r.Info.State != protocol.CallRunning || len(raw) > 0 || r.Info.Effect == protocol.EffectRead {
		return ""
	}
	return " The machine has not reported what was done by then: check before you repeat it."
}

// unknownText tells the model and the person about a call that may or may not have run.
func unknownText(r Record) string {
	text := fmt.Sprintf("Unknown outcome: the call of %s on %s started at %s and ended without a report. It may have happened.",
		r.Info.Tool, r.Info.Node, time.UnixMilli(r.Info.StartedAt).Format("15:04:05"))
	if r.Idempotent {
		return text + " Repeating it does no harm."
	}
	return text + " Check first; do not repeat it without checking. Its idempotency key is " + r.IdempotencyKey + "."
}
