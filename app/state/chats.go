package state

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/export"
	"fairlead/gateway/protocol"
)

// Chats opens and changes the chats. Its methods are safe for concurrent use.
type Chats struct {
	app *App

	mu   sync.Mutex // guards open
	open map[protocol.SessionKey]*Chat
}

// Open returns a chat. The first call loads it, as soon as there is a connection.
func (c *Chats) Open(key protocol.SessionKey) *Chat {
	c.mu.Lock()
	chat := c.open[key]
	known := chat != nil
	if !known {
		chat = &Chat{Key: key, app: c.app, Value: feed.NewValue(ChatView{Key: key, Loading: true})}
		chat.fetch = chat.preview
		c.open[key] = chat
	}
	c.mu.Unlock()
	if !known && c.app.View().Status.Loaded {
		chat.Reload()
	}
	return chat
}

// Close drops a chat's messages when no window shows it any more.
func (c *Chats) Close(key protocol.SessionKey) {
	c.mu.Lock()
	delete(c.open, key)
	c.mu.Unlock()
}

func (c *Chats) reload() {
	c.mu.Lock()
	list := slices.Collect(maps.Values(c.open))
	c.mu.Unlock()
	for _, chat := range list {
		chat.Reload()
	}
}

func (c *Chats) apply(change protocol.Change) {
	if change.Kind != protocol.ChangeMessage && change.Kind != protocol.ChangeHistory {
		return
	}
	c.mu.Lock()
	chat := c.open[change.SessionKey]
	c.mu.Unlock()
	if chat != nil {
		chat.apply(change)
	}
}

// Create creates an empty chat. It blocks.
func (c *Chats) Create(ctx context.Context) (protocol.SessionKey, error) {
	e, err := feed.Call(ctx, c.app, protocol.SessionCreate, protocol.SessionCreateParams{})
	return e.SessionKey, err
}

// Rename changes a chat's title; empty is the default, the beginning of the first message.
func (c *Chats) Rename(key protocol.SessionKey, title string) {
	feed.Start(c.app.Feed, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: key, Label: &title})
}

// Delete deletes a chat. Until the returned time, Restore can undo that. It blocks.
func (c *Chats) Delete(ctx context.Context, key protocol.SessionKey) (until time.Time, err error) {
	r, err := feed.Call(ctx, c.app, protocol.SessionDelete, protocol.SessionParams{SessionKey: key})
	return time.UnixMilli(r.UndoUntil), err
}

// Restore restores a deleted chat. It blocks.
func (c *Chats) Restore(ctx context.Context, key protocol.SessionKey) error {
	return feed.Send(ctx, c.app, protocol.SessionRestore, protocol.SessionParams{SessionKey: key})
}

// Reset archives a chat's messages and starts an empty conversation.
func (c *Chats) Reset(key protocol.SessionKey) {
	feed.Start(c.app.Feed, protocol.SessionReset, protocol.SessionParams{SessionKey: key})
}

// Export writes a whole chat, also its compacted part. It blocks.
func (c *Chats) Export(ctx context.Context, key protocol.SessionKey, f export.Format, w io.Writer) error {
	p, err := feed.Call(ctx, c.app, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: key, Before: protocol.AfterAll, Notices: true})
	if err != nil {
		return fmt.Errorf("loading the chat: %w", err)
	}
	return f.Write(w, c.exported(ctx, key, c.Title(key), p.Messages))
}

// exported returns a conversation to export. Its pictures are loaded until ctx ends.
func (c *Chats) exported(ctx context.Context, key protocol.SessionKey, title string, messages []protocol.Message) export.Chat {
	return export.Chat{
		Key: key, Title: title, Messages: messages, Machine: c.app.View().Machines.Name, Zone: time.Local,
		Picture: func(key string) (protocol.MediaGetResult, error) {
			return feed.Call(ctx, c.app, protocol.MediaGet, protocol.MediaGetParams{Key: key})
		},
	}
}

// Media loads a stored picture. It blocks.
func (c *Chats) Media(ctx context.Context, key string) ([]byte, error) {
	r, err := feed.Call(ctx, c.app, protocol.MediaGet, protocol.MediaGetParams{Key: key})
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(r.Data)
}

