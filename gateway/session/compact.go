package session

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// defaultKeep is the number of messages that session.compact retains by default; it is that of the
// original system.
const defaultKeep = 20

// Compact shortens a chat to its last messages, archives the others and puts a summary in their
// place. A call and its result stay together, so it may retain a few more. It returns
// protocol.ErrConflict while a run is in progress.
func (m *Manager) Compact(ctx context.Context, in protocol.SessionCompactParams) (protocol.SessionCompactResult, error) {
	out := protocol.SessionCompactResult{OK: true}
	keep := defaultKeep
	if in.KeepMessages != nil {
		keep = *in.KeepMessages
	}
	if keep < 1 {
		return protocol.SessionCompactResult{}, protocol.ErrBadRequest.With("keepMessages must be 1 or more")
	}
	key := m.Canonical(in.SessionKey)
	s, err := m.store.Sessions.Get(ctx, key)
	if errors.Is(err, protocol.ErrNotFound) {
		return out, nil // nobody has written to it yet
	}
	if err != nil {
		return protocol.SessionCompactResult{}, m.stored(err)
	}
	if err := m.still(ctx, key, "shorten the chat"); err != nil {
		return protocol.SessionCompactResult{}, err
	}
	defer m.unblock(key)
	msgs, err := m.store.Messages.List(ctx, key, 0, 0)
	if err != nil {
		return protocol.SessionCompactResult{}, err
	}
	at := boundary(msgs, before(msgs, keep), 1)
	out.KeptMessages = counted(msgs[at:])
	if at == 0 {
		return out, nil
	}
	var model llm.Model
	var info protocol.ModelInfo
	if ref, _ := m.modelOf(s, nil); ref.Provider != builtIn {
		if model, info, err = m.opts.Models.Open(ctx, ref); err != nil {
			slog.Warn("A chat is shortened without a summary", "session", key, "err", err)
		}
	}
	a, notice, err := m.shorten(ctx, s, model, info, msgs, at, in.Focus)
	if err != nil {
		return protocol.SessionCompactResult{}, err
	}
	out.TrimmedMessages = notice.Compaction.Messages
	if a.Size > 0 {
		out.ArchivedTo = archivePath(a.ID)
	}
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: key})
	return out, nil
}

// before returns the position behind which the last keep messages of a conversation are, or 0 when
// it has no more than keep. The notice about a compaction does not count as a message, so
// compacting twice to the same number changes nothing the second time, as in the original system.
func before(msgs []protocol.Message, keep int) int {
	for i, msg := range slices.Backward(msgs) {
		if msg.Compaction != nil {
			continue
		}
		if keep--; keep == 0 {
			return i
		}
	}
	return 0
}

// counted returns the number of messages, without notices.
func counted(msgs []protocol.Message) (n int) {
	for _, msg := range msgs {
		if msg.Compaction == nil {
			n++
		}
	}
	return n
}

// still prevents runs of a chat from starting until unblock. While a run is in progress it returns
// a protocol.ErrConflict that names the requested action, what.
func (m *Manager) still(ctx context.Context, key protocol.SessionKey, what string) error {
	busy := false
	var ending <-chan struct{} // of a run that has already sent its terminal event
	if err := m.do(ctx, key, func(s *session) {
		if s.run != nil {
			busy, ending = m.liveRun(s.run.run.ID) != nil, s.run.done
		}
		if !busy {
			s.block++
		}
	}); err != nil {
		return err
	}
	if busy {
		return protocol.ErrConflict.With("A run is in progress: wait for its end or send /stop, then " + what + ".")
	}
	if ending != nil {
		<-ending
	}
	return nil
}

// Uncompact reverts the last compaction.
func (m *Manager) Uncompact(ctx context.Context, in protocol.SessionParams) (protocol.SessionUncompactResult, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.Sessions.Get(ctx, key); errors.Is(err, protocol.ErrNotFound) {
		return protocol.SessionUncompactResult{OK: true}, nil // nobody has written to it yet
	} else if err != nil {
		return protocol.SessionUncompactResult{}, m.stored(err)
	}
	n, err := m.store.Archives.Uncompact(ctx, key, m.now())
	if err != nil {
		return protocol.SessionUncompactResult{}, m.stored(err)
	}
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: key})
	m.publishSession(key)
	return protocol.SessionUncompactResult{OK: true, Messages: n}, nil
}

