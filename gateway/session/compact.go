package session

import (
	"context"
	"errors"
	"log/slog"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
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
func (h *history) Compact(ctx context.Context, in protocol.SessionCompactParams) (protocol.SessionCompactResult, error) {
	out := protocol.SessionCompactResult{OK: true}
	retain := defaultRetained
	if in.KeepMessages != nil {
		retain = *in.KeepMessages
	}
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
	if err := h.blockIdle(ctx, key, "shorten the chat"); err != nil {
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
	var model llm.Model
	var info protocol.ModelInfo
	if ref, _ := h.settings.model(s, nil); ref.Provider != builtIn {
		if model, info, err = h.models.Open(ctx, ref); err != nil {
			slog.Warn("Opening the model failed; the chat is shortened without a summary", "session", key, "err", err)
		}
	}
	file, notice, err := h.compact(ctx, s, model, info, msgs, at, in.Focus)
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
	if _, err := h.store.Sessions.Get(ctx, key); errors.Is(err, protocol.ErrNotFound) {
		return protocol.SessionUncompactResult{OK: true}, nil // nobody has written to it yet
	} else if err != nil {
		return protocol.SessionUncompactResult{}, h.pause.onStoreError(err)
	}
	n, err := h.store.Archives.Uncompact(ctx, key, now())
	if err != nil {
		return protocol.SessionUncompactResult{}, h.pause.onStoreError(err)
	}
	h.publishHistory(key)
	return protocol.SessionUncompactResult{OK: true, Messages: n}, nil
}

// compact archives msgs[:at] and puts a summary in their place. Without a model, or when the model
// fails, an outline replaces the summary. It returns the path of the archive's file, and the notice
// with the summary.
func (h *history) compact(ctx context.Context, s store.Session, model llm.Model, info protocol.ModelInfo, msgs []protocol.Message, at int, focus string) (file string, notice protocol.Message, err error) {
	old := msgs[:at]
	previous, _ := summary.Find(msgs, s.CompactedThrough)
	var sum summary.Summary
	if model == nil {
		sum.Text = summary.Outline(previous, old)
	} else if sum, err = (summary.Summarizer{Model: model, Info: info, Timeout: h.settings.modelTimeout()}).Summarize(ctx, previous, old, focus); err != nil {
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
		h.memories.saveCompacted(ctx, a, sum.Memories)
		// The summary's tokens count like those of an answer.
		if _, err := h.store.Sessions.Update(ctx, s.Key, func(s *store.Session) { s.Usage.Add(sum.Usage) }); err != nil {
			slog.Warn("Counting the tokens of a summary failed", "session", s.Key, "err", h.pause.onStoreError(err))
		}
	}
	h.publishMessage(s.Key, notice)
	h.publishSession(s.Key)
	return file, notice, nil
}
