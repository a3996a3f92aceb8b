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
	r.update(r.clearText)
	for _, msg := range stored {
		r.x.chats.publishMessage(r.row.Session, msg)
		if msg.Role == protocol.RoleAssistant && msg.Origin == protocol.OriginPerson && len(msg.Content.Calls()) > 0 && msg.Content.Text() != "" {
			r.publishChat(protocol.ChatEvent{State: protocol.ChatPartial, Message: &msg})
		}
	}
	return stored, nil
}

// Step implements agent.Progress.
func (r *run) Step(step int) {
	r.update(func() {
		r.info.Step = step
		r.clearText()
	})
}

// clearText discards the streamed text. The caller must hold the lock.
func (r *run) clearText() {
	r.info.Text, r.info.Thinking = "", ""
	r.text.Reset()
	r.thinking.Reset()
}

// Delta implements agent.Progress.
func (r *run) Delta(thinking bool, text string) {
	if text == "" {
		return
	}
	separator := ""
	r.mu.Lock()
	d := protocol.Delta{RunID: r.row.ID, Step: r.info.Step, Thinking: thinking, Text: text}
	if thinking {
		d.Offset = r.thinking.Len()
		r.thinking.WriteString(text)
		r.info.Thinking = r.thinking.String()
	} else {
		if r.lastTextStep != 0 && r.lastTextStep != d.Step {
			separator = "\n\n" // chat events carry no step; clients concatenate their texts
		}
		r.lastTextStep = d.Step
		d.Offset = r.text.Len()
		r.text.WriteString(text)
		r.info.Text = r.text.String()
	}
	r.mu.Unlock()
	r.x.chats.bus.Publish(protocol.Change{Kind: protocol.ChangeDelta, SessionKey: r.row.Session, Delta: &d})
	if !thinking {
		r.publishChat(protocol.ChatEvent{State: protocol.ChatDelta, Text: separator + text})
	}
}

// State implements agent.Progress.
func (r *run) State(state, notice string) {
	r.update(func() { r.info.State, r.info.Notice = state, notice })
	r.publish()
}

// Used implements agent.Progress.
func (r *run) Used(u protocol.Usage) {
	r.update(func() {
		sum := u // a new one, because a published one must not change
		if r.info.Usage != nil {
			sum.Add(*r.info.Usage)
		}
		r.info.Usage = &sum
	})
	r.publish()
	r.x.chats.publishSession(r.row.Session)
}

// Hydrate implements agent.Conversation.
func (r *run) Hydrate(_ context.Context, msgs []protocol.Message) []protocol.Message {
	msgs = r.x.media.WithImages(msgs)
	if r.snapshot().Model.Provider == builtIn {
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
	r.State(protocol.RunThinking, "Summarizing the chat so far to make room")
	var model *openModel
	if ref := r.snapshot().Model; ref.Provider != builtIn {
		model = &openModel{r.model, ref, r.modelInfo}
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
