package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// entry is the journal entry of a call on its way through the stages. It stores and publishes every
// state of the call.
type entry struct {
	record Record // of an earlier start, until the call is validated
	stored bool   // record is in the journal
	ended  bool   // record has its end
	result Result // of a call that has ended
	// isRepeated means that its machine reports the end again until it is stored.
	isRepeated bool

	journal  Journal
	approver Approver // withdraws the question of an earlier start
	calls    *openCalls
	unstored *unstored
}

// store writes the record even if the context has ended: no outcome is ever in doubt.
func (e *entry) store(ctx context.Context) error {
	err := e.journal.Start(context.WithoutCancel(ctx), &e.record)
	e.stored = e.stored || err == nil
	return err
}

// begin stores that the call runs. No call runs without its record.
func (e *entry) begin(ctx context.Context) error {
	info := &e.record.Info
	info.State, info.StartedAt = protocol.CallRunning, time.Now().UnixMilli()
	if err := e.store(ctx); err != nil {
		info.State, info.StartedAt = protocol.CallWaiting, 0
		return err
	}
	e.withdrawQuestion(ctx)
	e.calls.publish(*info)
	return nil
}

// progressPause is the minimum time between two stored reports on a running call.
const progressPause = time.Second

// progress returns a function that publishes the node's reports while the call runs, and stores some
// of them: after a crash, the output that was seen is still there. also gets them too, if it is not
// nil.
func (e *entry) progress(also func(protocol.ToolProgress)) func(protocol.ToolProgress) {
	r, calls, journal := e.record, e.calls, e.journal // reports arrive beside the stages
	var last time.Time                                // when a report was stored
	return func(report protocol.ToolProgress) {
		if also != nil {
			also(report)
		}
		if len(report.Chunk) > 0 {
			return // a part of the result, not a report on it
		}
		r.Info.Tail, r.Info.Bytes = report.Tail, report.Bytes
		calls.publish(r.Info)
		if now := time.Now(); r.Info.Tail != "" && now.Sub(last) >= progressPause {
			last = now
			if err := journal.Start(context.Background(), &r); err != nil {
				slog.Warn("Cannot store the output of a running call", "call", r.Info.CallID, "err", err)
			}
		}
	}
}

