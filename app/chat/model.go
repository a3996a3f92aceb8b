package chat

import (
	"context"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// Model carries out the actions on one chat. Its methods are safe for concurrent use.
type Model struct {
	Key  protocol.SessionKey
	feed *feed.Feed
}

// NewModel creates the model of a chat.
func NewModel(f *feed.Feed, key protocol.SessionKey) Model { return Model{Key: key, feed: f} }

// Send sends a message and returns the result when the gateway has stored it. After an error it may
// not be stored, and the person keeps the text.
func (m Model) Send(ctx context.Context, text string, images []protocol.Attachment, node protocol.NodeID) (protocol.ChatSendResult, error) {
	ctx, cancel := context.WithTimeout(ctx, feed.ActionTimeout)
	defer cancel()
	text, images, err := m.withItems(ctx, text, images)
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	return feed.Call(ctx, m.feed, protocol.ChatSend, protocol.ChatSendParams{SessionKey: m.Key, Message: text, Attachments: images, Node: node})
}

// Stop stops the run in progress, or removes a queued message.
func (m Model) Stop(run protocol.RunID) {
	feed.Start(m.feed, protocol.ChatCancel, protocol.ChatCancelParams{SessionKey: m.Key, RunID: run})
}

// StopCall stops one tool call.
func (m Model) StopCall(id protocol.CallID) {
	feed.Start(m.feed, protocol.CallCancel, protocol.CallCancelParams{CallID: id})
}

// SetModel sets the conversation's model; the zero value restores the default.
func (m Model) SetModel(ref protocol.ModelRef) {
	feed.Start(m.feed, protocol.SessionPatch, protocol.SessionPatchParams{
		SessionKey: m.Key,
		Settings:   &protocol.SessionPrefsPatch{Model: &protocol.ModelPatch{Provider: &ref.Provider, ID: &ref.ID}},
	})
}

// SetThinking sets the thinking level; empty restores the default.
func (m Model) SetThinking(level string) {
	feed.Start(m.feed, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: m.Key, Settings: &protocol.SessionPrefsPatch{ThinkingLevel: &level}})
}
