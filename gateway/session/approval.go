package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
	"fairlead/gateway/question"
)

// maxQuestion is the greatest length of the arguments in a question over a channel, in characters.
const maxQuestion = 1000

// questionText is the chat's text about a pending approval.
func questionText(a protocol.Question) string {
	if a.Kind == protocol.AskContinue {
		return fmt.Sprintf("Paused: %s. Continue? Reply yes or no.", a.Why)
	}
	text := "Paused: " + display.QuestionTitle(a, "") + " on " + string(a.Node)
	if a.ServerTool != nil {
		text = "Paused: " + display.QuestionTitle(a, "")
	}
	for _, more := range []string{display.Subject(a), display.OtherArguments(a)} {
		if more != "" {
			text += "\n" + format.Clip(more, maxQuestion)
		}
	}
	return text + "\nReason: " + strings.TrimSuffix(a.Why, ".") + ". Reply yes or no."
}

// askWhy asks the person whether to continue a run that stopped for a reason.
func (r *run) askWhy(ctx context.Context, why string) (bool, error) {
	return r.askContinue(ctx, protocol.Question{
		Kind: protocol.AskContinue, SessionKey: r.row.Session, RunID: r.row.ID, AskedBy: askedBy(r.row.Principal, "", r.model.ref),
		Why: why, Choices: []string{protocol.ScopeOnce},
	})
}

// askContinueAgain asks again whether to continue, if an earlier start had that question pending;
// otherwise the answer is yes.
func (r *run) askContinueAgain(ctx context.Context) (bool, error) {
	pending, err := r.x.questions.Pending(ctx)
	if err != nil {
		return false, err
	}
	for _, q := range pending {
		if q.Kind == protocol.AskContinue && q.RunID == r.row.ID {
			return r.askContinue(ctx, q)
		}
	}
	return true, nil
}

func (r *run) askContinue(ctx context.Context, q protocol.Question) (bool, error) {
	limit := r.x.chats.settings.config().Approvals.Limit(q.AskedBy)
	// A client that is notified by OnAsk can answer the approval at once.
	end, err := r.x.questions.Ask(ctx, q, limit, func() { r.progress.OnAsk(q) })
	if err != nil {
		return false, err
	}
	if cause := context.Cause(ctx); cause != nil {
		return false, cause
	}
	return end.Allowed(), nil
}

// remindOfApproval answers a message with the pending approval of the chat's run (status paused,
// docs/protocol.md#chat). ok is false when none exists.
func remindOfApproval(ctx context.Context, qs *question.Queue, key protocol.SessionKey) (res protocol.ChatSendResult, ok bool, err error) {
	pending, err := qs.Pending(ctx)
	if err != nil {
		return res, false, err
	}
	for _, a := range pending {
		if a.SessionKey == key && a.RunID != "" {
			return protocol.ChatSendResult{
				Status: protocol.ChatPaused, RunID: a.RunID, ApprovalID: a.ID,
				Response: "Your message was not sent, because the run waits for your answer. " + questionText(a),
			}, true, nil
		}
	}
	return res, false, nil
}

// answerApproval treats a plain yes or no as the answer to the session's pending approval. The ID
// of the approval (approvalId in a result of chat.send) may follow.
func answerApproval(ctx context.Context, qs *question.Queue, p auth.Principal, in protocol.ChatSendParams) (res protocol.ChatSendResult, ok bool, err error) {
	if len(in.Attachments) > 0 {
		return res, false, nil
	}
	pending, err := qs.Pending(ctx)
	if err != nil {
		return res, false, err
	}
	for _, a := range pending {
		text := strings.TrimSuffix(strings.TrimSpace(in.Message), " "+string(a.ID))
		allow, reason, isAnswer := parseAnswer(text)
		if a.SessionKey != in.SessionKey || !isAnswer {
			continue
		}
		if !p.Has(protocol.ScopeApprove) {
			return res, false, protocol.ErrForbidden.With("this device may not answer approvals; answer on another one")
		}
		answer := protocol.QuestionAnswerParams{ID: a.ID, Hash: a.Hash, Decision: protocol.DecisionDeny, Reason: reason}
		if allow {
			answer.Decision, answer.Scope = protocol.DecisionAllow, protocol.ScopeOnce
		}
		end, err := qs.Answer(ctx, p, answer)
		if err != nil {
			return res, false, err
		}
		if !end.Won {
			continue // it has been answered meanwhile; try the next approval
		}
		return protocol.ChatSendResult{Status: protocol.ChatPaused, RunID: a.RunID, ApprovalID: a.ID, Response: answerText(a, allow)}, true, nil
	}
	return res, false, nil
}

func answerText(a protocol.Question, allow bool) string {
	switch {
	case a.Kind == protocol.AskContinue && allow:
		return "The run continues."
	case a.Kind == protocol.AskContinue:
		return "The run ends."
	case allow:
		return "The call was approved; the run continues."
	}
	return "The call was denied; the run continues."
}

// askedBy returns on whose behalf a run makes its calls: the chat's, or that of the schedule, the
// channel's sender or the other agent that started it.
func askedBy(principal, title string, model protocol.ModelRef) protocol.AskedBy {
	by := protocol.AskedBy{Kind: "chat", Name: title, Model: model.String()}
	kind, name, _ := strings.Cut(strings.TrimPrefix(principal, eventPrincipal), " ")
	if slices.Contains(othersThanPerson, kind) {
		by.Kind, by.Name = kind, name
	}
	return by
}

// principalOf is the inverse of [askedBy]: it returns a principal for everybody except the person.
func principalOf(by protocol.AskedBy) string {
	if slices.Contains(othersThanPerson, by.Kind) {
		return by.Kind + " " + by.Name
	}
	return ""
}

// othersThanPerson are the kinds of principals, and of AskedBy, that are not the person.
var othersThanPerson = []string{protocol.AskedBySchedule, protocol.AskedByChannel, protocol.AskedByAgent}
