package session

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session/media"
	"fairlead/gateway/store"
)

// Trash deletes chats and restores them, and removes permanently what can no longer be restored. It
// is safe for concurrent use.
type Trash struct {
	chats    *Chats
	runs     *Runs
	sessions *store.Sessions
	archives *store.Archives
	files    *archiveFiles
	media    *media.Store
	pause    *pause
	workers  *crash.Workers
}

// Delete removes a chat. Restore can undo that for ten seconds.
func (t *Trash) Delete(ctx context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error) {
	key := t.chats.Canonical(in.SessionKey)
	if _, err := t.sessions.Get(ctx, key); err != nil {
		return protocol.SessionDeleteResult{}, err
	}
	if err := t.runs.stopAndBlock(ctx, key); err != nil {
		return protocol.SessionDeleteResult{}, err
	}
	defer t.runs.unblock(key)
	at := now()
	if _, err := t.sessions.Update(ctx, key, func(s *store.Session) { s.DeletedAt = at }); err != nil {
		return protocol.SessionDeleteResult{}, t.pause.onStoreError(err)
	}
	t.chats.bus.Publish(protocol.Change{Kind: protocol.ChangeSessionDeleted, SessionKey: key})
	return protocol.SessionDeleteResult{OK: true, UndoUntil: at + protocol.UndoMillis}, nil
}

// Restore undoes the deletion of a chat.
func (t *Trash) Restore(ctx context.Context, in protocol.SessionParams) (protocol.OK, error) {
	key := t.chats.Canonical(in.SessionKey)
	if _, err := t.sessions.Update(ctx, key, func(s *store.Session) { s.DeletedAt = 0 }); err != nil {
		if errors.Is(err, protocol.ErrNotFound) {
			err = protocol.ErrNotFound.With("The chat can no longer be restored.")
		}
		return protocol.OK{}, err
	}
	t.chats.publishSession(key)
	return protocol.OK{OK: true}, nil
}

// purgeInterval is the interval at which deleted chats and messages are removed permanently.
const purgeInterval = 30 * time.Second

// purge permanently removes deleted chats and messages whose time for undo has passed, with
// their files.
func (t *Trash) purge() {
	t.removeUnusedFiles(t.workers.Context())
	for {
		n, err := t.sessions.PurgeDeleted(t.workers.Context(), now()-protocol.UndoMillis)
		if err != nil && t.workers.Context().Err() == nil {
			slog.Warn("Removing deleted chats failed", "err", err)
		}
		messages, err := t.archives.PurgeDeletions(t.workers.Context(), now()-protocol.UndoMillis)
		if err != nil && t.workers.Context().Err() == nil {
			slog.Warn("Removing deleted messages failed", "err", err)
		}
		if n+messages > 0 {
			t.removeUnusedFiles(t.workers.Context())
		}
		select {
		case <-time.After(purgeInterval):
		case <-t.workers.Context().Done():
			return
		}
	}
}

// removeUnusedFiles removes media and archive files that no chat refers to.
func (t *Trash) removeUnusedFiles(ctx context.Context) {
	if err := errors.Join(t.media.RemoveUnused(ctx), t.files.removeUnused(ctx)); err != nil && ctx.Err() == nil {
		slog.Warn("Removing files of deleted chats failed", "err", err)
	}
}
