package session

import (
	"context"
	"fmt"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// maxMessage limits a message, in bytes. No model can read more, and every page of the chat that a
// window requests has to hold it.
const maxMessage = 8 << 20

// Send accepts a message. When it returns without error, the message is stored or was a command.
func (m *Manager) Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	in.SessionKey = m.Canonical(in.SessionKey)
	if strings.TrimSpace(in.Message) == "" && len(in.Attachments) == 0 {
		return protocol.ChatSendResult{}, protocol.ErrBadRequest.With("sessionKey and message required")
	}
	if len(in.Message) > maxMessage {
		return protocol.ChatSendResult{}, protocol.ErrTooLarge.With(fmt.Sprintf("the message has %.1f MiB, at most %d are possible; put it into a file and name that",
			float64(len(in.Message))/(1<<20), maxMessage>>20))
	}
	if in.RunID == "" {
		in.RunID = protocol.RunID(protocol.NewID())
	} else {
		release, err := m.claim(ctx, in.RunID)
		if err != nil {
			return protocol.ChatSendResult{}, err
		}
		defer release()
	}
	if p.Kind == auth.KindOwner {
		if command, ok := strings.CutPrefix(strings.TrimSpace(in.Message), "!"); ok && strings.TrimSpace(command) != "" {
			if !p.Has(protocol.ScopeInvoke) {
				return protocol.ChatSendResult{}, protocol.ErrForbidden.With("this device may not run commands; write to the agent instead")
			}
			return m.direct(ctx, p, in, strings.TrimSpace(command))
		}
		if res, ok := m.Command(ctx, p, in.SessionKey, in.Message, len(in.Attachments) > 0); ok {
			return res, nil
		}
		if res, ok, err := m.answerQuestion(ctx, p, in); ok || err != nil {
			return res, err
		}
		if in.Remind {
			if res, ok, err := m.remind(ctx, in.SessionKey); ok || err != nil {
				return res, err
			}
		}
	}
	k := &keeper{m: m}
	defer k.release()
	images, err := k.attachments(ctx, in.Attachments)
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	in.Attachments = nil
	run := store.Run{ID: in.RunID, Session: in.SessionKey, Params: in, Images: images, Principal: p.String(), CreatedAt: m.now()}
	_, d := settingsOf(run)
	var queued bool
	if doErr := m.do(context.WithoutCancel(ctx), in.SessionKey, func(s *session) { queued, err = s.accept(run) }); doErr != nil {
		return protocol.ChatSendResult{}, doErr
	}
	if err != nil {
		return protocol.ChatSendResult{}, m.stored(err)
	}
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: run.ID, Queued: queued, Directives: m.told(ctx, in.SessionKey, d)}, nil
}

// claim reserves a run ID for one message until release. Processing an attachment such as a
// recording takes time, and the sender may retry meanwhile. It returns protocol.ErrConflict for an
// ID that another message uses.
func (m *Manager) claim(ctx context.Context, id protocol.RunID) (release func(), err error) {
	m.mu.Lock()
	taken := m.claimed[id]
	if !taken {
		m.claimed[id] = true
	}
	m.mu.Unlock()
	release = func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.claimed, id)
	}
	if !taken {
		if _, err := m.store.Runs.Get(ctx, id); err != nil {
			return release, nil // no such run; other errors show up when the run is stored
		}
		release()
	}
	return nil, protocol.ErrConflict.With(fmt.Sprintf("a run with the id %s exists already", id))
}

// answerQuestion treats a plain yes or no as the answer to the session's pending approval. The ID
// of the approval (approvalId in a result of chat.send) may follow.
func (m *Manager) answerQuestion(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (res protocol.ChatSendResult, ok bool, err error) {
	word, _, _ := strings.Cut(strings.TrimSpace(in.Message), " ")
	if _, _, isAnswer := decision(word); !isAnswer || len(in.Attachments) > 0 {
		return res, false, nil
	}
	pending, err := m.opts.Questions.Pending(ctx)
	if err != nil {
		return res, false, err
	}
	for _, a := range pending {
		text := strings.TrimSuffix(strings.TrimSpace(in.Message), " "+string(a.ID))
		allow, reason, isAnswer := decision(text)
		if a.SessionKey != in.SessionKey || !isAnswer {
			continue
		}
		if !p.Has(protocol.ScopeApprove) {
			return res, false, protocol.ErrForbidden.With("this device may not answer questions; answer on another one")
		}
		answer := protocol.ApprovalAnswerParams{ID: a.ID, Hash: a.Hash, Decision: protocol.DecisionDeny, Reason: reason}
		word := "denied"
		if allow {
			answer.Decision, answer.Scope, word = protocol.DecisionAllow, protocol.ScopeOnce, "approved"
		}
		end, err := m.opts.Questions.Answer(ctx, p.String(), answer)
		if err != nil {
			return res, false, err
		}
		if !end.Won {
			continue // it has been answered meanwhile; try the next approval
		}
		return protocol.ChatSendResult{
			Status: protocol.ChatPaused, RunID: a.RunID, ApprovalID: a.ID,
			Response: response(a, word),
		}, true, nil
	}
	return res, false, nil
}

func response(a protocol.Approval, word string) string {
	switch {
	case a.Kind != protocol.AskContinue:
		return fmt.Sprintf("The call was %s; the run goes on.", word)
	case word == "denied":
		return "The run ends."
	}
	return "The run goes on."
}

// Cancel stops the run in progress, or removes a message from the queue.
func (m *Manager) Cancel(ctx context.Context, in protocol.ChatCancelParams) (protocol.ChatCancelResult, error) {
	var res protocol.ChatCancelResult
	err := m.do(ctx, m.Canonical(in.SessionKey), func(s *session) { res = s.stop(in.RunID) })
	return res, err
}
