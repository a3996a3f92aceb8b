package tool

import (
	"context"
	"errors"
	"log/slog"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// approve asks the person, if the policy requires it, and waits. If the rules change meanwhile and
// decide the call, that decision applies.
func (a *activeCall) approve(ctx context.Context) error {
	for a.record.Decision.Verdict == policy.Ask {
		answer, err := a.ask(ctx)
		if err != nil {
			return err // suspended, or a storage error: the record stays as it is
		}
		if answer.State != protocol.QuestionSuperseded {
			return a.applyAnswer(ctx, answer)
		}
		a.record.Info.ApprovalID, a.record.Hash = "", ""
		if err := a.decide(ctx); err != nil || a.ended {
			return err
		}
	}
	return nil
}

// ask asks one question and returns it when it is closed.
func (a *activeCall) ask(ctx context.Context) (answer protocol.Question, err error) {
	q, grant, err := a.newApproval()
	if err != nil {
		return answer, err
	}
	a.setPending(a.call.ID, &a.request)
	defer a.setPending(a.call.ID, nil)
	a.version = q.Policy
	if a.record.Hash, err = protocol.CallHash(protocol.AskCall, q.Node, q.Tool, q.Args, q.Preview, q.Policy); err != nil {
		return answer, err
	}
	answer, err = a.Approver.AskCall(ctx, q, Asking{
		App: a.call.Principal.App, Expires: a.Config().Approvals.Limit(a.call.AskedBy), Grant: grant,
		Store: func() error {
			a.record.Info.ApprovalID = q.ID
			err := a.storeRecord(ctx)
			if err == nil {
				a.publish(a.record.Info)
			}
			return err
		},
		Opened: func() { a.call.notify(q) },
	})
	if e, ok := errors.AsType[*protocol.Error](err); ok && errors.Is(err, protocol.ErrTooMany) { // the caller is a program
		a.record.Info.Fault = protocol.NewFault(protocol.FaultResourceExhausted, e.Message).With(e.Details)
		return answer, a.record.Info.Fault
	}
	if err == nil {
		a.call.notify(answer)
	}
	return answer, err
}

// setPending sets the request that [Pipeline.ReviewPending] decides again; nil for none.
func (p *Pipeline) setPending(id protocol.CallID, request *policy.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.open[id]; o != nil {
		o.request = request
	}
}

// newApproval builds the approval of the call. grant is the permission that the chat gets if the
// person allows it there; nil when that is not offered.
func (a *activeCall) newApproval() (q protocol.Question, grant *Grant, err error) {
	d, info := a.record.Decision, a.record.Info
	q = protocol.Question{
		ID: info.ApprovalID, Kind: protocol.KindOfCall(info.Tool, a.target.Spec.Server, info.Preview), State: protocol.QuestionPending, SessionKey: a.call.Session, RunID: a.call.Run, CallID: a.call.ID,
		Node: info.Node, Tool: info.Tool, Args: a.call.Args, Effect: info.Effect, Preview: info.Preview, AskedBy: a.call.AskedBy, Why: d.Reason,
		Choices: []string{protocol.ScopeOnce}, Parts: d.QuestionParts(), Floor: d.Floor, Files: d.Files(), Policy: a.Policy.Version(),
	}
	if q.ID == "" {
		q.ID = protocol.QuestionID(protocol.NewID())
	}
	a.target.Label(&q)
	if match, words, narrow := a.request.SessionMatch(); narrow && !d.Floor && a.request.Session != "" {
		grant = &Grant{Session: a.request.Session, Match: match}
		q.Choices, q.SessionRule = append(q.Choices, protocol.ScopeSession), words
	}
	return q, grant, a.Policy.Offer(&q, d)
}

// ReviewPending decides pending approvals again when rules, permissions or a chat's approval mode
// change: calls that are now allowed or denied need no answer any more. It blocks until ctx ends.
func (p *Pipeline) ReviewPending(ctx context.Context) {
	sub := p.Bus.SubscribeOnly(func(c protocol.Change) bool {
		switch c.Kind {
		case protocol.ChangeRules, protocol.ChangeConfig, protocol.ChangeSession:
			return true
		}
		return false
	})
	defer sub.Close()
	for c := range sub.All(ctx) {
		p.review(ctx, c)
	}
}

// review checks the approvals that a change can affect.
func (p *Pipeline) review(ctx context.Context, c protocol.Change) {
	pending := map[protocol.QuestionID]policy.Request{}
	p.mu.Lock()
	for _, o := range p.open {
		if o.request != nil && o.info != nil && (c.Kind != protocol.ChangeSession || c.Session != nil && o.request.Session == c.Session.SessionKey) {
			pending[o.info.ApprovalID] = *o.request
		}
	}
	p.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	err := p.Approver.Review(ctx, func(a protocol.Question) bool {
		r, ok := pending[a.ID]
		if !ok || addChat(ctx, p.Permissions, &r) != nil {
			return false // it still needs an approval
		}
		return p.Policy.Evaluate(r).Verdict != policy.Ask
	})
	if err != nil && ctx.Err() == nil {
		slog.Error("Cannot review pending approvals", "err", err)
	}
}
