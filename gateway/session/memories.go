package session

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/session/summary"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

// memories saves facts from chats in the agent's notes. It is safe for concurrent use.
type memories struct {
	ctx      context.Context
	store    *store.DB
	settings settings
	models   Models
	files    *workspace.Files
	wg       *sync.WaitGroup
	slot     chan struct{} // semaphore: one chat at a time is scanned
}

// isEnabled reports whether facts from a chat may be saved.
func (r *memories) isEnabled(key protocol.SessionKey) bool {
	cfg := r.settings.config()
	return cfg.Compaction.Enabled && cfg.Compaction.ExtractMemories && isPrivate(cfg.Session, key)
}

// save adds facts from one part of a session to the agent's notes of a day, and stores the last
// scanned message.
func (r *memories) save(ctx context.Context, a store.Archive, facts string, at time.Time) error {
	if !r.isEnabled(a.Key) {
		return nil
	}
	if facts != "" {
		at = at.In(r.settings.zone())
		files, err := r.files.Of(a.Key.Agent())
		if err == nil {
			err = files.Note(at, fmt.Sprintf("## %s, from %s\n\n%s\n", at.Format("15:04"), a.Key, facts))
		}
		if err != nil {
			return err
		}
	}
	return r.store.Sessions.SetMemoryCursor(ctx, a.Key, a.Session, a.Last)
}

// saveCompacted saves the facts from the messages of a compaction. It does nothing unless these
// messages directly follow the last scanned one, which is not the case after a restore or an undone
// compaction: then the chat's reset scans the rest.
func (r *memories) saveCompacted(ctx context.Context, a store.Archive, facts string) {
	cursor, err := r.store.Sessions.MemoryCursor(ctx, a.Session)
	if err == nil && a.First == cursor+1 {
		err = r.save(ctx, a, facts, time.Now())
	}
	if err != nil {
		slog.Warn("Writing the agent's notes failed", "session", a.Key, "err", err)
	}
}

// scan extracts the facts from a chat that was reset, in the background.
func (r *memories) scan(s store.Session, a store.Archive) {
	ref, _ := r.settings.model(s, nil)
	if a.Messages < 2 || !r.isEnabled(s.Key) || ref.Provider == builtIn || r.ctx.Err() != nil {
		return
	}
	r.wg.Go(func() {
		select { // one at a time: meanwhile the chat may have been restored and reset again
		case r.slot <- struct{}{}:
			defer func() { <-r.slot }()
		case <-r.ctx.Done():
			return
		}
		if err := r.scanRest(s, a, ref); err != nil {
			slog.Warn("Extracting memories from a reset chat failed", "session", s.Key, "err", err)
		}
	})
}

// scanRest saves the facts from those messages of a reset chat that have not been scanned yet.
func (r *memories) scanRest(s store.Session, a store.Archive, ref protocol.ModelRef) error {
	cursor, err := r.store.Sessions.MemoryCursor(r.ctx, a.Session)
	if err != nil {
		return err
	}
	rest := a
	rest.First = max(a.First, cursor+1)
	if rest.Last <= rest.First { // no messages, or a message without an answer
		return nil
	}
	msgs, err := r.store.Archives.Messages(r.ctx, rest, 0, maxHistory)
	if err != nil {
		return err
	}
	model, info, err := r.models.Open(r.ctx, ref)
	if err != nil {
		return err
	}
	sum, err := summary.Summarizer{Model: model, Info: info, Timeout: r.settings.modelTimeout()}.Summarize(r.ctx, "", msgs, "")
	if err != nil {
		return err
	}
	return r.save(r.ctx, a, sum.Memories, time.UnixMilli(s.LastActiveAt))
}
