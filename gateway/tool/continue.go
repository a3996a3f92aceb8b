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
	x, err := p.reopen(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(s.Args) == 0 {
		if err := x.look(ctx); err != nil {
			return nil, err
		}
	}
	if err := x.judge(ctx); err != nil {
		return nil, err
	}
	inv, err := x.invocation()
	if err != nil {
		return nil, err
	}
	progress := p.countProgress(s)
	defer progress.store()
	spec := x.call.target.Spec
	spec.Name = inv.Tool
	at := p.Registry.at(cmp.Or(s.Node, x.call.target.Node), spec)
	if !s.IsStart {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, at.TimeLimit(inv.Args, usualLimit(p.Config())), errTimeout)
		defer cancel()
	}
	raw, err := at.Execute(ctx, x.call.call, inv, progress.add)
	if err == nil && !s.IsStart {
		p.recordStep(ctx, s.Call, passed(inv.Args, raw))
	}
	return raw, err
}

// ErrNoCall is the failure of a step after a call that does not exist for its caller.
var ErrNoCall = protocol.NewFault(protocol.FaultNotFound, "there is nothing to continue: the call that began it does not exist, did not run, or belongs to somebody else")

// activeStep is a step on its way, with the call that it continues.
type activeStep struct {
	Step
	call *activeCall
}

// reopen returns a step with the call that it continues, as it was recorded.
func (p *Pipeline) reopen(ctx context.Context, s Step) (*activeStep, error) {
	r, err := p.Journal.Find(ctx, s.Call)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		return nil, err
	}
	i := r.Info
	if err != nil || !isBy(r, s.Principal) || i.State == protocol.CallWaiting || i.State == protocol.CallDenied {
		return nil, ErrNoCall
	}
	a := &activeCall{Pipeline: p, record: r, again: true, call: Call{
		ID: i.CallID, Tool: protocol.NewToolName(i.Node, i.Tool), Args: i.Args, Principal: s.Principal, AskedBy: r.AskedBy, Session: i.SessionKey, Run: i.RunID, Direct: i.Direct,
	}}
	a.target, err = p.Registry.Lookup(a.call.Tool)
	if err = authorize(a.call, a.target, err); errors.Is(err, protocol.ErrNotFound) {
		return nil, ErrNoCall
	} else if err != nil {
		return nil, err
	}
	if a.target.Spec.EffectOf != nil {
		a.target.Spec.Effect = a.target.Spec.EffectOf(i.Args)
	}
	hasFile := func(f FileAccess) bool { return f.Node == s.Node }
	if s.Node != "" && s.Node != i.Node && !slices.ContainsFunc(a.target.Resources(a.call).Files, hasFile) {
		return nil, ErrNoCall
	}
	return &activeStep{s, a}, nil
}

// isBy reports whether a principal is the caller of a recorded call. All of the owner's windows and
// tokens are one caller.
func isBy(r Record, p auth.Principal) bool {
	if r.App != "" || p.App != "" {
		return r.App == p.App
	}
	return r.Principal == p.String() || auth.IsOwner(r.Principal) && p.Kind == auth.KindOwner
}

// look finds out where a call leads now that runs once more. What the person has allowed must still
// be what it reads.
func (x *activeStep) look(ctx context.Context) error {
	a := x.call
	if a.target.Spec.Effect != protocol.EffectRead {
		return protocol.NewFault(protocol.FaultInvalidArgs, "only a call that reads can run again")
	}
	old := a.record.Info.Preview
	problem, err := a.updatePreview(ctx)
	switch now := a.record.Info.Preview; {
	case err != nil:
		return err
	case problem != "":
		return cmp.Or(a.record.Info.Fault, protocol.NewFault(protocol.FaultInvalidArgs, problem))
	case old == nil || now == nil || old.Path != now.Path || old.Secret != now.Secret || !slices.Equal(old.Folders, now.Folders):
		a.record.Info.ApprovalID = "" // the answer was about another place
	}
	return nil
}

// judge refuses a step of a call that the rules of now deny, or about which they want an answer
// that no person gave.
func (x *activeStep) judge(ctx context.Context) error {
	r := &x.call.record
	d, err := x.call.decision(ctx)
	switch {
	case err != nil:
		return err
	case d.Verdict == policy.Allow, d.Verdict == policy.Ask && (r.Info.ApprovalID != "" || r.Continued.IsApproved() || r.collects()):
		return nil
	case d.Verdict == policy.Deny:
		return protocol.NewFault(protocol.FaultPermissionDenied, denialText(d))
	}
	return protocol.NewFault(protocol.FaultPermissionDenied, fmt.Sprintf("What allowed this call of %s applies no longer (%s). Begin again.", r.Info.Tool, strings.TrimSuffix(d.Reason, ".")))
}

// invocation returns the message to the node.
func (x *activeStep) invocation() (inv protocol.ToolInvoke, err error) {
	a := x.call
	if len(x.Args) == 0 {
		a.version = a.Policy.Version()
		i := a.record.Info
		if a.record.Hash, err = protocol.CallHash(protocol.AskCall, a.target.Node, i.Tool, a.call.Args, i.Preview, a.version); err != nil {
			return inv, err
		}
		inv, err = a.invocation()
	} else {
		inv = protocol.ToolInvoke{
			Tool: cmp.Or(x.Tool, a.record.Info.Tool), Args: x.Args, SessionKey: a.call.Session, RunID: a.call.Run, Direct: a.call.Direct, Network: x.IsStart && x.Network,
		}
		if by := x.Principal; by.App != "" || protocol.ForPrograms(inv.Tool) {
			inv.Caller = &protocol.ToolCaller{ID: by.Caller(), Name: by.Name}
		}
	}
	if inv.CallID = x.Call; !x.IsStart {
		inv.CallID = protocol.NewCallID()
	}
	return inv, err
}

// recordStep adds what passed in a step to the journal entry of its call.
func (p *Pipeline) recordStep(ctx context.Context, id protocol.CallID, s step) {
	if s == (step{}) {
		return
	}
	if err := p.Steps.Continue(context.WithoutCancel(ctx), id, s.addTo); err != nil {
		slog.Error("Cannot record a step of a call", "call", id, "err", err)
	}
}
