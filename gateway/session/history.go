package session

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/cron/when"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session/media"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

// history resets and compacts chats, and lists and restores their archives. It is safe for
// concurrent use.
type history struct {
	*reader
	*sessions
	home     string // the data folder
	tasks    modelTasks
	files    *workspace.Files // of all agents
	scanning sync.Mutex       // held during a scan for memories: meanwhile the chat may have been restored and reset again
}

// Reset stops a chat's runs, archives its messages and starts a new session ID. A chat without
// messages only gets a new ID and is not stored.
func (h *history) Reset(ctx context.Context, in protocol.SessionParams) (protocol.SessionResetResult, error) {
	key := h.Canonical(in.SessionKey)
	next := protocol.SessionID(protocol.NewID())
	switch old, exists, err := h.store.Sessions.ResetUnsaved(ctx, key, next, now()); {
	case err != nil:
		return protocol.SessionResetResult{}, h.pause.onStoreError(err)
	case !exists:
		return protocol.SessionResetResult{OK: true, SessionKey: key, OldSessionID: old.ID, NewSessionID: next}, nil
	}
	if err := h.stopAndBlock(ctx, key); err != nil {
		return protocol.SessionResetResult{}, err
	}
	defer h.unblock(key)
	return h.reset(ctx, key)
}

// reset resets a chat that has no runs. Files in media/ stay, because the archive refers to them.
func (h *history) reset(ctx context.Context, key protocol.SessionKey) (protocol.SessionResetResult, error) {
	next := protocol.SessionID(protocol.NewID())
	old, a, err := h.store.Archives.Reset(ctx, key, next, now())
	if err != nil {
		return protocol.SessionResetResult{}, h.pause.onStoreError(err)
	}
	ctx = context.WithoutCancel(ctx) // from here on the reset must be completed
	out := protocol.SessionResetResult{
		OK: true, SessionKey: key, OldSessionID: old.ID, NewSessionID: next, ArchivedMessages: a.Messages, TokensCleared: tokens(old.Usage),
		ArchivedTo: h.writeArchive(ctx, a),
	}
	h.saveResetMemories(old, a)
	h.publishHistory(key)
	return out, nil
}

const (
	defaultHour = 4
	defaultIdle = 60 // minutes
)

// isDue reports whether a chat must be reset according to its ResetPolicy. A day begins at AtHour
// in the person's time zone, also on days when the clock changes.
func isDue(p protocol.ResetPolicy, last, now time.Time, zone *time.Location) bool {
	switch p.Mode {
	case "daily":
		hour := defaultHour
		set(&hour, p.AtHour)
		begin := startOfHour(now.In(zone), 0, hour)
		if begin.After(now) {
			begin = startOfHour(now.In(zone), -1, hour)
		}
		return last.Before(begin)
	case "idle":
		minutes := defaultIdle
		set(&minutes, p.IdleMinutes)
		return now.Sub(last).Minutes() > float64(minutes) // a time.Duration is limited to 292 years
	}
	return false
}

// startOfHour returns the time of an hour of a day, or of the skip if the clock skips that hour.
func startOfHour(at time.Time, days, hour int) time.Time {
	t, _ := when.Moment(at.Year(), at.Month(), at.Day()+days, hour, 0, 0, at.Location())
	return t
}

// resetWhenDue resets the chat before a message if its policy says so. If that fails, the message
// is accepted anyway. The output of a running command of the person belongs to the present
// conversation.
func (s *session) resetWhenDue() {
	if len(s.m.runs.commandsOf(s.key)) > 0 {
		return
	}
	ctx := context.WithoutCancel(s.m.ctx)
	row, err := s.m.store.Sessions.Get(ctx, s.key)
	if err != nil || !isDue(s.m.settings.resetPolicy(row), time.UnixMilli(max(row.LastActiveAt, row.LastResetAt)), time.UnixMilli(now()), s.m.settings.zone()) {
		return
	}
	if _, err := s.m.reset(ctx, s.key); err != nil {
		slog.Error("Resetting a chat by its policy failed", "session", s.key, "err", err)
	}
}

// archiveName returns the path of an archive's file, relative to the data folder.
func archiveName(id protocol.ArchiveID) string { return path.Join("archive", string(id)+".jsonl.gz") }

func (h *history) archivePath(id protocol.ArchiveID) string {
	return filepath.Join(h.home, filepath.FromSlash(archiveName(id)))
}

// archiveInfo describes an archive for clients.
func archiveInfo(a store.Archive) protocol.ArchiveInfo {
	info := protocol.ArchiveInfo{ID: a.ID, SessionID: a.Session, Kind: a.Kind, Messages: a.Messages, Tokens: tokens(a.Usage), CreatedAt: a.CreatedAt, Size: a.Size}
	if a.Size > 0 {
		info.ArchivedTo = archiveName(a.ID)
	}
	return info
}

// tokens returns the counts of a usage that clients show.
func tokens(u protocol.Usage) protocol.Tokens {
	return protocol.Tokens{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, Total: u.Total}
}

