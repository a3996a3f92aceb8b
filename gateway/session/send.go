package session

import (
	"context"
	"fmt"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// maxMessage limits a message, in bytes. Every page of the chat that a window requests has to hold
// it.
const maxMessage = 8 << 20

// Send accepts a message. When it returns without error, the message is stored or was a command.
func (m *Manager) Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	in.SessionKey = m.Canonical(in.SessionKey)
	if strings.TrimSpace(in.Message) == "" && len(in.Attachments) == 0 {
		return protocol.ChatSendResult{}, protocol.ErrBadRequest.With("sessionKey and message required")
	}
	if len(in.Message) > maxMessage {
		return protocol.ChatSendResult{}, protocol.ErrTooLarge.With(fmt.Sprintf("the message has %.1f MiB, more than %d; put it into a file and name that",
			float64(len(in.Message))/(1<<20), maxMessage>>20))
	}
	if in.RunID == "" {
		in.RunID = protocol.RunID(protocol.NewID())
	}
	// Processing an attachment such as a recording takes time, and the sender may retry meanwhile.
	if _, isBeingSent := m.sending.LoadOrStore(in.RunID, true); isBeingSent {
		return protocol.ChatSendResult{}, errRunExists(in.RunID)
	}
	defer m.sending.Delete(in.RunID)
	if err := m.checkNewRun(ctx, in.RunID); err != nil {
		return protocol.ChatSendResult{}, err
	}
	if p.Kind == auth.KindOwner {
		if res, ok, err := m.handleOwner(ctx, p, in); ok || err != nil {
			return res, err
		}
	}
	return m.sendToAgent(ctx, p, in)
}

// handleOwner handles what only the person can send: their own command after "!", a slash command,
// or the answer to an approval. ok is false if the message is for the agent.
func (m *Manager) handleOwner(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (res protocol.ChatSendResult, ok bool, err error) {
	if command, isDirect := strings.CutPrefix(strings.TrimSpace(in.Message), "!"); isDirect && strings.TrimSpace(command) != "" {
		if !p.Has(protocol.ScopeInvoke) {
			return res, false, protocol.ErrForbidden.With("this device may not run commands; write to the agent instead")
		}
		res, err = m.startDirect(ctx, p, in, strings.TrimSpace(command))
		return res, true, err
	}
	if res, ok := m.Command(ctx, p, in.SessionKey, in.Message, len(in.Attachments) > 0); ok {
		return res, true, nil
	}
	if res, ok, err := answerApproval(ctx, m.opts.Questions, p, in); ok || err != nil {
		return res, ok, err
	}
	if in.Remind {
		return remindOfApproval(ctx, m.opts.Questions, in.SessionKey)
	}
	return res, false, nil
}

// sendToAgent stores a message with its files and starts or queues a run for it.
func (m *Manager) sendToAgent(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	files := m.media.Upload()
	defer files.Close()
	// A sender who disconnects while a recording is transcribed will not send the message again.
	uploadCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	blocks, err := files.Attachments(uploadCtx, in.Attachments)
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	in.Attachments = nil
	row := store.Run{ID: in.RunID, Session: in.SessionKey, Params: in, Images: blocks, Principal: p.String(), CreatedAt: now()}
	_, d := splitDirectives(row)
	var queued bool
	if doErr := m.do(in.SessionKey, func(s *session) { queued, err = s.accept(row) }); doErr != nil {
		return protocol.ChatSendResult{}, doErr
	}
	if err != nil {
		return protocol.ChatSendResult{}, m.pause.onStoreError(err)
	}
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: row.ID, Queued: queued, Directives: m.withProvider(ctx, in.SessionKey, d)}, nil
}

// withProvider returns a message's settings with the provider of a model that was named without
// one.
func (m *Manager) withProvider(ctx context.Context, key protocol.SessionKey, d *protocol.Directives) *protocol.Directives {
	if d == nil || d.Model == nil || d.Model.Provider != "" {
		return d
	}
	s, err := m.peek(ctx, key)
	if err != nil {
		return d
	}
	out := *d
	ref, _ := m.settings.model(s, d)
	out.Model = &ref
	return &out
}
