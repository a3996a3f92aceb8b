package approval

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Answer answers an approval on behalf of by, and saves the rules or the permission that the answer
// chose. If they cannot be saved, it fails and the approval stays pending. If another answer came
// first, the result holds it and Won is false. A hash that is not the approval's fails with
// protocol.ErrConflict.
func (m *Manager) Answer(ctx context.Context, by string, p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
	a, err := m.store.Get(ctx, p.ID)
	if err != nil {
		return protocol.QuestionAnswerResult{}, err
	}
	if a.State != protocol.QuestionPending {
		return protocol.QuestionAnswerResult{Question: a}, nil
	}
	if p.Hash != a.Hash {
		return protocol.QuestionAnswerResult{}, protocol.ErrConflict.With("The approval has changed since it was shown. Check it again.")
	}
	switch p.Decision {
	case protocol.DecisionAllow:
		if err := allow(&a, p); err != nil {
			return protocol.QuestionAnswerResult{}, err
		}
	case protocol.DecisionDeny:
		a.State = protocol.QuestionDenied
	default:
		return protocol.QuestionAnswerResult{}, protocol.ErrBadRequest.With(fmt.Sprintf("decision must be allow or deny, not %q", p.Decision))
	}
	a.Reason, a.AnsweredBy = p.Reason, by
	end, won, err := m.close(ctx, a)
	if err != nil {
		return protocol.QuestionAnswerResult{}, err
	}
	slog.Info("Approval answered", "approval", end.ID, "state", end.State, "by", end.AnsweredBy, "won", won)
	return protocol.QuestionAnswerResult{Won: won, Question: end}, nil
}

// close closes an approval with the person's answer.
func (m *Manager) close(ctx context.Context, a protocol.Question) (end protocol.Question, won bool, err error) {
	if a.State == protocol.QuestionAllowed && savesRules(a.Scope) {
		err = m.rules.grant(a.AnsweredBy, a, func(c store.RuleChange) (bool, error) {
			end, won, err = m.resolve(ctx, a, c)
			return won, err
		})
		return end, won, err
	}
	end, won, err = m.resolve(ctx, a)
	if won && a.Scope == protocol.ScopeSession {
		m.rules.changed()
	}
	return end, won, err
}

// allow fills in an answer that allows the call, after checking it.
func allow(a *protocol.Question, p protocol.QuestionAnswerParams) error {
	refuse := func(format string, args ...any) error {
		return protocol.ErrBadRequest.With(fmt.Sprintf(format, args...))
	}
	p.Scope = cmp.Or(p.Scope, protocol.ScopeOnce)
	if !slices.Contains(a.Choices, p.Scope) {
		return refuse("this approval cannot be allowed with scope %q", p.Scope)
	}
	for _, i := range p.Offers {
		if i < 0 || i >= len(a.Offers) {
			return refuse("this approval offers %d rules, so there is no rule %d", len(a.Offers), i)
		}
	}
	if p.Until != 0 && (!savesRules(p.Scope) || p.Until <= time.Now().UnixMilli()) {
		return refuse("an expiry needs a new rule and must be in the future")
	}
	for _, i := range p.Access {
		if i < 0 || a.Preview == nil || i >= len(a.Preview.Folders) {
			return refuse("this approval offers no folder %d", i)
		}
	}
	if len(p.Args) > 0 && (p.Scope != protocol.ScopeOnce || a.Kind != protocol.AskCall) {
		return refuse("an edited call can be allowed only once")
	}
	a.State, a.Scope, a.Chosen, a.Edited, a.Access, a.Until = protocol.QuestionAllowed, p.Scope, p.Offers, p.Args, p.Access, p.Until
	if len(p.Args) > 0 {
		a.State = protocol.QuestionEdited
	}
	return nil
}

// AnswerAll gives several approvals the same answer, each as [Manager.Answer] does. One that is
// closed, unknown or has another hash does not affect the others. A scope that saves rules saves
// them with the first approval that this answer wins; the others are allowed once.
func (m *Manager) AnswerAll(ctx context.Context, by string, p protocol.QuestionAnswerAllParams) (protocol.QuestionAnswerAllResult, error) {
	var res protocol.QuestionAnswerAllResult
	if n := len(p.Questions); n == 0 || n > protocol.MaxAnswers {
		return res, protocol.ErrBadRequest.With(fmt.Sprintf("between 1 and %d questions can be answered at once, not %d", protocol.MaxAnswers, n))
	}
	answer := protocol.QuestionAnswerParams{Decision: p.Decision, Scope: p.Scope, Reason: p.Reason, Offers: p.Offers, Args: p.Args, Access: p.Access, Until: p.Until}
	for _, q := range p.Questions {
		answer.ID, answer.Hash = q.ID, q.Hash
		out := protocol.QuestionOutcome{ID: q.ID}
		r, err := m.Answer(ctx, by, answer)
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

// savesRules reports whether an allow with this scope applies beyond its call and its chat.
func savesRules(scope string) bool {
	return scope == protocol.ScopeFolder || scope == protocol.ScopeMachine || scope == protocol.ScopeAlways
}
