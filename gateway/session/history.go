package session

import (
	"context"

	"fairlead/gateway/protocol"
	"fairlead/gateway/session/archive"
)

// history changes what the model sees of chats: it resets and compacts them, and lists and restores
// their archives. It is safe for concurrent use.
type history struct {
	*reader
	*sessions
	archives *archive.Archives
	memories *memories
	models   Models
}

// Archives lists a chat's archives, newest first.
func (h *history) Archives(ctx context.Context, in protocol.SessionParams) (protocol.SessionArchivesResult, error) {
	return h.archives.List(ctx, h.Canonical(in.SessionKey))
}

// ReadArchive returns the messages of an archive.
func (h *history) ReadArchive(ctx context.Context, in protocol.SessionArchiveReadParams) (protocol.SessionArchiveReadResult, error) {
	in.SessionKey = h.Canonical(in.SessionKey)
	return h.archives.Read(ctx, in)
}

// RestoreArchive replaces a chat's current conversation with an archived one. The current
// conversation is archived first.
func (h *history) RestoreArchive(ctx context.Context, in protocol.SessionArchiveRestoreParams) (protocol.SessionArchiveRestoreResult, error) {
	var out protocol.SessionArchiveRestoreResult
	if in.ID == "" {
		return out, protocol.ErrBadRequest.With("id required")
	}
	key := h.Canonical(in.SessionKey)
	if _, err := h.store.Archives.Get(ctx, key, in.ID); err != nil { // checked before the chat is blocked
		return out, err
	}
	if err := h.blockIdle(ctx, key, "restore the earlier conversation"); err != nil {
		return out, err
	}
	defer h.unblock(key)
	restored, old, err := h.store.Archives.Restore(ctx, key, in.ID, now())
	if err != nil {
		return out, h.pause.onStoreError(err)
	}
	ctx = context.WithoutCancel(ctx) // from here on the restore must be completed
	out = protocol.SessionArchiveRestoreResult{OK: true, SessionKey: key, SessionID: restored.Session, Messages: restored.Messages}
	if old.ID != "" {
		info := archive.Info(old)
		info.ArchivedTo = h.archives.WriteFile(ctx, old)
		out.Archived = &info
	}
	h.archives.RemoveFile(restored)
	err = h.store.Grants.DeleteAll(ctx, key)
	h.publishHistory(key)
	return out, h.pause.onStoreError(err)
}
