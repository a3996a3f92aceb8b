package session

import (
	"context"
	"errors"
	"slices"

	"fairlead/gateway/protocol"
	"fairlead/gateway/session/summary"
)

// Append implements agent.Conversation.
func (r *run) Append(ctx context.Context, msgs ...protocol.Message) ([]protocol.Message, error) {
	files := r.x.media.Upload()
	defer files.Close()
	for i := range msgs {
		msgs[i].Content = files.Images(msgs[i].Content)
	}
	stored, err := r.x.messages.Append(ctx, r.row.Session, msgs...)
	if err != nil {
		return nil, r.x.pause.onStoreError(err)
	}
	r.progress.clearText()
	for _, msg := range stored {
		r.x.chats.publishMessage(r.row.Session, msg)
		if msg.Role == protocol.RoleAssistant && msg.Origin == protocol.OriginPerson && len(msg.Content.Calls()) > 0 && msg.Content.Text() != "" {
			r.progress.publishChat(protocol.ChatEvent{State: protocol.ChatPartial, Message: &msg})
		}
	}
	return stored, nil
}

// Hydrate implements agent.Conversation.
func (r *run) Hydrate(_ context.Context, msgs []protocol.Message) []protocol.Message {
	msgs = r.x.media.WithImages(msgs)
	if r.model.ref.Provider == builtIn {
		return msgs // the built-in operator uses only the text
	}
	return withTimes(msgs, r.x.chats.settings.zone())
}

// Shorten implements agent.Conversation.
func (r *run) Shorten(ctx context.Context, keep int64) ([]protocol.Message, error) {
	x := r.x
	s, err := x.sessions.Get(ctx, r.row.Session)
	if err != nil {
		return nil, x.pause.onStoreError(err)
	}
	msgs, err := x.messages.List(ctx, s.Key, 0, 0)
	if err != nil {
		return nil, x.pause.onStoreError(err)
	}
	at := cutForTokens(msgs, keep)
	if at == 0 {
		return nil, nil
	}
	r.progress.State(protocol.RunThinking, "Summarizing the chat so far to make room")
	model := r.model
	if model.ref.Provider == builtIn {
		model = nil
	}
	_, notice, err := x.history.compact(ctx, s, model, msgs, at, "")
	if errors.Is(err, protocol.ErrConflict) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return summary.View(append(slices.Clone(msgs[at:]), notice), notice.Compaction.Through), nil
}
