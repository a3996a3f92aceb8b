package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// start stores that the call runs. No call runs without its record.
func (a *activeCall) start(ctx context.Context) error {
	if context.Cause(ctx) != nil {
		return a.finishStopped(ctx, nil)
	}
	info := &a.record.Info
	info.State, info.StartedAt = protocol.CallRunning, time.Now().UnixMilli()
	if err := a.storeRecord(ctx); err != nil {
		info.State, info.StartedAt = protocol.CallWaiting, 0
		return err
	}
	a.withdrawApproval(ctx)
	a.publish(*info)
	if a.call.OnStart != nil {
		a.call.OnStart()
	}
	return nil
}

// errTimeout is the cause of a call that took too long.
var errTimeout = protocol.ErrTimeout.With("Tool request timed out")

// execute runs the call, and ends it with the outcome.
func (a *activeCall) execute(ctx context.Context) error {
	limit := a.target.TimeLimit(a.call.Args, usualLimit(a.Config()))
	limited, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	inv, err := a.invocation()
	if err != nil {
		return a.end(ctx, protocol.CallFailed, nil, err.Error())
	}
	raw, err := a.target.Execute(limited, a.call, inv, a.publishProgress(a.record, a.call.OnProgress))
	return a.finish(ctx, raw, err, limit)
}

// progressPause is the minimum time between two stored reports on a running call.
const progressPause = time.Second

// publishProgress returns a function that publishes the node's reports while the call runs, and
// stores some of them: after a crash, the output that was seen is still there. also gets them too,
// if it is not nil.
func (p *Pipeline) publishProgress(r Record, also func(protocol.ToolProgress)) func(protocol.ToolProgress) {
	var last time.Time // when a report was stored
	return func(report protocol.ToolProgress) {
		if also != nil {
			also(report)
		}
		if len(report.Chunk) > 0 {
			return // a part of the result, not a report on it
		}
		r.Info.Tail, r.Info.Bytes = report.Tail, report.Bytes
		p.publish(r.Info)
		if now := time.Now(); r.Info.Tail != "" && now.Sub(last) >= progressPause {
			last = now
			if err := p.Journal.Start(context.Background(), &r); err != nil {
				slog.Warn("Cannot store the output of a running call", "call", r.Info.CallID, "err", err)
			}
		}
	}
}

// invocation returns the message to the node.
func (a *activeCall) invocation() (inv protocol.ToolInvoke, err error) {
	inv = protocol.ToolInvoke{
		CallID: a.call.ID, Tool: a.target.Spec.Name, Args: a.call.Args, IdempotencyKey: a.record.IdempotencyKey,
		SessionKey: a.call.Session, RunID: a.call.Run, Direct: a.call.Direct, Network: mayUseNetwork(a.call, a.record.Info),
	}
	if by := a.call.Principal; by.App != "" || protocol.ForPrograms(inv.Tool) {
		inv.Caller = &protocol.ToolCaller{ID: by.Caller(), Name: by.Name}
	}
	p := a.record.Info.Preview
	if p != nil && a.target.Spec.Effect == protocol.EffectWrite && !a.call.Direct {
		inv.Expect = p.FileSHA256
	}
	if a.record.Info.ApprovalID != "" {
		inv.Approved, inv.Policy = a.record.Hash, a.version
	}
	if a.target.Spec.Effect == protocol.EffectExec {
		inv.Lifts, inv.Records, inv.Rules = a.lifts, a.records, a.rules
	}
	if p == nil {
		return inv, nil
	}
	inv.Folders = a.allowedFolders()
	// The node compares this hash with what it is about to do. So it refuses a read that the policy
	// allowed if its path leads elsewhere by now, to keys for example, because of a changed link.
	if len(inv.Folders) > 0 || inv.Approved == "" && p.Path != "" && !a.call.Direct && a.target.Spec.Effect == protocol.EffectRead {
		if inv.Approved == "" {
			inv.Policy = a.Policy.Version()
		}
		inv.Approved, err = protocol.CallHash(protocol.AskCall, a.target.Node, inv.Tool, inv.Args, p, inv.Policy, inv.Folders...)
	}
	return inv, err
}

