package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/session/summary"
	"fairlead/gateway/store"
)

const (
	// defaultRetained is the number of messages that session.compact retains by default; it is that
	// of GSV.
	defaultRetained = 20
	// maxRequest is the length of the person's last request that a summary repeats, in bytes.
	maxRequest = 8000
)

// Compact shortens a chat to its last messages, archives the others and puts a summary in their
// place. A call and its result stay together. It returns protocol.ErrConflict while a run is in
// progress.
func (h *history) Compact(ctx context.Context, in protocol.SessionCompactParams) (protocol.SessionCompactResult, error) {
	out := protocol.SessionCompactResult{OK: true}
	retain := defaultRetained
	set(&retain, in.KeepMessages)
	if retain < 1 {
		return protocol.SessionCompactResult{}, protocol.ErrBadRequest.With("keepMessages must be 1 or more")
	}
	key := h.Canonical(in.SessionKey)
	s, err := h.store.Sessions.Get(ctx, key)
	if errors.Is(err, protocol.ErrNotFound) {
		return out, nil // nobody has written to it yet
	}
	if err != nil {
		return protocol.SessionCompactResult{}, h.pause.onStoreError(err)
	}
	if err := h.blockIdle(key, "shorten the chat"); err != nil {
		return protocol.SessionCompactResult{}, err
	}
	defer h.unblock(key)
	msgs, err := h.store.Messages.List(ctx, key, 0, 0)
	if err != nil {
		return protocol.SessionCompactResult{}, err
	}
	at := summary.Boundary(msgs, summary.Position(msgs, retain), 1)
	out.KeptMessages = summary.Count(msgs[at:])
	if at == 0 {
		return out, nil
	}
	var model *openModel
	if ref, _ := h.settings.model(s, nil); ref.Provider != builtIn {
		if model, err = h.tasks.open(ctx, ref); err != nil {
			slog.Warn("Opening the model failed; the chat is shortened without a summary", "session", key, "err", err)
		}
	}
	file, notice, err := h.compact(ctx, s, model, msgs, at, in.Focus)
	if err != nil {
		return protocol.SessionCompactResult{}, err
	}
	out.TrimmedMessages, out.ArchivedTo = notice.Compaction.Messages, file
	h.bus.Publish(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: key})
	return out, nil
}

// Uncompact reverts the last compaction.
func (h *history) Uncompact(ctx context.Context, in protocol.SessionParams) (protocol.SessionUncompactResult, error) {
	key := h.Canonical(in.SessionKey)
	n, err := h.store.Archives.Uncompact(ctx, key, now())
	if errors.Is(err, protocol.ErrNotFound) {
		return protocol.SessionUncompactResult{OK: true}, nil // nobody has written to it yet
	}
	if err != nil {
		return protocol.SessionUncompactResult{}, h.pause.onStoreError(err)
	}
	h.publishHistory(key)
	return protocol.SessionUncompactResult{OK: true, Messages: n}, nil
}

// compact archives msgs[:at] and puts a summary in their place; without a model, or when it fails,
// an outline. It returns the path of the archive's file, and the notice with the summary.
func (h *history) compact(ctx context.Context, s store.Session, model *openModel, msgs []protocol.Message, at int, focus string) (file string, notice protocol.Message, err error) {
	old := msgs[:at]
	previous, _ := summary.Find(msgs, s.CompactedThrough)
	var sum summary.Summary
	if model == nil {
		sum.Text = summary.Outline(previous, old)
	} else if sum, err = h.tasks.summarize(ctx, *model, previous, old, focus); err != nil {
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
	a, notice, err := h.store.Archives.Compact(ctx, s.Key, old[len(old)-1].Seq, now(), protocol.Message{
		Role: protocol.RoleUser, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text(summary.Notice + text)}, Timestamp: now(),
	})
	if err != nil {
		return "", notice, h.pause.onStoreError(err)
	}
	file = h.writeArchive(ctx, a)
	if model != nil {
		h.saveCompactedMemories(ctx, a, sum.Memories)
		// The summary's tokens count like those of an answer.
		if _, err := h.store.Sessions.Update(ctx, s.Key, func(s *store.Session) { s.Usage.Add(sum.Usage) }); err != nil {
			slog.Warn("Counting the tokens of a summary failed", "session", s.Key, "err", h.pause.onStoreError(err))
		}
	}
	h.publishMessage(s.Key, notice)
	h.publishSession(s.Key)
	return file, notice, nil
}

// hasMemories reports whether facts from a chat may be saved.
func (h *history) hasMemories(key protocol.SessionKey) bool {
	cfg := h.settings.config()
	return cfg.Compaction.Enabled && cfg.Compaction.ExtractMemories && isPrivate(cfg.Session, key)
}

// saveMemories adds facts from a part of a session to the agent's notes, and stores the last
// scanned message.
func (h *history) saveMemories(ctx context.Context, a store.Archive, facts string, at time.Time) error {
	if !h.hasMemories(a.Key) {
		return nil
	}
	if facts != "" {
		at = at.In(h.settings.zone())
		files, err := h.files.Of(a.Key.Agent())
		if err == nil {
			err = files.Note(at, fmt.Sprintf("## %s, from %s\n\n%s\n", at.Format("15:04"), a.Key, facts))
		}
		if err != nil {
			return err
		}
	}
	return h.store.Sessions.SetMemoryCursor(ctx, a.Key, a.Session, a.Last)
}

// saveCompactedMemories saves the facts from compacted messages. Unless these directly follow the
// last scanned one, as after a restore or an undone compaction, the chat's reset scans the rest.
func (h *history) saveCompactedMemories(ctx context.Context, a store.Archive, facts string) {
	cursor, err := h.store.Sessions.MemoryCursor(ctx, a.Session)
	if err == nil && a.First == cursor+1 {
		err = h.saveMemories(ctx, a, facts, time.Now())
	}
	if err != nil {
		slog.Warn("Writing the agent's notes failed", "session", a.Key, "err", err)
	}
}

// saveResetMemories extracts the facts from a chat that was reset, in the background.
func (h *history) saveResetMemories(s store.Session, a store.Archive) {
	ref, _ := h.settings.model(s, nil)
	if a.Messages < 2 || !h.hasMemories(s.Key) || ref.Provider == builtIn || h.m.ctx.Err() != nil {
		return
	}
	h.wg.Go(func() {
		h.scanning.Lock()
		defer h.scanning.Unlock()
		if err := h.scanForMemories(s, a, ref); err != nil && h.m.ctx.Err() == nil {
			slog.Warn("Extracting memories from a reset chat failed", "session", s.Key, "err", err)
		}
	})
}

// scanForMemories saves the facts from those messages of a reset chat that have not been scanned
// yet.
func (h *history) scanForMemories(s store.Session, a store.Archive, ref protocol.ModelRef) error {
	cursor, err := h.store.Sessions.MemoryCursor(h.m.ctx, a.Session)
	if err != nil {
		return err
	}
	rest := a
	rest.First = max(a.First, cursor+1)
	if rest.Last <= rest.First { // no messages, or a message without an answer
		return nil
	}
	msgs, err := h.store.Archives.Messages(h.m.ctx, rest, 0, maxHistory)
	if err != nil {
		return err
	}
	model, err := h.tasks.open(h.m.ctx, ref)
	if err != nil {
		return err
	}
	sum, err := h.tasks.summarize(h.m.ctx, *model, "", msgs, "")
	if err != nil {
		return err
	}
	return h.saveMemories(h.m.ctx, a, sum.Memories, time.UnixMilli(s.LastActiveAt))
}
