package approval

import (
	"context"
	"fmt"

	"fairlead/gateway/protocol"
)

// AnswerAll gives several approvals the same answer, each as [Manager.Answer] does. One that is
// closed, unknown or has another hash does not affect the others. A scope that saves rules saves
// them with the first approval that this answer wins; the others are allowed once.
func (m *Manager) AnswerAll(ctx context.Context, by string, p protocol.ApprovalAnswerAllParams) (protocol.ApprovalAnswerAllResult, error) {
	var res protocol.ApprovalAnswerAllResult
	if n := len(p.Questions); n == 0 || n > protocol.MaxAnswers {
		return res, protocol.ErrBadRequest.With(fmt.Sprintf("between 1 and %d questions can be answered at once, not %d", protocol.MaxAnswers, n))
	}
	answer := protocol.ApprovalAnswerParams{Decision: p.Decision, Scope: p.Scope, Reason: p.Reason, Offers: p.Offers, Args: p.Args, Access: p.Access, Until: p.Until}
	for _, q := range p.Questions {
		answer.ID, answer.Hash = q.ID, q.Hash
		out := protocol.ApprovalOutcome{ID: q.ID}
		r, err := m.Answer(ctx, by, answer)
		if err != nil {
			out.Error = protocol.AsError(err)
		} else {
			out.Won, out.Approval = r.Won, &r.Approval
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
