package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Create creates an empty chat.
func (m *Manager) Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	key := in.SessionKey
	key = cmp.Or(key, newKey(m.opts.Config().Agents.Default()))
	key = m.Canonical(key)
	if _, err := m.store.Sessions.Ensure(ctx, key, now()); err != nil {
		return protocol.SessionEntry{}, m.pause.onStoreError(err)
	}
	s, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) {
		if in.Label != "" {
			s.Label = in.Label
		}
		s.DeletedAt = 0
	})
	if err != nil {
		return protocol.SessionEntry{}, m.pause.onStoreError(err)
	}
	m.publishSession(key)
	return m.entry(s), nil
}

// Delete removes a chat. Restore can undo that for ten seconds.
func (m *Manager) Delete(ctx context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.Sessions.Get(ctx, key); err != nil {
		return protocol.SessionDeleteResult{}, err
	}
	if err := m.stopAndBlock(ctx, key); err != nil {
		return protocol.SessionDeleteResult{}, err
	}
	defer m.unblock(key)
	at := now()
	if _, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) { s.DeletedAt = at }); err != nil {
		return protocol.SessionDeleteResult{}, m.pause.onStoreError(err)
	}
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeSessionDeleted, SessionKey: key})
	return protocol.SessionDeleteResult{OK: true, UndoUntil: at + protocol.UndoMillis}, nil
}

// Restore undoes the deletion of a chat.
func (m *Manager) Restore(ctx context.Context, in protocol.SessionParams) (protocol.OK, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) { s.DeletedAt = 0 }); err != nil {
		if errors.Is(err, protocol.ErrNotFound) {
			err = protocol.ErrNotFound.With("The chat can no longer be restored.")
		}
		return protocol.OK{}, err
	}
	m.publishSession(key)
	return protocol.OK{OK: true}, nil
}

// purgeInterval is the interval at which deleted chats are removed permanently.
const purgeInterval = 30 * time.Second

// purgeDeleted permanently removes deleted chats whose time for undo has passed, with their files.
func (m *Manager) purgeDeleted() {
	tick := time.NewTicker(purgeInterval)
	defer tick.Stop()
	m.removeUnusedFiles(m.ctx)
	for {
		n, err := m.store.Sessions.PurgeDeleted(m.ctx, now()-protocol.UndoMillis)
		if err != nil && m.ctx.Err() == nil {
			slog.Warn("Removing deleted chats failed", "err", err)
		}
		if n > 0 {
			m.removeUnusedFiles(m.ctx)
		}
		select {
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
	}
}

// removeUnusedFiles removes media and archive files that no chat refers to.
func (m *Manager) removeUnusedFiles(ctx context.Context) {
	if err := errors.Join(m.media.RemoveUnused(ctx), m.archives.RemoveUnused(ctx)); err != nil && ctx.Err() == nil {
		slog.Warn("Removing files of deleted chats failed", "err", err)
	}
}

// Media returns a stored picture or recording.
func (m *Manager) Media(_ context.Context, in protocol.MediaGetParams) (protocol.MediaGetResult, error) {
	return m.media.Get(in.Key)
}
