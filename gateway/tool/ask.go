package tool

import (
	"context"

	"fairlead/gateway/approval"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// ask requests an approval and waits. done means that the call ends here, with res. If the rules
// change meanwhile and decide the call, that decision applies.
func (t *task) ask(ctx context.Context, d policy.Decision, r policy.Request) (res Result, done bool, err error) {
	for {
		end, res, done, err := t.question(ctx, d, r)
		if done || err != nil || end.State != protocol.ApprovalSuperseded {
			return res, done, err
		}
		t.row.Info.ApprovalID, t.row.Hash = "", ""
		if d, r, err = t.decide(ctx); err != nil {
			return Result{}, true, err
		}
		t.credit(d)
		switch d.Verdict {
		case policy.Allow:
			return Result{}, false, nil
		case policy.Deny:
			res, err := t.refused(ctx, d)
			return res, true, err
		}
	}
}

// question requests one approval. It returns the closed approval, unless the call ended with it.
func (t *task) question(ctx context.Context, d policy.Decision, r policy.Request) (end protocol.Approval, res Result, done bool, err error) {
	q, grant, err := t.compose(d, r)
	if err != nil {
		return end, res, true, err
	}
	t.row.Info.ApprovalID, t.policy = q.ID, q.Policy
	if t.row.Hash, err = approval.Hash(q); err != nil {
		return end, res, true, err
	}
	if err := t.put(ctx); err != nil {
		return end, res, true, err
	}
	t.show(t.row.Info)
	limit := approval.Limit(t.config().Approvals, t.call.AskedBy)
	t.asking(&r)
	end, err = t.gate.Ask(ctx, q, limit, func() { t.told(q) })
	t.asking(nil)
	if err != nil {
		return end, res, true, err // suspended, or a storage error: the row stays as it is
	}
	if t.call.OnAsk != nil {
		t.call.OnAsk(end)
	}
	if end.State != protocol.ApprovalSuperseded {
		res, done, err = t.answered(ctx, end, grant, limit)
	}
	return end, res, done, err
}

// told reports that there is an approval, which can be answered from now on.
func (t *task) told(q protocol.Approval) {
	if t.call.OnAsk != nil {
		t.call.OnAsk(q)
	}
	if t.call.OnPut != nil {
		t.call.OnPut()
	}
}

// compose builds the approval of the call. grant is the permission that the chat gets if the person
// allows it there; nil when that is not offered.
func (t *task) compose(d policy.Decision, r policy.Request) (q protocol.Approval, grant *store.Grant, err error) {
	q = protocol.Approval{
		ID: t.row.Info.ApprovalID, Kind: protocol.AskCall, SessionKey: t.call.Session, RunID: t.call.Run, CallID: t.call.ID, Node: t.row.Info.Node,
		Tool: t.spec.Name, Args: t.call.Args, Effect: t.spec.Effect, Preview: t.row.Info.Preview, AskedBy: t.call.AskedBy, Why: d.Reason,
		Choices: []string{protocol.ScopeOnce}, Parts: d.ApprovalParts(), Floor: d.Floor, Files: d.Files(), Policy: t.rules.Version(),
	}
	if q.ID == "" {
		q.ID = protocol.ApprovalID(protocol.NewID())
	}
	if info, ok := t.nodes.Node(q.Node); ok && info.Host != nil {
		q.Host = info.Host
		q.Sandbox = info.Host.Sandbox
	}
	if q.Sandbox == "" && q.Effect != protocol.EffectRead && q.Node != protocol.NativePrefix {
		q.Sandbox = protocol.NotEnforced
	}
	if q.Offers, err = t.rules.OffersOf(d); err != nil {
		return q, nil, err
	}
	if match, words, narrow := r.SessionMatch(); narrow && !d.Floor && t.call.Session != "" {
		grant = &store.Grant{ID: protocol.NewID(), Session: t.call.Session, Node: q.Node, Tool: q.Tool, Match: match, Words: words, From: q.ID}
		q.Choices = append(q.Choices, protocol.ScopeSession)
		q.SessionRule = words
	}
	if len(q.Offers) == 0 {
		return q, grant, nil
	}
	if folderKnown(q) {
		q.Choices = append(q.Choices, protocol.ScopeFolder)
	}
	q.Choices = append(q.Choices, protocol.ScopeMachine, protocol.ScopeAlways)
	return q, grant, t.rules.FillOffers(&q)
}

// asking stores the request that a pending approval was decided on, for Watch.
func (t *task) asking(r *policy.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if open := t.open[t.call.ID]; open != nil {
		open.asks = r
	}
}

func folderKnown(q protocol.Approval) bool {
	return q.Preview != nil && q.Preview.Folder != "" || q.Host != nil && q.Host.Workspace != ""
}
