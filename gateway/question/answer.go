package question

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Answer answers a question, and carries out what the answer chose. If that fails or cannot be
// stored, the question stays pending. If another answer came first, the result holds it and Won is
// false. A hash that is not the question's fails with protocol.ErrConflict, and a kind of question
// that who has no scope for with protocol.ErrForbidden.
func (s *Queue) Answer(ctx context.Context, who auth.Principal, p protocol.QuestionAnswerParams) (res protocol.QuestionAnswerResult, err error) {
	defer s.open.lock(p.ID)()
	q, err := s.store.Get(ctx, p.ID)
	if err != nil {
		return res, err
	}
	if need := protocol.AnswerScope(q.Kind); !who.Has(need) {
		return res, protocol.ErrForbidden.With(fmt.Sprintf("this device may not answer this question, which needs the right %s", need))
	}
	if q.State != protocol.QuestionPending {
		return protocol.QuestionAnswerResult{Question: q}, nil
	}
	if p.Hash != q.Hash {
		return res, protocol.ErrConflict.With("The question has changed since it was shown. Check it again.")
	}
	if q.State, err = stateAfter(q.Kind, p.Decision); err != nil {
		return res, err
	}
	if err := s.apply(ctx, who, &q, p); err != nil {
		return res, err
	}
	q.Reason, q.AnsweredBy = p.Reason, who.String()
	end, won, err := s.close(ctx, who, q)
	if err != nil {
		return res, err
	}
	slog.Info("Question answered", "question", end.ID, "kind", end.Kind, "state", end.State, "by", end.AnsweredBy, "won", won)
	return protocol.QuestionAnswerResult{Won: won, Question: end}, nil
}

// stateAfter returns the state of a kind of question after a decision.
func stateAfter(kind, decision string) (string, error) {
	switch {
	case decision == protocol.DecisionAllow:
		return protocol.QuestionAllowed, nil
	case decision == protocol.DecisionDeny:
		return protocol.QuestionDenied, nil
	case decision == protocol.DecisionDismiss && kind == protocol.AskInput:
		return protocol.QuestionCancelled, nil
	case decision == protocol.DecisionDismiss:
		return "", protocol.ErrBadRequest.With("this question is allowed or denied; to decide later, postpone it")
	}
	return "", protocol.ErrBadRequest.With(fmt.Sprintf("decision must be allow, deny or dismiss, not %q", decision))
}

// apply carries out an answer, as the question's kind does.
func (s *Queue) apply(ctx context.Context, who auth.Principal, q *protocol.Question, p protocol.QuestionAnswerParams) error {
	if q.IsOfCall() {
		return answerCall(who, q, p)
	}
	a := s.open.find(q.ID)
	if a == nil || a.Apply == nil {
		return protocol.ErrNotFound.With("Nobody waits for this answer any longer: who asked has gone since")
	}
	return a.Apply(ctx, who, q, p)
}

// AuditLine returns the line of the audit log about the answer to a question other than those about
// calls, whose line the journal writes when the call has ended. kind is one of protocol.AuditDevice
// and so on, and what says what the answer did.
func AuditLine(who auth.Principal, q protocol.Question, kind, what string) protocol.AuditEntry {
	return protocol.AuditEntry{
		At: time.Now().UnixMilli(), Kind: kind, By: who.String(), AskedBy: &q.AskedBy, Node: q.Node, SessionKey: q.SessionKey, RunID: q.RunID, CallID: q.CallID,
		What: what, Verdict: verdicts[q.State], Approval: q.ID,
	}
}

// verdicts are the verdicts of the audit log for the states after an answer.
var verdicts = map[string]string{
	protocol.QuestionAllowed: "allowed", protocol.QuestionDenied: "denied", protocol.QuestionCancelled: "dismissed",
}

// close closes a question with the person's answer.
func (s *Queue) close(ctx context.Context, who auth.Principal, q protocol.Question) (end protocol.Question, won bool, err error) {
	if q.State == protocol.QuestionAllowed && (savesRules(q.Scope) || q.Scope == protocol.ScopeSession) {
		err = s.rules.SaveOffers(q.AnsweredBy, q, func(c store.RuleChange) (bool, error) {
			end, won, err = s.resolve(ctx, q, c)
			return won, err
		})
		return end, won, err
	}
	if line, ok := answerLine(who, q); ok {
		return s.resolve(ctx, q, store.RuleChange{Audit: []protocol.AuditEntry{line}})
	}
	return s.resolve(ctx, q)
}

// answerLine returns the line of the audit log that is stored together with an answer, for the kinds
// of which nothing else stores one.
func answerLine(who auth.Principal, q protocol.Question) (line protocol.AuditEntry, ok bool) {
	switch q.Kind {
	case protocol.AskContinue:
		return AuditLine(who, q, protocol.AuditRun, format.Line(q.Why, 200)), true
	case protocol.AskSender:
		return AuditLine(who, q, protocol.AuditSender, q.Sender.Channel+":"+q.Sender.SenderID), true
	case protocol.AskVisit:
		return AuditLine(who, q, protocol.AuditService, visitAnswer(q)), true
	}
	return line, false
}

// visitAnswer says what the answer to a request for access did.
func visitAnswer(q protocol.Question) string {
	v := q.Visit
	switch {
	case q.State == protocol.QuestionDenied:
		return fmt.Sprintf("refused access to %s to %s", v.Title, v.Email)
	case v.For == protocol.VisitAlways:
		return fmt.Sprintf("allowed %s to visit %s always", v.Email, v.Title)
	}
	return fmt.Sprintf("allowed the browser of %s to visit %s for one %s", v.Email, v.Title, v.For)
}

// AnswerAll gives several questions the same answer, each as [Queue.Answer] does. One that is
// closed, unknown or has another hash does not affect the others. A scope that saves rules saves
// them with the first question that this answer wins; the others are allowed once.
func (s *Queue) AnswerAll(ctx context.Context, who auth.Principal, p protocol.QuestionAnswerAllParams) (protocol.QuestionAnswerAllResult, error) {
	var res protocol.QuestionAnswerAllResult
	if n := len(p.Questions); n == 0 || n > protocol.MaxAnswers {
		return res, protocol.ErrBadRequest.With(fmt.Sprintf("between 1 and %d questions can be answered at once, not %d", protocol.MaxAnswers, n))
	}
	answer := protocol.QuestionAnswerParams{Decision: p.Decision, Scope: p.Scope, Reason: p.Reason, Offers: p.Offers, Args: p.Args, Access: p.Access, Until: p.Until}
	for _, q := range p.Questions {
		answer.ID, answer.Hash = q.ID, q.Hash
		out := protocol.QuestionOutcome{ID: q.ID}
		r, err := s.Answer(ctx, who, answer)
		if err != nil {
			out.Error = protocol.AsError(err)
		} else {
			out.Won, out.Question = r.Won, &r.Question
		}
		res.Outcomes = append(res.Outcomes, out)
		if r.Won && savesRules(answer.Scope) {
			answer.Scope, answer.Offers, answer.Until = protocol.ScopeOnce, nil, 0
		}
	}
	return res, nil
}