// Pictures loads the pictures of a stored message, to be sent again. It blocks.
func (c *Chats) Pictures(ctx context.Context, content protocol.Content) ([]protocol.Attachment, error) {
	var list []protocol.Attachment
	for _, b := range content {
		if b.Type != protocol.BlockImage || b.MediaKey == "" {
			continue
		}
		r, err := feed.Call(ctx, c.app, protocol.MediaGet, protocol.MediaGetParams{Key: b.MediaKey})
		if err != nil {
			return nil, err
		}
		list = append(list, protocol.Attachment{Filename: b.Filename, MimeType: b.MimeType, Data: r.Data})
	}
	return list, nil
}

// Title returns a chat's title.
func (c *Chats) Title(key protocol.SessionKey) string {
	entry, _ := c.app.View().Session(key)
	return feed.TitleOf(entry)
}

// Archives reads and restores the archived conversations of chats.
type Archives struct{ app *App }

// List returns the conversations from before a chat's resets, and what edits replaced, newest first.
// It blocks.
func (s Archives) List(ctx context.Context, key protocol.SessionKey) ([]protocol.ArchiveInfo, error) {
	r, err := feed.Call(ctx, s.app, protocol.SessionArchives, protocol.SessionParams{SessionKey: key})
	return slices.DeleteFunc(r.Archives, func(i protocol.ArchiveInfo) bool { return i.Kind == protocol.ArchiveCompact }), err
}

// Find returns the archive that contains a message found by a search. It blocks.
func (s Archives) Find(ctx context.Context, h protocol.SearchHit) (protocol.ArchiveInfo, error) {
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
func (s Archives) Open(key protocol.SessionKey, id protocol.ArchiveID) *Chat {
	c := &Chat{Key: key, app: s.app, Value: feed.NewValue(ChatView{Key: key, Loading: true})}
	c.fetch = func(ctx context.Context, before int64, n int) ([]protocol.Message, bool, error) {
		r, err := feed.Call(ctx, s.app, protocol.SessionArchiveRead, protocol.SessionArchiveReadParams{SessionKey: key, ID: id, Limit: n, Before: before})
		return r.Messages, len(r.Messages) == n, err
	}
	c.Reload()
	return c
}

// Title returns the title of an archived conversation.
func (s Archives) Title(key protocol.SessionKey, i protocol.ArchiveInfo) string {
	return s.app.Chats.Title(key) + ", until " + time.UnixMilli(i.CreatedAt).Format("2 January 2006")
}

// Export writes an archived conversation. It blocks.
func (s Archives) Export(ctx context.Context, key protocol.SessionKey, i protocol.ArchiveInfo, f export.Format, w io.Writer) error {
	r, err := feed.Call(ctx, s.app, protocol.SessionArchiveRead, protocol.SessionArchiveReadParams{SessionKey: key, ID: i.ID})
	if err != nil {
		return fmt.Errorf("loading the conversation: %w", err)
	}
	return f.Write(w, s.app.Chats.exported(ctx, key, s.Title(key, i), r.Messages))
}

// Restore replaces the present conversation, whose archive is before, if any. It blocks.
func (s Archives) Restore(ctx context.Context, key protocol.SessionKey, id protocol.ArchiveID) (before protocol.ArchiveID, err error) {
	r, err := feed.Call(ctx, s.app, protocol.SessionArchiveRestore, protocol.SessionArchiveRestoreParams{SessionKey: key, ID: id})
	if err == nil && r.Archived != nil {
		before = r.Archived.ID
	}
	return before, err
}

// ArchiveLine summarizes an archive: 24 messages · 12k tokens, or 2 messages · replaced by an edit.
func ArchiveLine(i protocol.ArchiveInfo) string {
	line := wording.Plural(i.Messages, "message", "messages")
	if n := i.Tokens.Total; n > 0 {
		line += " · " + wording.Tokens(n) + " tokens"
	}
	if i.Kind == protocol.ArchiveEdit {
		line += " · replaced by an edit"
	}
	return line
}
