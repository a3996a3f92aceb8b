package tool

import (
	"context"
	"fmt"
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

// ask requests one approval and returns it when it is closed.
func (a *activeCall) ask(ctx context.Context) (answer protocol.Question, err error) {
	q, grant, err := a.newApproval()
	if err != nil {
		return answer, err
	}
	if err := a.startPending(a.call, a.request); err != nil {
		return answer, err
	}
	defer func() {
		a.Pipeline.mu.Lock()
		defer a.Pipeline.mu.Unlock()
		if o := a.Pipeline.open[a.call.ID]; o != nil {
			o.request = nil
		}
	}()
	a.record.Info.ApprovalID, a.version = q.ID, q.Policy
	if a.record.Hash, err = protocol.CallHash(protocol.AskCall, q.Node, q.Tool, q.Args, q.Preview, q.Policy); err != nil {
		return answer, err
	}
	if err := a.storeRecord(ctx); err != nil {
		return answer, err
	}
	a.publish(a.record.Info)
	answer, err = a.Approver.AskWith(ctx, q, grant, a.Config().Approvals.Limit(a.call.AskedBy), func() { a.call.notify(q) })
	if err == nil {
		a.call.notify(answer)
	}
	return answer, err
}

// maxQuestions bounds the questions of an app that wait for the person at the same time.
const maxQuestions = 16

// startPending stores the request of the pending approval for [Pipeline.ReviewPending]. It refuses
// one more question of an app that has asked many already.
func (p *Pipeline) startPending(c Call, request policy.Request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	app := c.Principal.App
	if app != "" {
		count := 0
		for _, o := range p.open {
			if o.request != nil && o.app == app {
				count++
			}
		}
		if count >= maxQuestions {
			f := protocol.NewFault(protocol.FaultResourceExhausted, fmt.Sprintf("%d calls of this app wait for Fairlead's owner already, which is the limit", count))
			return f.With(map[string]int64{"retry_after_ms": 5000})
		}
	}
	if o := p.open[c.ID]; o != nil {
		o.request, o.app = &request, app
	}
	return nil
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
