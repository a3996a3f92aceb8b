package tool

import (
	"context"

	"fairlead/gateway/approval"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// approve asks the person, if the policy requires it, and waits. If the rules change meanwhile and
// decide the call, that decision applies.
func (a *activeCall) approve(ctx context.Context) error {
	for a.record.Decision.Verdict == policy.Ask {
		answer, grant, err := a.ask(ctx)
		if err != nil {
			return err // suspended, or a storage error: the record stays as it is
		}
		if answer.State != protocol.ApprovalSuperseded {
			return a.applyAnswer(ctx, answer, grant)
		}
		a.record.Info.ApprovalID, a.record.Hash = "", ""
		if err := a.decide(ctx); err != nil || a.ended {
			return err
		}
	}
	return nil
}

// ask requests one approval and returns it when it is closed. grant is the permission that the chat
// gets if the person allows it there; nil when that is not offered.
func (a *activeCall) ask(ctx context.Context) (answer protocol.Approval, grant *store.Grant, err error) {
	q, grant, err := a.newApproval()
	if err != nil {
		return answer, nil, err
	}
	a.record.Info.ApprovalID, a.version = q.ID, q.Policy
	if a.record.Hash, err = approval.Hash(q); err != nil {
		return answer, nil, err
	}
	if err := a.storeRecord(ctx); err != nil {
		return answer, nil, err
	}
	a.publish(a.record.Info)
	request := a.request
	a.setPending(&request)
	defer a.setPending(nil)
	answer, err = a.Approver.Ask(ctx, q, approval.Limit(a.Config().Approvals, a.call.AskedBy), func() { a.notify(q) })
	if err == nil {
		a.notify(answer)
	}
	return answer, grant, err
}

func (a *activeCall) notify(q protocol.Approval) {
	if a.call.OnApproval != nil {
		a.call.OnApproval(q)
	}
}

// setPending stores the request that a pending approval was decided on, for
// [Pipeline.ReviewPending].
func (a *activeCall) setPending(r *policy.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o := a.open[a.call.ID]; o != nil {
		o.request = r
	}
}

// newApproval builds the approval of the call.
func (a *activeCall) newApproval() (q protocol.Approval, grant *store.Grant, err error) {
	d, info := a.record.Decision, a.record.Info
	q = protocol.Approval{
		ID: info.ApprovalID, Kind: protocol.AskCall, State: protocol.ApprovalPending, SessionKey: a.call.Session, RunID: a.call.Run, CallID: a.call.ID,
		Node: info.Node, Tool: info.Tool, Args: a.call.Args, Effect: info.Effect, Preview: info.Preview, AskedBy: a.call.AskedBy, Why: d.Reason,
		Choices: []string{protocol.ScopeOnce}, Parts: d.ApprovalParts(), Floor: d.Floor, Files: d.Files(), Policy: a.Policy.Version(),
	}
	if q.ID == "" {
		q.ID = protocol.ApprovalID(protocol.NewID())
	}
	if node, ok := a.Registry.Node(q.Node); ok && node.Host != nil {
		q.Host, q.Sandbox = node.Host, node.Host.Sandbox
	}
	if q.Sandbox == "" && q.Effect != protocol.EffectRead && q.Node != protocol.NativePrefix {
		q.Sandbox = protocol.NotEnforced
	}
	if match, words, narrow := a.request.SessionMatch(); narrow && !d.Floor && a.call.Session != "" {
		grant = &store.Grant{ID: protocol.NewID(), Session: a.call.Session, Node: q.Node, Tool: q.Tool, Match: match, Words: words, From: q.ID}
		q.Choices, q.SessionRule = append(q.Choices, protocol.ScopeSession), words
	}
	return q, grant, a.Policy.Offer(&q, d)
}
