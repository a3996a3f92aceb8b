package session

import (
	"context"
	"errors"
	"log/slog"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session/archive"
	"fairlead/gateway/session/summary"
	"fairlead/gateway/store"
)

const (
	// defaultRetained is the number of messages that session.compact retains by default; it is that
	// of the original system.
	defaultRetained = 20
	// maxRequest is the length of the person's last request that a summary repeats, in bytes.
	maxRequest = 8000
)

// Compact shortens a chat to its last messages, archives the others and puts a summary in their
// place. A call and its result stay together, so it may retain a few more. It returns
// protocol.ErrConflict while a run is in progress. The gateway itself compacts a chat during a run
// when the model's context window is nearly full: see agent.Run and run.Shorten.
func (m *Manager) Compact(ctx context.Context, in protocol.SessionCompactParams) (protocol.SessionCompactResult, error) {
	out := protocol.SessionCompactResult{OK: true}
	retain := defaultRetained
	if in.KeepMessages != nil {
		retain = *in.KeepMessages
	}
	if retain < 1 {
		return protocol.SessionCompactResult{}, protocol.ErrBadRequest.With("keepMessages must be 1 or more")
	}
	key := m.Canonical(in.SessionKey)
	s, err := m.store.Sessions.Get(ctx, key)
	if errors.Is(err, protocol.ErrNotFound) {
		return out, nil // nobody has written to it yet
	}
	if err != nil {
		return protocol.SessionCompactResult{}, m.pauseOnStoreError(err)
	}
	if err := m.blockIdle(ctx, key, "shorten the chat"); err != nil {
		return protocol.SessionCompactResult{}, err
	}
	defer m.unblock(key)
	msgs, err := m.store.Messages.List(ctx, key, 0, 0)
	if err != nil {
		return protocol.SessionCompactResult{}, err
	}
	at := summary.Boundary(msgs, summary.Position(msgs, retain), 1)
	out.KeptMessages = summary.Count(msgs[at:])
	if at == 0 {
		return out, nil
	}
	var model llm.Model
	var info protocol.ModelInfo
	if ref, _ := m.settings.model(s, nil); ref.Provider != builtIn {
		if model, info, err = m.opts.Models.Open(ctx, ref); err != nil {
			slog.Warn("Opening the model failed; the chat is shortened without a summary", "session", key, "err", err)
		}
	}
	file, notice, err := m.compact(ctx, s, model, info, msgs, at, in.Focus)
	if err != nil {
		return protocol.SessionCompactResult{}, err
	}
	out.TrimmedMessages, out.ArchivedTo = notice.Compaction.Messages, file
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: key})
	return out, nil
}

// Uncompact reverts the last compaction.
func (m *Manager) Uncompact(ctx context.Context, in protocol.SessionParams) (protocol.SessionUncompactResult, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.Sessions.Get(ctx, key); errors.Is(err, protocol.ErrNotFound) {
		return protocol.SessionUncompactResult{OK: true}, nil // nobody has written to it yet
	} else if err != nil {
		return protocol.SessionUncompactResult{}, m.pauseOnStoreError(err)
	}
	n, err := m.store.Archives.Uncompact(ctx, key, now())
	if err != nil {
		return protocol.SessionUncompactResult{}, m.pauseOnStoreError(err)
	}
	m.publishHistory(key)
	return protocol.SessionUncompactResult{OK: true, Messages: n}, nil
}

// compact archives msgs[:at] and puts a summary in their place. Without a model, or when the model
// fails, an outline replaces the summary. It returns the path of the archive's file, and the notice
// with the summary.
func (m *Manager) compact(ctx context.Context, s store.Session, model llm.Model, info protocol.ModelInfo, msgs []protocol.Message, at int, focus string) (file string, notice protocol.Message, err error) {
	old := msgs[:at]
	previous, _ := summary.Find(msgs, s.CompactedThrough)
	var sum summary.Summary
	if model == nil {
		sum.Text = summary.Outline(previous, old)
	} else if sum, err = (summary.Summarizer{Model: model, Info: info, Timeout: m.settings.modelTimeout()}).Summarize(ctx, previous, old, focus); err != nil {
		if ctx.Err() != nil {
			return "", notice, context.Cause(ctx)
		}
		slog.Warn("Summarizing failed; the chat is shortened without a summary", "session", s.Key, "err", err)
		sum = summary.Summary{Text: summary.Outline(previous, old)}
		model = nil
	}
	text := sum.Text
	if request, ok := summary.LastRequest(msgs, at); ok {
		text += "\n\nThe person's last request, word for word:\n" + summary.Shorten(request, maxRequest)
	}
	ctx = context.WithoutCancel(ctx)
	a, notice, err := m.store.Archives.Compact(ctx, s.Key, old[len(old)-1].Seq, now(), protocol.Message{
		Role: protocol.RoleUser, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text(summary.Notice + text)}, Timestamp: now(),
	})
	if err != nil {
		return "", notice, m.pauseOnStoreError(err)
	}
	file = m.archives.WriteFile(ctx, a)
	if model != nil {
		m.memories.saveCompacted(ctx, a, sum.Memories)
		// The summary's tokens count like those of an answer.
		if _, err := m.store.Sessions.Update(ctx, s.Key, func(s *store.Session) { s.Usage.Add(sum.Usage) }); err != nil {
			slog.Warn("Counting the tokens of a summary failed", "session", s.Key, "err", m.pauseOnStoreError(err))
		}
	}
	m.publishMessage(s.Key, notice)
	m.publishSession(s.Key)
	return file, notice, nil
}

// Archives lists a chat's archives, newest first.
func (m *Manager) Archives(ctx context.Context, in protocol.SessionParams) (protocol.SessionArchivesResult, error) {
	return m.archives.List(ctx, m.Canonical(in.SessionKey))
}

// ReadArchive returns the messages of an archive.
func (m *Manager) ReadArchive(ctx context.Context, in protocol.SessionArchiveReadParams) (protocol.SessionArchiveReadResult, error) {
	in.SessionKey = m.Canonical(in.SessionKey)
	return m.archives.Read(ctx, in)
}

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
	if err := m.blockIdle(ctx, key, "restore the earlier conversation"); err != nil {
		return out, err
	}
	defer m.unblock(key)
	restored, old, err := m.store.Archives.Restore(ctx, key, in.ID, now())
	if err != nil {
		return out, m.pauseOnStoreError(err)
	}
	ctx = context.WithoutCancel(ctx) // from here on the restore must be completed
	out = protocol.SessionArchiveRestoreResult{OK: true, SessionKey: key, SessionID: restored.Session, Messages: restored.Messages}
	if old.ID != "" {
		info := archive.Info(old)
		info.ArchivedTo = m.archives.WriteFile(ctx, old)
		out.Archived = &info
	}
	m.archives.RemoveFile(restored)
	err = m.store.Grants.DeleteAll(ctx, key)
	m.publishHistory(key)
	return out, m.pauseOnStoreError(err)
}
