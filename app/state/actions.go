package state

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"fairlead/gateway/protocol"
)

// NewChat creates an empty chat. It blocks.
func (a *App) NewChat(ctx context.Context) (protocol.SessionKey, error) {
	e, err := Call(ctx, a, protocol.SessionCreate, protocol.SessionCreateParams{})
	return e.SessionKey, err
}

// Rename changes a chat's title; an empty title restores the default, the beginning of the first
// message.
func (a *App) Rename(key protocol.SessionKey, title string) {
	act(a, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: key, Label: &title})
}

// Delete deletes a chat. Until the returned time, Restore can undo that. It blocks.
func (a *App) Delete(ctx context.Context, key protocol.SessionKey) (until time.Time, err error) {
	r, err := Call(ctx, a, protocol.SessionDelete, protocol.SessionParams{SessionKey: key})
	return time.UnixMilli(r.UndoUntil), err
}

// Restore restores a deleted chat. It blocks.
func (a *App) Restore(ctx context.Context, key protocol.SessionKey) error {
	_, err := Call(ctx, a, protocol.SessionRestore, protocol.SessionParams{SessionKey: key})
	return err
}

// Reset archives a chat's messages and starts an empty conversation.
func (a *App) Reset(key protocol.SessionKey) {
	act(a, protocol.SessionReset, protocol.SessionParams{SessionKey: key})
}

// Export writes a whole chat as Markdown. It blocks while the messages are loaded.
func (a *App) Export(ctx context.Context, key protocol.SessionKey) (title, text string, err error) {
	p, err := Call(ctx, a, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: key, Notices: true})
	if err != nil {
		return "", "", fmt.Errorf("load the chat: %w", err)
	}
	entry, _ := a.Value.Get().Session(key)
	title = TitleOf(entry)
	return title, Markdown(title, p.Messages, a.Value.Get(), time.Local), nil
}

// Media loads a stored picture. It blocks.
func (a *App) Media(ctx context.Context, key string) ([]byte, error) {
	r, err := Call(ctx, a, protocol.MediaGet, protocol.MediaGetParams{Key: key})
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(r.Data)
}

// Pictures loads the pictures of a stored message, to be sent again. It blocks.
func (a *App) Pictures(ctx context.Context, c protocol.Content) ([]protocol.Attachment, error) {
	var list []protocol.Attachment
	for _, b := range c {
		if b.Type != protocol.BlockImage || b.MediaKey == "" {
			continue
		}
		r, err := Call(ctx, a, protocol.MediaGet, protocol.MediaGetParams{Key: b.MediaKey})
		if err != nil {
			return nil, err
		}
		list = append(list, protocol.Attachment{Filename: b.Filename, MimeType: b.MimeType, Data: r.Data})
	}
	return list, nil
}

// Pause pauses or resumes the agent.
func (a *App) Pause(paused bool) { act(a, protocol.AgentPause, protocol.PauseParams{Paused: paused}) }

// Shown tells the gateway that an approval is visible on the screen.
func (a *App) Shown(id protocol.ApprovalID) {
	act(a, protocol.ApprovalShown, protocol.ApprovalShownParams{ID: id})
}

// ShownOn tells the gateway that an approval is visible elsewhere than in a window of its own.
func (a *App) ShownOn(id protocol.ApprovalID, surface string) {
	act(a, protocol.ApprovalShown, protocol.ApprovalShownParams{ID: id, Surface: surface})
}

// Set changes a setting of the configuration; nil resets it. It blocks.
func (a *App) Set(ctx context.Context, path string, value any) error {
	raw, err := protocol.Marshal(value)
	if err != nil {
		return err
	}
	_, err = Call(ctx, a, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: raw})
	return err
}
