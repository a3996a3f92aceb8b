package archive

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/export"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Model reads and restores the archived conversations of chats. Its methods block.
type Model struct {
	feed  *feed.Feed
	chats *chats.Chats
}

// newModel creates the model of the archives of all chats.
func newModel(f *feed.Feed, c *chats.Chats) Model { return Model{f, c} }

// List returns the conversations from before a chat's resets, and what edits replaced, newest first.
// It blocks.
func (s Model) List(ctx context.Context, key protocol.SessionKey) ([]protocol.ArchiveInfo, error) {
	r, err := feed.Call(ctx, s.feed, protocol.SessionArchives, protocol.SessionParams{SessionKey: key})
	return slices.DeleteFunc(r.Archives, func(i protocol.ArchiveInfo) bool { return i.Kind == protocol.ArchiveCompact }), err
}

// Find returns the archive that contains a message found by a search. It blocks.
func (s Model) Find(ctx context.Context, h protocol.SearchHit) (protocol.ArchiveInfo, error) {
	list, err := s.List(ctx, h.SessionKey)
	i, ok := lists.Find(list, func(i protocol.ArchiveInfo) bool {
		return i.SessionID == h.SessionID && i.Kind == protocol.ArchiveReset
	})
	if err == nil && !ok {
		err = protocol.ErrNotFound.With("the conversation is no longer in the archive")
	}
	return i, err
}

// Open opens an archived conversation for reading, with its newest messages loaded. It blocks.
func (s Model) Open(key protocol.SessionKey, id protocol.ArchiveID) *chats.History {
	return chats.NewHistory(s.feed, key, func(ctx context.Context, before int64, n int) ([]protocol.Message, bool, error) {
		r, err := feed.Call(ctx, s.feed, protocol.SessionArchiveRead, protocol.SessionArchiveReadParams{SessionKey: key, ID: id, Limit: n, Before: before})
		return r.Messages, len(r.Messages) == n, err
	})
}

// Title returns the title of an archived conversation.
func (s Model) Title(key protocol.SessionKey, i protocol.ArchiveInfo) string {
	return s.chats.Title(key) + ", until " + time.UnixMilli(i.CreatedAt).Format("2 January 2006")
}

// Export writes an archived conversation. It blocks.
func (s Model) Export(ctx context.Context, key protocol.SessionKey, i protocol.ArchiveInfo, f export.Format, w io.Writer) error {
	r, err := feed.Call(ctx, s.feed, protocol.SessionArchiveRead, protocol.SessionArchiveReadParams{SessionKey: key, ID: i.ID})
	if err != nil {
		return fmt.Errorf("loading the conversation: %w", err)
	}
	return f.Write(w, s.chats.Exported(ctx, key, s.Title(key, i), r.Messages))
}

// Restore replaces the present conversation, whose archive is before, if any. It blocks.
func (s Model) Restore(ctx context.Context, key protocol.SessionKey, id protocol.ArchiveID) (before protocol.ArchiveID, err error) {
	r, err := feed.Call(ctx, s.feed, protocol.SessionArchiveRestore, protocol.SessionArchiveRestoreParams{SessionKey: key, ID: id})
	if err == nil && r.Archived != nil {
		before = r.Archived.ID
	}
	return before, err
}

// ArchiveLine summarizes an archive: 24 messages · 12k tokens, or 2 messages · replaced by an edit.
func ArchiveLine(i protocol.ArchiveInfo) string {
	line := format.Plural(i.Messages, "message")
	if n := i.Tokens.Total; n > 0 {
		line += " · " + wording.Tokens(n) + " tokens"
	}
	if i.Kind == protocol.ArchiveEdit {
		line += " · replaced by an edit"
	}
	return line
}
