package state

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// Chats opens and changes the chats. Its methods are safe for concurrent use.
type Chats struct {
	app *App

	mu   sync.Mutex // guards open
	open map[protocol.SessionKey]*Chat
}

// Open returns the view model of a chat. The first call loads it, as soon as there is a
// connection.
func (c *Chats) Open(key protocol.SessionKey) *Chat {
	c.mu.Lock()
	chat := c.open[key]
	known := chat != nil
	if !known {
		chat = &Chat{Key: key, app: c.app, Value: NewValue(ChatView{Key: key, Loading: true})}
		chat.fetch = chat.preview
		c.open[key] = chat
	}
	c.mu.Unlock()
	if !known && c.app.Value.Get().Loaded {
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

// reload loads the newest messages of all open chats.
func (c *Chats) reload() {
	c.mu.Lock()
	list := slices.Collect(maps.Values(c.open))
	c.mu.Unlock()
	for _, chat := range list {
		chat.Reload()
	}
}

// apply applies a change of a chat's messages, if the chat is open.
func (c *Chats) apply(change protocol.Change) {
	c.mu.Lock()
	chat := c.open[change.SessionKey]
	c.mu.Unlock()
	if chat != nil {
		chat.apply(change)
	}
}

// Create creates an empty chat. It blocks.
func (c *Chats) Create(ctx context.Context) (protocol.SessionKey, error) {
	e, err := Call(ctx, c.app, protocol.SessionCreate, protocol.SessionCreateParams{})
	return e.SessionKey, err
}

// Rename changes a chat's title; an empty title restores the default, the beginning of the first
// message.
func (c *Chats) Rename(key protocol.SessionKey, title string) {
	callInBackground(c.app, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: key, Label: &title})
}

// Delete deletes a chat. Until the returned time, Restore can undo that. It blocks.
func (c *Chats) Delete(ctx context.Context, key protocol.SessionKey) (until time.Time, err error) {
	r, err := Call(ctx, c.app, protocol.SessionDelete, protocol.SessionParams{SessionKey: key})
	return time.UnixMilli(r.UndoUntil), err
}

// Restore restores a deleted chat. It blocks.
func (c *Chats) Restore(ctx context.Context, key protocol.SessionKey) error {
	_, err := Call(ctx, c.app, protocol.SessionRestore, protocol.SessionParams{SessionKey: key})
	return err
}

// Reset archives a chat's messages and starts an empty conversation.
func (c *Chats) Reset(key protocol.SessionKey) {
	callInBackground(c.app, protocol.SessionReset, protocol.SessionParams{SessionKey: key})
}

// Export writes a whole chat as Markdown. It blocks while the messages are loaded.
func (c *Chats) Export(ctx context.Context, key protocol.SessionKey) (title, text string, err error) {
	p, err := Call(ctx, c.app, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: key, Notices: true})
	if err != nil {
		return "", "", fmt.Errorf("loading the chat: %w", err)
	}
	entry, _ := c.app.Value.Get().Session(key)
	title = TitleOf(entry)
	return title, Markdown(title, p.Messages, c.app.Value.Get(), time.Local), nil
}

// Media loads a stored picture. It blocks.
func (c *Chats) Media(ctx context.Context, key string) ([]byte, error) {
	r, err := Call(ctx, c.app, protocol.MediaGet, protocol.MediaGetParams{Key: key})
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
		r, err := Call(ctx, c.app, protocol.MediaGet, protocol.MediaGetParams{Key: b.MediaKey})
		if err != nil {
			return nil, err
		}
		list = append(list, protocol.Attachment{Filename: b.Filename, MimeType: b.MimeType, Data: r.Data})
	}
	return list, nil
}

// Title returns a chat's title.
func (c *Chats) Title(key protocol.SessionKey) string {
	entry, _ := c.app.Value.Get().Session(key)
	return TitleOf(entry)
}
