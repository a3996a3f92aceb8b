package session

import (
	"context"
	"log/slog"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session/summary"
	"fairlead/gateway/store"
)

// compact archives msgs[:at] and puts a summary in their place; without a model, or when it fails,
// an outline. It returns the path of the archive's file, and the notice with the summary.
func (h *History) compact(ctx context.Context, s store.Session, model *openModel, msgs []protocol.Message, at int, focus string) (file string, notice protocol.Message, err error) {
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
	a, notice, err := h.archives.Compact(ctx, s.Key, old[len(old)-1].Seq, now(), protocol.Message{
		Role: protocol.RoleUser, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text(summary.Notice + text)}, Timestamp: now(),
	})
	if err != nil {
		return "", notice, h.pause.onStoreError(err)
	}
	file = h.files.write(ctx, a)
	if model != nil {
		h.memories.saveCompacted(ctx, a, sum.Memories)
		// The summary's tokens count like those of an answer.
		if _, err := h.sessions.Update(ctx, s.Key, func(s *store.Session) { s.Usage.Add(sum.Usage) }); err != nil {
			slog.Warn("Counting the tokens of a summary failed", "session", s.Key, "err", h.pause.onStoreError(err))
		}
	}
	h.chats.publishMessage(s.Key, notice)
	h.chats.publishSession(s.Key)
	return file, notice, nil
}

// cutForTokens returns the position at which a conversation is cut so that about keep tokens
// remain, or 0.
func cutForTokens(msgs []protocol.Message, keep int64) int {
	want, sum := len(msgs), int64(0)
	for want > 1 && (sum == 0 || sum+llm.EstimateTokens(msgs[want-1:want]) <= keep) {
		want--
		sum += llm.EstimateTokens(msgs[want : want+1])
	}
	at := summary.Boundary(msgs, want, 2)
	// A long message of the person fills most of the retained part.
	if llm.EstimateTokens(msgs[at:]) > 2*max(keep, sum) {
		at = summary.Boundary(msgs, want, 1)
	}
	return at
}
