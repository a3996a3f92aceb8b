package session

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"fairlead/gateway/protocol"
	"fairlead/gateway/session/summary"
	"fairlead/gateway/store"
)

var (
	errNotInChat    = protocol.ErrNotFound.With("The message is no longer in this chat, or a summary has replaced it.")
	errNotAPersons  = protocol.ErrBadRequest.With("only a message of yours, or an answer to one, can be sent again")
	errOwnCommand   = protocol.ErrConflict.With("A command of yours is still running in this chat. Wait for it or stop it first.")
	errStarting     = protocol.ErrUnavailable.With("The gateway is still starting. Try again in a moment.")
	errStillWriting = protocol.ErrConflict.With("This answer is still being written. Wait for it or stop it first.")
)

const (
	// defaultRetained is the number of messages that session.compact retains by default; it is that
	// of GSV.
	defaultRetained = 20
	// maxRequest is the length of the person's last request that a summary repeats, in bytes.
	maxRequest = 8000
)

// Editor changes the messages of a chat while none of its runs is in progress. It is safe for
// concurrent use.
type Editor struct {
	chats    *Chats
	history  *History
	runs     *Runs
	sessions *store.Sessions
	messages *store.Messages
	archives *store.Archives
	pause    *pause
}

// Reset stops a chat's runs, archives its messages and starts a new session ID. A chat without
// messages only gets a new ID and is not stored.
func (e *Editor) Reset(ctx context.Context, in protocol.SessionParams) (protocol.SessionResetResult, error) {
	key := e.chats.Canonical(in.SessionKey)
	next := protocol.SessionID(protocol.NewID())
	switch old, exists, err := e.sessions.ResetUnsaved(ctx, key, next, now()); {
	case err != nil:
		return protocol.SessionResetResult{}, e.pause.onStoreError(err)
	case !exists:
		return protocol.SessionResetResult{OK: true, SessionKey: key, OldSessionID: old.ID, NewSessionID: next}, nil
	}
	if err := e.runs.stopAndBlock(ctx, key); err != nil {
		return protocol.SessionResetResult{}, err
	}
	defer e.runs.unblock(key)
	return e.history.reset(ctx, key)
}

// Compact shortens a chat to its last messages, archives the others and puts a summary in their
// place. A call and its result stay together. It returns protocol.ErrConflict while a run is in
// progress.
func (e *Editor) Compact(ctx context.Context, in protocol.SessionCompactParams) (protocol.SessionCompactResult, error) {
	out := protocol.SessionCompactResult{OK: true}
	retain := defaultRetained
	set(&retain, in.KeepMessages)
	if retain < 1 {
		return protocol.SessionCompactResult{}, protocol.ErrBadRequest.With("keepMessages must be 1 or more")
	}
	key := e.chats.Canonical(in.SessionKey)
	s, err := e.sessions.Get(ctx, key)
	if errors.Is(err, protocol.ErrNotFound) {
		return out, nil // nobody has written to it yet
	}
	if err != nil {
		return protocol.SessionCompactResult{}, e.pause.onStoreError(err)
	}
	if err := e.runs.blockIdle(key, "shorten the chat"); err != nil {
		return protocol.SessionCompactResult{}, err
	}
	defer e.runs.unblock(key)
	msgs, err := e.messages.List(ctx, key, 0, 0)
	if err != nil {
		return protocol.SessionCompactResult{}, err
	}
	at := summary.Boundary(msgs, summary.Position(msgs, retain), 1)
	out.KeptMessages = summary.Count(msgs[at:])
	if at == 0 {
		return out, nil
	}
	var model *openModel
	if ref, _ := e.chats.settings.model(s, nil); ref.Provider != builtIn {
		if model, err = e.history.tasks.open(ctx, ref); err != nil {
			slog.Warn("Opening the model failed; the chat is shortened without a summary", "session", key, "err", err)
		}
	}
	file, notice, err := e.history.compact(ctx, s, model, msgs, at, in.Focus)
	if err != nil {
		return protocol.SessionCompactResult{}, err
	}
	out.TrimmedMessages, out.ArchivedTo = notice.Compaction.Messages, file
	e.chats.bus.Publish(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: key})
	return out, nil
}

