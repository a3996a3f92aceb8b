package tool

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// approve asks the person, if the policy requires it, and waits. If the rules change meanwhile and
// decide the call, that decision applies.
func (a *activeCall) approve(ctx context.Context) error {
	if answer, ok := a.subject.call.Plan.answerTo(a.subject, a.judgement); ok && a.judgement.Verdict == policy.Ask {
		return a.applyPlan(ctx, answer)
	}
	for a.judgement.Verdict == policy.Ask {
		answer, err := a.ask(ctx)
		if err != nil {
			return err // suspended, or a storage error: the record stays as it is
		}
		if answer.State != protocol.QuestionSuperseded {
			return a.applyAnswer(ctx, answer)
		}
		a.permit, a.entry.record.Hash, a.entry.record.Info.ApprovalID = permit{}, "", ""
		if err := a.decide(ctx); err != nil || a.entry.ended {
			return err
		}
	}
	return nil
}

// applyPlan continues with the answer to the question about the call's batch.
func (a *activeCall) applyPlan(ctx context.Context, answer protocol.Question) (err error) {
	r := &a.entry.record
	if r.Hash, err = a.subject.hash(answer.Policy); err != nil {
		return err
	}
	r.Info.ApprovalID, answer.Hash = answer.ID, r.Hash // the answer is for this call, too
	a.permit.isAnswered, a.permit.hash, a.permit.version = true, r.Hash, answer.Policy
	return a.applyAnswer(ctx, answer)
}

// ask asks the person about the call, which waits in the journal meanwhile.
func (a *activeCall) ask(ctx context.Context) (answer protocol.Question, err error) {
	r := &a.entry.record
	q, err := a.asker.about(a.subject, a.judgement, r.Info.ApprovalID)
	if err != nil {
		return answer, err
	}
	if r.Hash, err = a.subject.hash(q.Policy); err != nil {
		return answer, err
	}
	a.permit.isAnswered, a.permit.hash, a.permit.version = true, r.Hash, q.Policy
	answer, err = a.asker.ask(ctx, a.subject.call, q, func() error {
		r.Info.ApprovalID = q.ID
		err := a.entry.store(ctx)
		if err == nil {
			a.entry.calls.publish(r.Info)
		}
		return err
	})
	if f, ok := errors.AsType[*protocol.Fault](err); ok {
		r.Info.Fault = f
	}
	return answer, err
}

// asker asks the person about calls.
type asker struct {
	approver Approver
	policy   Policy
	calls    *openCalls
	config   func() config.Config
}

// question is a question about a call, or about those of a batch.
type question struct {
	protocol.Question
	// grants are the permissions that the chat gets if the person allows it there; empty when that is
	// not offered.
	grants   []Grant
	requests []policy.Request // that were judged
}

// about returns the question about a call. It has the ID of the question of an earlier start, unless
// that is empty.
func (k asker) about(s subject, j judgement, id protocol.QuestionID) (q question, err error) {
	spec := s.target.Spec
	q.requests = []policy.Request{j.request}
	q.Question = protocol.Question{
		ID: id, Kind: protocol.KindOfCall(spec.Name, spec.Server, s.preview), State: protocol.QuestionPending, SessionKey: s.call.Session, RunID: s.call.Run, CallID: s.call.ID,
		Node: s.target.Node, Tool: spec.Name, Args: s.call.Args, Effect: spec.Effect, Preview: s.preview, AskedBy: s.call.AskedBy, Why: j.Reason,
		Choices: []string{protocol.ScopeOnce}, Parts: j.QuestionParts(), Floor: j.Floor, Files: j.Files(), Policy: k.policy.Version(),
	}
	if id == "" {
		q.ID = protocol.QuestionID(protocol.NewID())
	}
	s.target.Label(&q.Question)
	if match, words, narrow := j.request.SessionMatch(); narrow && !j.Floor && j.request.Session != "" {
		q.grants = []Grant{{j.request.Session, spec.Name, match, words}}
		q.Choices, q.SessionRule = append(q.Choices, protocol.ScopeSession), words
	}
	return q, k.policy.Offer(&q.Question, j.Decision)
}

// ask asks the person and waits until the question is closed. It is reviewed when the rules change.
// store stores the call with the ID of the question, before the question is stored.
func (k asker) ask(ctx context.Context, c Call, q question, store func() error) (answer protocol.Question, err error) {
	k.calls.wait(c.ID, &openQuestion{id: q.ID, requests: q.requests})
	defer k.calls.wait(c.ID, nil)
	answer, err = k.approver.AskCall(ctx, q.Question, Asking{
		App: c.Principal.App, Expires: k.limit(c), Grants: q.grants, Store: store, Opened: func() { c.notify(q.Question) },
	})
	if e, ok := errors.AsType[*protocol.Error](err); ok && errors.Is(err, protocol.ErrTooMany) { // the caller is a program
		return answer, protocol.NewFault(protocol.FaultResourceExhausted, e.Message).With(e.Details)
	}
	if err == nil {
		c.notify(answer)
	}
	return answer, err
}

// limit returns how long a question about a call waits.
func (k asker) limit(c Call) time.Duration { return k.config().Approvals.Limit(c.AskedBy) }

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

// review checks the questions that a change can affect.
func (p *Pipeline) review(ctx context.Context, c protocol.Change) {
	pending := p.calls.affectedQuestions(c)
	if len(pending) == 0 {
		return
	}
	err := p.Approver.Review(ctx, func(a protocol.Question) bool {
		requests, ok := pending[a.ID]
		for _, r := range requests {
			if addChat(ctx, p.Permissions, &r) != nil || p.Policy.Evaluate(r).Verdict == policy.Ask {
				return false // it still needs an approval
			}
		}
		return ok
	})
	if err != nil && ctx.Err() == nil {
		slog.Error("Cannot review pending approvals", "err", err)
	}
}
