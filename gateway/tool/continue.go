package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// Step is one step of what an allowed call opened: a part of its file, output of its command or a
// signal for it, another look at its file, the process of a server or a message for it.
type Step struct {
	Call      protocol.CallID // that opened it
	Principal auth.Principal  // who goes on, with the rights of now
	// Node, Tool and Args are what runs there. An empty Node or Tool is that of the call. Without
	// Args the call, which only reads, runs once more with its own.
	Node protocol.NodeID
	Tool string
	Args json.RawMessage
	// IsStart makes the step the execution of a call that [Pipeline.Authorize] has allowed, with
	// arguments that the journal must not store. It has no time limit.
	IsStart bool
	Network bool // a start gives its command the network
	// OnProgress gets the reports of the step. It must not block; it may be nil.
	OnProgress func(protocol.ToolProgress)
}

// Continue runs a step after an allowed call, and adds what passed to the call's journal entry. It
// judges the call by the rules, permissions and scopes of now: a step of what they deny fails with
// permission_denied (*protocol.Fault), and so does one that needs an answer which no person gave.
// Calls of somebody else do not exist ([ErrNoCall]). The other errors are those of [Executor].
func (p *Pipeline) Continue(ctx context.Context, s Step) (json.RawMessage, error) {
	a, err := p.reopen(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(s.Args) == 0 {
		if err := a.lookAgain(ctx); err != nil {
			return nil, err
		}
	}
	if err := a.judgeAgain(ctx); err != nil {
		return nil, err
	}
	inv, err := s.invocation(a)
	if err != nil {
		return nil, err
	}
	progress := newProgressCount(p.Steps, s)
	defer progress.store()
	spec := a.subject.target.Spec
	spec.Name = inv.Tool
	at := p.Registry.at(cmp.Or(s.Node, a.subject.target.Node), spec)
	if !s.IsStart {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, at.TimeLimit(inv.Args, usualLimit(p.Config())), errTimeout)
		defer cancel()
	}
	raw, err := at.Execute(ctx, a.subject.call, inv, progress.add)
	if err == nil && !s.IsStart {
		recordStep(ctx, p.Steps, s.Call, stepOf(inv.Args, raw))
	}
	return raw, err
}

// ErrNoCall is the failure of a step after a call that does not exist for its caller.
var ErrNoCall = protocol.NewFault(protocol.FaultNotFound, "there is nothing to continue: the call that began it does not exist, did not run, or belongs to somebody else")

// reopen returns the call that a step continues, as it was recorded.
func (p *Pipeline) reopen(ctx context.Context, s Step) (*activeCall, error) {
	r, err := p.Journal.Find(ctx, s.Call)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		return nil, err
	}
	i := r.Info
	if err != nil || !isBy(r, s.Principal) || i.State == protocol.CallWaiting || i.State == protocol.CallDenied {
		return nil, ErrNoCall
	}
	c := Call{
		ID: i.CallID, Tool: protocol.NewToolName(i.Node, i.Tool), Args: i.Args, Principal: s.Principal, AskedBy: r.AskedBy, Session: i.SessionKey, Run: i.RunID, Direct: i.Direct,
	}
	t, err := p.Registry.Lookup(c.Tool)
	if err = authorize(c, t, err); errors.Is(err, protocol.ErrNotFound) {
		return nil, ErrNoCall
	} else if err != nil {
		return nil, err
	}
	hasFile := func(f FileAccess) bool { return f.Node == s.Node }
	if s.Node != "" && s.Node != i.Node && !slices.ContainsFunc(t.Resources(c).Files, hasFile) {
		return nil, ErrNoCall
	}
	a := p.newCall(c, r)
	a.subject.target, a.subject.preview = t, i.Preview
	a.subject.setEffect()
	a.permit.isAnswered, a.permit.isEdited = i.ApprovalID != "", i.Edited
	return a, nil
}

// isBy reports whether a principal is the caller of a recorded call. All of the owner's windows and
// tokens are one caller.
func isBy(r Record, p auth.Principal) bool {
	if r.App != "" || p.App != "" {
		return r.App == p.App
	}
	return r.Principal == p.String() || auth.IsOwner(r.Principal) && p.Kind == auth.KindOwner
}

// lookAgain finds out where a call leads now that runs once more. What the person has allowed must
// still be what it reads.
func (a *activeCall) lookAgain(ctx context.Context) error {
	if a.subject.target.Spec.Effect != protocol.EffectRead {
		return protocol.NewFault(protocol.FaultInvalidArgs, "only a call that reads can run again")
	}
	old := a.subject.preview
	problem, fault, err := a.subject.inspect(ctx)
	switch now := a.subject.preview; {
	case err != nil:
		return err
	case problem != "":
		return cmp.Or(fault, protocol.NewFault(protocol.FaultInvalidArgs, problem))
	case old == nil || now == nil || old.Path != now.Path || old.Secret != now.Secret || !slices.Equal(old.Folders, now.Folders):
		a.permit.isAnswered = false // the answer was about another place
	}
	return nil
}

// judgeAgain refuses a step of a call that the rules of now deny, or about which they want an answer
// that no person gave.
func (a *activeCall) judgeAgain(ctx context.Context) error {
	err := a.updateJudgement(a.judge.evaluate(ctx, a.subject))
	switch d := a.judgement.Decision; {
	case err != nil:
		return err
	case d.Verdict == policy.Allow, d.Verdict == policy.Ask && (a.permit.isAnswered || a.entry.record.Continued.IsApproved()):
		return nil
	case d.Verdict == policy.Deny:
		return protocol.NewFault(protocol.FaultPermissionDenied, denialText(d))
	default:
		text := fmt.Sprintf("What allowed this call of %s applies no longer (%s). Begin again.", a.subject.target.Spec.Name, strings.TrimSuffix(d.Reason, "."))
		return protocol.NewFault(protocol.FaultPermissionDenied, text)
	}
}

// invocation returns the message to the node for a step of a call.
func (s Step) invocation(a *activeCall) (inv protocol.ToolInvoke, err error) {
	c := a.subject.call
	if len(s.Args) == 0 {
		a.permit.version = a.judge.policy.Version()
		if a.permit.hash, err = a.subject.hash(a.permit.version); err != nil {
			return inv, err
		}
		inv, err = a.permit.invocation(a.subject, a.permit.version, a.entry.record.IdempotencyKey)
	} else {
		inv = protocol.ToolInvoke{
			Tool: cmp.Or(s.Tool, a.subject.target.Spec.Name), Args: s.Args, SessionKey: c.Session, RunID: c.Run, Direct: c.Direct, Network: s.IsStart && s.Network,
		}
		inv.Caller = callerOf(inv.Tool, s.Principal)
	}
	if inv.CallID = s.Call; !s.IsStart {
		inv.CallID = protocol.NewCallID()
	}
	return inv, err
}

// recordStep adds what passed in a step to the journal entry of its call.
func recordStep(ctx context.Context, steps Steps, id protocol.CallID, s step) {
	if s == (step{}) {
		return
	}
	if err := steps.Continue(context.WithoutCancel(ctx), id, s.addTo); err != nil {
		slog.Error("Cannot record a step of a call", "call", id, "err", err)
	}
}