// writeArchive writes an archive's file and returns its path relative to the data folder, or ""
// without messages. If that fails, the messages stay in the database and the next start tries
// again.
func (h *history) writeArchive(ctx context.Context, x store.Archive) string {
	if x.ID == "" {
		return ""
	}
	size, err := media.WriteFile(h.archivePath(x.ID), func(w io.Writer) error { return h.writeMessages(ctx, x, w) })
	if err == nil {
		err = h.store.Archives.SetFileSize(ctx, x.ID, size)
	}
	if err != nil {
		slog.Error("Writing an archive file failed; the messages stay in the database", "session", x.Key, "err", err)
		return ""
	}
	return archiveName(x.ID)
}

// writeMessages writes one message per line, compressed.
func (h *history) writeMessages(ctx context.Context, x store.Archive, w io.Writer) error {
	msgs, err := h.store.Archives.Messages(ctx, x, 0, 0)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(w)
	for _, msg := range msgs {
		raw, err := protocol.Marshal(msg)
		if err != nil {
			return err
		}
		if _, err := z.Write(append(raw, '\n')); err != nil {
			return err
		}
	}
	return z.Close()
}

// writeMissingArchives writes the files that an earlier start could not write.
func (h *history) writeMissingArchives(ctx context.Context) {
	list, err := h.store.Archives.WithoutFile(ctx)
	if err != nil && ctx.Err() == nil {
		slog.Error("Listing archives without a file failed", "err", err)
	}
	for _, x := range list {
		if ctx.Err() != nil {
			return
		}
		h.writeArchive(ctx, x)
	}
}

// Archives lists a chat's archives without those of deletions, newest first.
func (h *history) Archives(ctx context.Context, in protocol.SessionParams) (protocol.SessionArchivesResult, error) {
	chat := h.Canonical(in.SessionKey)
	out := protocol.SessionArchivesResult{SessionKey: chat, Archives: []protocol.ArchiveInfo{}}
	list, err := h.store.Archives.List(ctx, chat)
	for _, x := range list {
		if x.Kind != protocol.ArchiveDelete {
			out.Archives = append(out.Archives, archiveInfo(x))
		}
	}
	return out, err
}

// ReadArchive returns the messages of an archive.
func (h *history) ReadArchive(ctx context.Context, in protocol.SessionArchiveReadParams) (protocol.SessionArchiveReadResult, error) {
	var out protocol.SessionArchiveReadResult
	if in.ID == "" {
		return out, protocol.ErrBadRequest.With("id required")
	}
	if in.Limit < 0 || in.Before < 0 {
		return out, protocol.ErrBadRequest.With("limit and before must not be negative")
	}
	x, err := h.store.Archives.Get(ctx, h.Canonical(in.SessionKey), in.ID)
	if err != nil {
		return out, err
	}
	out.Archive = archiveInfo(x)
	out.Messages, err = h.store.Archives.Messages(ctx, x, in.Before, in.Limit)
	return out, err
}

// removeUnusedArchives removes the files of archives that no longer exist.
func (h *history) removeUnusedArchives(ctx context.Context) error {
	ids, err := h.store.Archives.IDs(ctx)
	if err != nil {
		return err
	}
	list, err := fs.Glob(os.DirFS(h.home), archiveName("*"))
	errs := []error{err}
	for _, name := range list {
		if !slices.ContainsFunc(ids, func(id protocol.ArchiveID) bool { return archiveName(id) == name }) {
			errs = append(errs, os.Remove(filepath.Join(h.home, filepath.FromSlash(name))))
		}
	}
	return errors.Join(errs...)
}

// RestoreArchive replaces a chat's conversation with an archived one, after archiving it; or undoes
// an edit, which stops the run in progress, or a deletion.
func (h *history) RestoreArchive(ctx context.Context, in protocol.SessionArchiveRestoreParams) (protocol.SessionArchiveRestoreResult, error) {
	var out protocol.SessionArchiveRestoreResult
	if in.ID == "" {
		return out, protocol.ErrBadRequest.With("id required")
	}
	key := h.Canonical(in.SessionKey)
	back, err := h.store.Archives.Get(ctx, key, in.ID)
	if err != nil { // checked before the chat is blocked
		return out, err
	}
	if back.Kind == protocol.ArchiveEdit {
		err = h.stopRunAndBlock(ctx, key) // the run answers what is replaced
	} else {
		err = h.blockIdle(key, "restore the earlier conversation")
	}
	if err != nil {
		return out, err
	}
	defer h.unblock(key)
	if len(h.runs.commandsOf(key)) > 0 {
		return out, errOwnCommand
	}
	restored, old, err := h.store.Archives.Restore(ctx, key, in.ID, now())
	if err != nil {
		return out, h.pause.onStoreError(err)
	}
	ctx = context.WithoutCancel(ctx) // from here on the restore must be completed
	out = protocol.SessionArchiveRestoreResult{OK: true, SessionKey: key, SessionID: restored.Session, Messages: restored.Messages}
	if old.ID != "" {
		info := archiveInfo(old)
		if old.Kind == protocol.ArchiveReset {
			info.ArchivedTo = h.writeArchive(ctx, old)
		}
		out.Archived = &info
	}
	if restored.Kind != protocol.ArchiveReset { // the same conversation continues, with its permissions
		h.publishHistory(key)
		return out, nil
	}
	// Archiving the restored conversation again writes its file again.
	if err := os.Remove(h.archivePath(restored.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		slog.Warn("Removing the file of a restored archive failed", "session", key, "err", err)
	}
	h.publishHistory(key)
	return out, nil
}
