// Package chats has the messages of chats, and the actions on chats: what the list of chats, a chat
// and its archive have in common.
package chats

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/export"
	"fairlead/gateway/protocol"
)

// Chats opens and changes the chats. Its methods are safe for concurrent use.
type Chats struct {
	feed *feed.Feed

	mu   sync.Mutex // guards open
	open map[protocol.SessionKey]*History
}

// New returns the chats of a gateway. It sets the hooks of the feed.
func New(f *feed.Feed) *Chats {
	c := &Chats{feed: f, open: make(map[protocol.SessionKey]*History)}
	f.OnSnapshot, f.OnChange = c.reload, c.apply
	return c
}

// Open returns the messages of a chat, until as many calls of Close. The first call loads it, as soon
// as there is a connection.
func (c *Chats) Open(key protocol.SessionKey) *History {
	c.mu.Lock()
	chat := c.open[key]
	known := chat != nil
	if !known {
		chat = &History{Key: key, feed: c.feed, Value: feed.NewValue(Messages{Key: key, Loading: true})}
		chat.fetch = chat.preview
		c.open[key] = chat
	}
	chat.windows++
	c.mu.Unlock()
	if !known && c.feed.View().Status.Loaded {
		chat.Reload()
	}
	return chat
}

// Close drops a chat's messages when no window shows it any more.
func (c *Chats) Close(key protocol.SessionKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	chat := c.open[key]
	if chat == nil {
		return
	}
	if chat.windows--; chat.windows == 0 {
		delete(c.open, key)
	}
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
	e, err := feed.Call(ctx, c.feed, protocol.SessionCreate, protocol.SessionCreateParams{})
	return e.SessionKey, err
}

// Rename changes a chat's title; empty is the default, the beginning of the first message.
func (c *Chats) Rename(key protocol.SessionKey, title string) {
	feed.Start(c.feed, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: key, Label: &title})
}

// Delete deletes a chat. Until the returned time, Restore can undo that. It blocks.
func (c *Chats) Delete(ctx context.Context, key protocol.SessionKey) (until time.Time, err error) {
	r, err := feed.Call(ctx, c.feed, protocol.SessionDelete, protocol.SessionParams{SessionKey: key})
	return time.UnixMilli(r.UndoUntil), err
}

// Restore restores a deleted chat. It blocks.
func (c *Chats) Restore(ctx context.Context, key protocol.SessionKey) error {
	return feed.Send(ctx, c.feed, protocol.SessionRestore, protocol.SessionParams{SessionKey: key})
}

// Reset archives a chat's messages and starts an empty conversation.
func (c *Chats) Reset(key protocol.SessionKey) {
	feed.Start(c.feed, protocol.SessionReset, protocol.SessionParams{SessionKey: key})
}

// Export writes a whole chat, also its compacted part. It blocks.
func (c *Chats) Export(ctx context.Context, key protocol.SessionKey, f export.Format, w io.Writer) error {
	p, err := feed.Call(ctx, c.feed, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: key, Before: protocol.AfterAll, Notices: true})
	if err != nil {
		return fmt.Errorf("loading the chat: %w", err)
	}
	return f.Write(w, c.Exported(ctx, key, c.Title(key), p.Messages))
}

// Exported returns a conversation to export. Its pictures are loaded until ctx ends.
func (c *Chats) Exported(ctx context.Context, key protocol.SessionKey, title string, messages []protocol.Message) export.Chat {
	return export.Chat{
		Key: key, Title: title, Messages: messages, Machine: c.feed.View().Machines.Name, Zone: time.Local,
		Picture: func(key string) (protocol.MediaGetResult, error) {
			return feed.Call(ctx, c.feed, protocol.MediaGet, protocol.MediaGetParams{Key: key})
		},
	}
}

// Title returns a chat's title.
func (c *Chats) Title(key protocol.SessionKey) string {
	entry, _ := c.feed.View().Session(key)
	return feed.TitleOf(entry)
}