// allowedFolders returns the folders outside the workspace that the call may use. The folder that a
// file tool needs is exactly what was allowed, so it opens with the allow; but if no person
// answered or made the call, a folder with a warning stays closed. A command gets the folders that
// the person chose.
func (a *activeCall) allowedFolders() (list []protocol.FolderAccess) {
	isApproved := a.record.Info.ApprovalID != "" || a.call.Direct
	isFileTool := a.target.Spec.Effect == protocol.EffectRead || a.target.Spec.Effect == protocol.EffectWrite
	for _, f := range a.record.Info.Preview.Folders {
		if slices.Contains(a.folders, f) || isFileTool && (isApproved && !a.record.Info.Edited || f.Warning == "") {
			list = append(list, f)
		}
	}
	return list
}

// mayUseNetwork reports whether the person was asked about the network, or runs the call.
func mayUseNetwork(c Call, info protocol.CallInfo) bool {
	if !c.Direct {
		return info.Preview != nil && info.Preview.Network && info.ApprovalID != ""
	}
	var args struct {
		Network bool `json:"network"`
	}
	return json.Unmarshal(c.Args, &args) == nil && args.Network
}

// usualLimit returns how long a call of a tool without a limit of its own may take.
func usualLimit(c config.Config) time.Duration {
	return time.Duration(c.Timeouts.Tool) * time.Millisecond
}

// finish ends the call with the response or the error of its execution.
func (a *activeCall) finish(ctx context.Context, raw json.RawMessage, failure error, limit time.Duration) error {
	var failed *Failure
	_, isUnproven := errors.AsType[unproven](failure)
	switch {
	case failure == nil:
		return a.end(ctx, a.record.interpret(raw), raw, "")
	case errors.Is(failure, ErrReported):
		return a.end(ctx, protocol.CallFailed, raw, "")
	case errors.As(failure, &failed):
		a.record.Info.Fault = failed.Fault
		return a.end(ctx, protocol.CallFailed, nil, failed.Text)
	case context.Cause(ctx) != nil:
		return a.finishStopped(ctx, raw)
	case errors.Is(failure, errTimeout):
		state, text := protocol.CallFailed, fmt.Sprintf("The call took longer than %s and was stopped.", format.Duration(limit))
		if a.record.unreportedText(raw) != "" { // nobody knows whether it ran
			state, text = protocol.CallUnknown, fmt.Sprintf("The call took longer than %s. ", format.Duration(limit))+unknownText(a.record)
		}
		a.record.Info.Fault = endFault(protocol.FaultTimeout, text, state)
		if err := a.end(ctx, state, raw, text); err != nil || !a.call.Direct || a.call.Session != "" {
			return err
		}
		return errTimeout // a tool.invoke that takes too long is answered with an error
	case errors.Is(failure, protocol.ErrUnavailable) && (a.target.Spec.Effect != protocol.EffectRead || isUnproven):
		// The node disconnected during the call.
		text := failure.Error() + ". " + unknownText(a.record)
		a.record.Info.Fault = endFault(protocol.FaultTargetUnreachable, text, protocol.CallUnknown)
		return a.end(ctx, protocol.CallUnknown, nil, text)
	case errors.Is(failure, protocol.ErrUnavailable):
		a.record.Info.Fault = endFault(protocol.FaultTargetUnreachable, failure.Error(), protocol.CallFailed)
	}
	return a.end(ctx, protocol.CallFailed, nil, failure.Error())
}

// endFault returns why a call has ended, for callers that are programs. A call whose outcome is
// unknown must not simply be repeated.
func endFault(code protocol.FaultCode, text, state string) *protocol.Fault {
	f := protocol.NewFault(code, text)
	f.Retryable = f.Retryable && state != protocol.CallUnknown
	return f
}

// interpret returns the state that a result means, and records what it says about a command.
func (r *Record) interpret(raw json.RawMessage) (state string) {
	state = protocol.CallDone
	var out struct {
		Status    string `json:"status"`
		ExitCode  *int   `json:"exitCode"`
		Tail      string `json:"tail"`
		SessionID string `json:"sessionId"`
	}
	if json.Unmarshal(raw, &out) != nil {
		return state
	}
	info, effect := &r.Info, r.Info.Effect
	if effect == protocol.EffectExec {
		info.ExitCode, info.Tail = out.ExitCode, out.Tail // shown until the result's message arrives
		if out.Status == "failed" {
			state = protocol.CallFailed
		}
	}
	// A node without extensions declares no effects.
	if out.Status == "running" && (effect == protocol.EffectExec || effect == protocol.EffectUnknown) {
		r.Process = out.SessionID
	}
	return state
}