// Uncompact reverts the last compaction.
func (e *Editor) Uncompact(ctx context.Context, in protocol.SessionParams) (protocol.SessionUncompactResult, error) {
	key := e.chats.Canonical(in.SessionKey)
	n, err := e.archives.Uncompact(ctx, key, now())
	if errors.Is(err, protocol.ErrNotFound) {
		return protocol.SessionUncompactResult{OK: true}, nil // nobody has written to it yet
	}
	if err != nil {
		return protocol.SessionUncompactResult{}, e.pause.onStoreError(err)
	}
	e.chats.publishHistory(key)
	return protocol.SessionUncompactResult{OK: true, Messages: n}, nil
}

// RestoreArchive replaces a chat's conversation with an archived one, after archiving it; or undoes
// an edit, which stops the run in progress, or a deletion.
func (e *Editor) RestoreArchive(ctx context.Context, in protocol.SessionArchiveRestoreParams) (protocol.SessionArchiveRestoreResult, error) {
	var out protocol.SessionArchiveRestoreResult
	if in.ID == "" {
		return out, protocol.ErrBadRequest.With("id required")
	}
	key := e.chats.Canonical(in.SessionKey)
	back, err := e.archives.Get(ctx, key, in.ID)
	if err != nil { // checked before the chat is blocked
		return out, err
	}
	if back.Kind == protocol.ArchiveEdit {
		err = e.runs.stopRunAndBlock(ctx, key) // the run answers what is replaced
	} else {
		err = e.runs.blockIdle(key, "restore the earlier conversation")
	}
	if err != nil {
		return out, err
	}
	defer e.runs.unblock(key)
	if e.runs.hasCommands(key) {
		return out, errOwnCommand
	}
	restored, old, err := e.archives.Restore(ctx, key, in.ID, now())
	if err != nil {
		return out, e.pause.onStoreError(err)
	}
	ctx = context.WithoutCancel(ctx) // from here on the restore must be completed
	out = protocol.SessionArchiveRestoreResult{OK: true, SessionKey: key, SessionID: restored.Session, Messages: restored.Messages}
	if old.ID != "" {
		info := archiveInfo(old)
		if old.Kind == protocol.ArchiveReset {
			info.ArchivedTo = e.history.files.write(ctx, old)
		}
		out.Archived = &info
	}
	if restored.Kind != protocol.ArchiveReset { // the same conversation continues, with its permissions
		e.chats.publishHistory(key)
		return out, nil
	}
	// Archiving the restored conversation again writes its file again.
	if err := os.Remove(e.history.files.path(restored.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		slog.Warn("Removing the file of a restored archive failed", "session", key, "err", err)
	}
	e.chats.publishHistory(key)
	return out, nil
}

// DeleteMessage deletes a message of the person, their command with its result, or a whole answer.
func (e *Editor) DeleteMessage(ctx context.Context, in protocol.MessageParams) (out protocol.MessageDeleteResult, err error) {
	key := e.chats.Canonical(in.SessionKey)
	if err := e.runs.blockIdle(key, "delete the message"); err != nil {
		return out, err
	}
	defer e.runs.unblock(key)
	if e.runs.hasCommands(key) {
		return out, errOwnCommand
	}
	msgs, at, err := e.history.conversation(ctx, key, in.MessageID)
	if err != nil {
		return out, err
	}
	removed := now()
	a, err := e.archives.Delete(ctx, key, together(msgs, at), removed)
	if err != nil {
		return out, e.pause.onStoreError(err)
	}
	e.chats.publishHistory(key)
	return protocol.MessageDeleteResult{OK: true, ArchiveID: a.ID, Messages: a.Messages, UndoUntil: removed + protocol.UndoMillis}, nil
}

// together returns the messages that are deleted with one: a command with its result, an answer with
// its calls and their results.
func together(msgs []protocol.Message, at int) []protocol.MessageID {
	m := msgs[at]
	begin, end := at, at+1
	belongs := func(protocol.Message) bool { return true }
	switch {
	case m.Origin == protocol.OriginDirect && m.RunID != "":
		begin, end = 0, len(msgs)
		belongs = func(o protocol.Message) bool { return o.RunID == m.RunID }
	case m.Origin != protocol.OriginDirect && m.Compaction == nil && !beginsTurn(m):
		begin, end = turnOf(msgs, at)
		belongs = func(o protocol.Message) bool { return o.Origin != protocol.OriginDirect && o.Compaction == nil }
	}
	var ids []protocol.MessageID
	for _, o := range msgs[begin:end] {
		if belongs(o) {
			ids = append(ids, o.ID)
		}
	}
	return ids
}
