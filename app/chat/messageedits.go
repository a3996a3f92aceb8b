package chat

import (
	"context"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// Resend replaces a message of the person and everything after it, and runs the agent again. It
// returns the archive with which RestoreMessages restores them. It blocks.
func (m Model) Resend(ctx context.Context, in protocol.ChatResendParams) (protocol.ArchiveID, error) {
	ctx, cancel := context.WithTimeout(ctx, feed.ActionTimeout)
	defer cancel()
	in.SessionKey = m.Key
	if in.Attachments != nil && in.Message != nil {
		text, files, err := m.withItems(ctx, *in.Message, *in.Attachments)
		if err != nil {
			return "", err
		}
		in.Message, in.Attachments = &text, &files
	}
	r, err := feed.Call(ctx, m.feed, protocol.ChatResend, in)
	return r.ArchiveID, err
}

// DeleteMessage deletes a message, or a whole answer. RestoreMessages can restore it until the
// returned time. It blocks.
func (m Model) DeleteMessage(ctx context.Context, id protocol.MessageID) (archive protocol.ArchiveID, until time.Time, err error) {
	r, err := feed.Call(ctx, m.feed, protocol.MessageDelete, protocol.MessageParams{SessionKey: m.Key, MessageID: id})
	return r.ArchiveID, time.UnixMilli(r.UndoUntil), err
}

// RestoreMessages restores what Resend replaced or DeleteMessage deleted. It blocks.
func (m Model) RestoreMessages(ctx context.Context, id protocol.ArchiveID) error {
	return feed.Send(ctx, m.feed, protocol.SessionArchiveRestore, protocol.SessionArchiveRestoreParams{SessionKey: m.Key, ID: id})
}

// Fork creates a chat with the messages up to one, or only those before it. It blocks.
func (m Model) Fork(ctx context.Context, id protocol.MessageID, before bool) (protocol.SessionKey, error) {
	e, err := feed.Call(ctx, m.feed, protocol.SessionFork, protocol.SessionForkParams{SessionKey: m.Key, MessageID: id, Before: before})
	return e.SessionKey, err
}
