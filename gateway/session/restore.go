package session

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"fairlead/gateway/protocol"
)

// RestoreArchive replaces a chat's current conversation with an archived one. The current
// conversation is archived first.
func (m *Manager) RestoreArchive(ctx context.Context, in protocol.SessionArchiveRestoreParams) (protocol.SessionArchiveRestoreResult, error) {
	var out protocol.SessionArchiveRestoreResult
	if in.ID == "" {
		return out, protocol.ErrBadRequest.With("id required")
	}
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.Archives.Get(ctx, key, in.ID); err != nil { // checked before the chat is blocked
		return out, err
	}
	if err := m.still(ctx, key, "bring the earlier conversation back"); err != nil {
		return out, err
	}
	defer m.unblock(key)
	back, old, err := m.store.Archives.Restore(ctx, key, in.ID, m.now())
	if err != nil {
		return out, m.stored(err)
	}
	ctx = context.WithoutCancel(ctx) // from here on the restore must be completed
	out = protocol.SessionArchiveRestoreResult{OK: true, SessionKey: key, SessionID: back.Session, Messages: back.Messages}
	if old.ID != "" {
		info := archiveInfo(old)
		info.ArchivedTo = m.keepArchive(ctx, old)
		out.Archived = &info
	}
	// The file is written again when the conversation is archived again.
	if err := os.Remove(filepath.Join(m.opts.Home, filepath.FromSlash(archivePath(back.ID)))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		slog.Warn("The file of an archive that is none any more could not be removed", "session", key, "err", err)
	}
	err = m.store.Grants.DeleteAll(ctx, key)
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: key})
	m.publishSession(key)
	return out, m.stored(err)
}
