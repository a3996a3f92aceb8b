package state

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

// Archives reads and restores the archived conversations of chats.
type Archives struct{ app *App }

// List returns the conversations that a chat had before its resets, newest first. Messages that
// were only compacted are still in the chat. It blocks.
func (s Archives) List(ctx context.Context, key protocol.SessionKey) ([]protocol.ArchiveInfo, error) {
	r, err := Call(ctx, s.app, protocol.SessionArchives, protocol.SessionParams{SessionKey: key})
	return slices.DeleteFunc(r.Archives, func(i protocol.ArchiveInfo) bool { return i.Kind != protocol.ArchiveReset }), err
}

// Find returns the archive that contains a message found by a search. It blocks.
func (s Archives) Find(ctx context.Context, h protocol.SearchHit) (protocol.ArchiveInfo, error) {
	list, err := s.List(ctx, h.SessionKey)
	if err != nil {
		return protocol.ArchiveInfo{}, err
	}
	for _, i := range list {
		if i.SessionID == h.SessionID {
			return i, nil
		}
	}
	return protocol.ArchiveInfo{}, protocol.ErrNotFound.With("the conversation is no longer in the archive")
}

// Open opens an archived conversation for reading, with its newest messages loaded. It blocks.
func (s Archives) Open(key protocol.SessionKey, id protocol.ArchiveID) *Chat {
	c := &Chat{Key: key, app: s.app, Value: NewValue(ChatView{Key: key, Loading: true})}
	c.fetch = func(ctx context.Context, before int64, n int) ([]protocol.Message, bool, error) {
		r, err := Call(ctx, s.app, protocol.SessionArchiveRead, protocol.SessionArchiveReadParams{SessionKey: key, ID: id, Limit: n, Before: before})
		return r.Messages, len(r.Messages) == n, err
	}
	c.Reload()
	return c
}

// Export writes an archived conversation as Markdown. It blocks while the messages are
// loaded.
func (s Archives) Export(ctx context.Context, key protocol.SessionKey, i protocol.ArchiveInfo) (title, text string, err error) {
	r, err := Call(ctx, s.app, protocol.SessionArchiveRead, protocol.SessionArchiveReadParams{SessionKey: key, ID: i.ID})
	if err != nil {
		return "", "", fmt.Errorf("loading the conversation: %w", err)
	}
	title = s.app.Chats.Title(key) + ", until " + time.UnixMilli(i.CreatedAt).Format("2 January 2006")
	return title, Markdown(title, r.Messages, s.app.Value.Get(), time.Local), nil
}

// Restore replaces a chat's present conversation by an archived one. before is the archive of the
// present one, empty if that had no messages. It blocks.
func (s Archives) Restore(ctx context.Context, key protocol.SessionKey, id protocol.ArchiveID) (before protocol.ArchiveID, err error) {
	r, err := Call(ctx, s.app, protocol.SessionArchiveRestore, protocol.SessionArchiveRestoreParams{SessionKey: key, ID: id})
	if err == nil && r.Archived != nil {
		before = r.Archived.ID
	}
	return before, err
}

// ArchiveLine summarizes an archive: 24 messages · 12k tokens.
func ArchiveLine(i protocol.ArchiveInfo) string {
	line := Plural(i.Messages, "message", "messages")
	if n := i.Tokens.Total; n > 0 {
		line += " · " + Tokens(n) + " tokens"
	}
	return line
}