// end stores the end of the call and publishes it. failure is empty if the result is enough.
func (e *entry) end(ctx context.Context, state string, raw json.RawMessage, failure string) error {
	e.record.close(state, raw, failure)
	e.ended = true
	if state == protocol.CallUnknown {
		e.record.Info.Tail, e.record.Info.Bytes = e.calls.lastOutput(e.record.Info.CallID)
	}
	if err := e.storeEnd(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	e.withdrawQuestion(ctx)
	e.calls.publish(e.record.Info)
	e.result = resultOf(e.record)
	return nil
}

func (e *entry) storeEnd(ctx context.Context) error {
	if !e.stored {
		return e.store(ctx) // a refused call gets a record too
	}
	id := e.record.Info.CallID
	isFirst, err := e.journal.Finish(ctx, &e.record)
	if err != nil {
		e.calls.fail(id)
		if e.isRepeated {
			e.unstored.add(e.record)
		}
	}
	switch {
	case err != nil && e.record.Info.State != protocol.CallDone:
		return err
	case err != nil:
		// The effect has happened. Losing its result would be worse than an open record, which the
		// next start reports as unknown.
		slog.Error("Cannot store the result of a call", "call", id, "err", err)
	case !isFirst:
		slog.Warn("Call had already ended", "call", id)
	}
	return nil
}

// withdrawQuestion closes the pending question that an earlier start asked about the call.
func (e *entry) withdrawQuestion(ctx context.Context) {
	if id := e.record.Info.ApprovalID; id != "" {
		if err := e.approver.Withdraw(context.WithoutCancel(ctx), id); err != nil {
			slog.Warn("Cannot withdraw an approval", "approval", id, "err", err)
		}
	}
}

// stop ends a call whose context has ended: cancelled by the person or with its run, or because the
// gateway stops. raw is the output so far, if any. It returns the cause unless the person cancelled
// the call.
func (e *entry) stop(ctx context.Context, raw json.RawMessage) error {
	cause := context.Cause(ctx)
	text := "The call was stopped with its run."
	switch {
	case errors.Is(cause, errCancelled):
		return e.end(ctx, protocol.CallCancelled, raw, "The person stopped this call."+e.record.unreportedText(raw))
	case cause == nil: // its approval was cancelled by an earlier start
		return e.end(ctx, protocol.CallCancelled, nil, text)
	case errors.Is(cause, ErrSuspended):
		if e.record.Info.State != protocol.CallRunning {
			return cause // it has not started: the next start resumes it
		}
		text = "The call was stopped because Fairlead was quit."
	}
	err := e.end(ctx, protocol.CallCancelled, raw, text+e.record.unreportedText(raw))
	e.result = Result{}
	if err != nil {
		return err
	}
	return cause
}

// finish ends the call with the response or the error of its execution, which could take limit.
func (e *entry) finish(ctx context.Context, raw json.RawMessage, failure error, limit time.Duration) error {
	info := &e.record.Info
	var failed *Failure
	_, isUnproven := errors.AsType[unproven](failure)
	switch {
	case failure == nil:
		return e.end(ctx, e.record.interpret(raw), raw, "")
	case errors.Is(failure, ErrReported):
		return e.end(ctx, protocol.CallFailed, raw, "")
	case errors.As(failure, &failed):
		info.Fault = failed.Fault
		return e.end(ctx, protocol.CallFailed, nil, failed.Text)
	case context.Cause(ctx) != nil:
		return e.stop(ctx, raw)
	case errors.Is(failure, errTimeout):
		state, text := protocol.CallFailed, fmt.Sprintf("The call took longer than %s and was stopped.", format.Duration(limit))
		if e.record.unreportedText(raw) != "" { // nobody knows whether it ran
			state, text = protocol.CallUnknown, fmt.Sprintf("The call took longer than %s. ", format.Duration(limit))+unknownText(e.record)
		}
		info.Fault = endFault(protocol.FaultTimeout, text, state)
		if err := e.end(ctx, state, raw, text); err != nil || !info.Direct || info.SessionKey != "" {
			return err
		}
		return errTimeout // a tool.invoke that takes too long is answered with an error
	case errors.Is(failure, protocol.ErrUnavailable) && (info.Effect != protocol.EffectRead || isUnproven):
		// The node disconnected during the call.
		text := failure.Error() + ". " + unknownText(e.record)
		info.Fault = endFault(protocol.FaultTargetUnreachable, text, protocol.CallUnknown)
		return e.end(ctx, protocol.CallUnknown, nil, text)
	case errors.Is(failure, protocol.ErrUnavailable):
		info.Fault = endFault(protocol.FaultTargetUnreachable, failure.Error(), protocol.CallFailed)
	}
	return e.end(ctx, protocol.CallFailed, nil, failure.Error())
}

// lose ends a call of an earlier start that nobody continues: its outcome is unknown, unless it has not
// begun.
func (e *entry) lose(ctx context.Context) (Result, error) {
	r := e.record
	state, text := protocol.CallUnknown, unknownText(r)
	if r.Info.State == protocol.CallWaiting {
		state, text = protocol.CallCancelled, "Fairlead was stopped before the call began."
	}
	r.close(state, nil, text)
	if r.Info.Effect != protocol.EffectRead {
		r.DecidedBy, r.Decision.Reason = r.Principal, "an earlier start left it open"
	}
	if _, err := e.journal.Finish(context.WithoutCancel(ctx), &r); err != nil {
		return Result{}, err
	}
	e.calls.publish(r.Info)
	return resultOf(r), nil
}
