package session

import (
	"context"
	"fmt"

	"fairlead/gateway/approval"
	"fairlead/gateway/protocol"
)

// OnAsk implements agent.Sink.
func (l *live) OnAsk(a protocol.Approval) {
	if a.State != "" && a.State != protocol.ApprovalPending {
		l.State(protocol.RunTools, "")
		return
	}
	l.State(protocol.RunWaiting, "")
	l.chat(protocol.ChatEvent{State: protocol.ChatWaiting, Message: &protocol.Message{
		Role:    protocol.RoleAssistant,
		Content: protocol.Content{protocol.Text(waits(a))}, Timestamp: l.m.now(),
	}})
}

// waits returns the chat's text about a pending approval.
func waits(a protocol.Approval) string {
	if a.Kind == protocol.AskContinue {
		return fmt.Sprintf("Paused: %s. Go on? Reply yes or no.", a.Why)
	}
	return fmt.Sprintf("Paused: %s on %s wants to run with %.400s. Why it is asked: %s. Reply yes or no.", a.Tool, a.Node, a.Args, a.Why)
}

// remind answers a message with the pending approval of the chat's run (status paused,
// docs/protocol.md#chat). ok is false when there is none.
func (m *Manager) remind(ctx context.Context, key protocol.SessionKey) (res protocol.ChatSendResult, ok bool, err error) {
	pending, err := m.opts.Questions.Pending(ctx)
	if err != nil {
		return res, false, err
	}
	for _, a := range pending {
		if a.SessionKey == key && a.RunID != "" {
			return protocol.ChatSendResult{
				Status: protocol.ChatPaused, RunID: a.RunID, ApprovalID: a.ID,
				Response: "Your message was not passed on, because the run waits for your answer. " + waits(a),
			}, true, nil
		}
	}
	return res, false, nil
}

// AskContinue implements agent.Sink.
func (l *live) AskContinue(ctx context.Context, steps int) (bool, error) {
	q := protocol.Approval{
		Kind: protocol.AskContinue, SessionKey: l.run.Session, RunID: l.run.ID, AskedBy: askedBy(l.run.Principal, "", l.snapshot().Model),
		Why: "the agent has taken " + protocol.Plural(steps, "step") + " without coming to an end", Choices: []string{protocol.ScopeOnce},
	}
	return l.putContinue(ctx, q)
}

// askAgain asks again whether to continue, if an earlier start had that question pending. Without a
// pending question the answer is yes.
func (l *live) askAgain(ctx context.Context) (bool, error) {
	pending, err := l.m.opts.Questions.Pending(ctx)
	if err != nil {
		return false, err
	}
	for _, q := range pending {
		if q.Kind == protocol.AskContinue && q.RunID == l.run.ID {
			return l.putContinue(ctx, q)
		}
	}
	return true, nil
}

func (l *live) putContinue(ctx context.Context, q protocol.Approval) (bool, error) {
	limit := approval.Limit(l.m.opts.Config().Approvals, q.AskedBy)
	// A client that is notified by OnAsk can answer the approval at once.
	end, err := l.m.opts.Questions.Ask(ctx, q, limit, func() { l.OnAsk(q) })
	if err != nil {
		return false, err
	}
	if cause := context.Cause(ctx); cause != nil {
		return false, cause
	}
	return end.Allowed(), nil
}