// shorten archives msgs[:at] and puts a summary in their place. Without a model, or when the model
// fails, an outline replaces the summary.
func (m *Manager) shorten(ctx context.Context, s store.Session, model llm.Model, info protocol.ModelInfo, msgs []protocol.Message, at int, focus string) (store.Archive, protocol.Message, error) {
	old := msgs[:at]
	previous, _ := summaryOf(msgs, s.Cut)
	var d digest
	err := protocol.ErrModel.With("no model")
	if model != nil {
		var digestErr error
		if d, digestErr = m.digest(ctx, model, info, previous, old, focus); digestErr == nil {
			err = nil
		} else if ctx.Err() != nil {
			return store.Archive{}, protocol.Message{}, context.Cause(ctx)
		} else {
			slog.Warn("A chat is shortened without a summary", "session", s.Key, "err", digestErr)
		}
	}
	if err != nil {
		d.summary = outline(previous, old)
	}
	if asked, ok := lastAsked(msgs, at); ok {
		d.summary += "\n\nThe person's last request, word for word:\n" + ends(asked, 8000)
	}
	ctx = context.WithoutCancel(ctx)
	a, notice, err2 := m.store.Archives.Compact(ctx, s.Key, old[len(old)-1].Seq, m.now(), protocol.Message{
		Role: protocol.RoleUser, Origin: protocol.OriginNotice,
		Content: protocol.Content{protocol.Text(shortened + d.summary)}, Timestamp: m.now(),
	})
	if err2 != nil {
		return store.Archive{}, protocol.Message{}, m.stored(err2)
	}
	if m.keepArchive(ctx, a) != "" {
		a.Size = 1 // the file exists
	}
	if err == nil {
		m.noteCondensed(ctx, a, d.memories)
		// The summary's tokens count like those of an answer.
		if _, err := m.store.Sessions.Update(ctx, s.Key, func(s *store.Session) { s.Usage.Add(d.usage) }); err != nil {
			slog.Warn("What a summary took could not be counted", "session", s.Key, "err", m.stored(err))
		}
	}
	m.publishMessage(s.Key, notice)
	m.publishSession(s.Key)
	return a, notice, nil
}

// shortened is the beginning of the notice about a compaction.
const shortened = "This chat was shortened: the agent goes on from this summary of what came before. The messages themselves are kept; /compact undo brings them back.\n\n"

// Shorten implements agent.Sink: it reduces the chat to its newest messages of about keep tokens.
// It returns nil if nothing can be removed.
func (l *live) Shorten(ctx context.Context, keep int64) ([]protocol.Message, error) {
	m := l.m
	s, err := m.store.Sessions.Get(ctx, l.run.Session)
	if err != nil {
		return nil, m.stored(err)
	}
	msgs, err := m.store.Messages.List(ctx, s.Key, 0, 0)
	if err != nil {
		return nil, m.stored(err)
	}
	want, sum := len(msgs), int64(0)
	for want > 1 && (sum == 0 || sum+llm.EstimateTokens(msgs[want-1:want]) <= keep) {
		want--
		sum += llm.EstimateTokens(msgs[want : want+1])
	}
	at := boundary(msgs, want, 2)
	// A long message of the person fills most of the retained part.
	if llm.EstimateTokens(msgs[at:]) > 2*max(keep, sum) {
		at = boundary(msgs, want, 1)
	}
	if at == 0 {
		return nil, nil
	}
	l.State(protocol.RunThinking, "Summarising the chat so far to make room")
	model, info := l.model, l.modelInfo
	if l.snapshot().Model.Provider == builtIn {
		model = nil
	}
	_, notice, err := m.shorten(ctx, s, model, info, msgs, at, "")
	if err != nil {
		if errors.Is(err, protocol.ErrConflict) {
			return nil, nil
		}
		return nil, err
	}
	return view(append(slices.Clone(msgs[at:]), notice), notice.Compaction.Through), nil
}
