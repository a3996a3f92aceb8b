package session

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// builtIn is the provider that works without a model. It follows simple requests and cannot
// summarize.
const builtIn = "operator"

// remembers reports whether facts from a chat may be saved in the agent's notes.
func (m *Manager) remembers(key protocol.SessionKey) bool {
	cfg := m.opts.Config()
	return cfg.Compaction.Enabled && cfg.Compaction.ExtractMemories && private(cfg.Session, key)
}

// note adds facts from one part of a session to the agent's notes of a day, and stores the last
// scanned message.
func (m *Manager) note(ctx context.Context, key protocol.SessionKey, id protocol.SessionID, through int64, memories string, at time.Time) error {
	if !m.remembers(key) {
		return nil
	}
	if memories != "" {
		at = at.In(m.zone())
		files, err := m.opts.Files.Of(agentOf(key))
		if err == nil {
			err = files.Note(at, fmt.Sprintf("## %s, from %s\n\n%s\n", at.Format("15:04"), key, memories))
		}
		if err != nil {
			return err
		}
	}
	return m.store.Sessions.SetMemoryCursor(ctx, key, id, through)
}

// noteCondensed saves the facts from the messages of a compaction. It does nothing unless these
// messages directly follow the last scanned one, which is not the case after a restore or an undone
// compaction: then the chat's reset scans the rest.
func (m *Manager) noteCondensed(ctx context.Context, a store.Archive, memories string) {
	before, err := m.store.Sessions.MemoryCursor(ctx, a.Session)
	if err == nil && a.First == before+1 {
		err = m.note(ctx, a.Key, a.Session, a.Last, memories, time.UnixMilli(m.now()))
	}
	if err != nil {
		slog.Warn("The agent's notes could not be written", "session", a.Key, "err", err)
	}
}

// remember extracts the facts from a chat that was reset, in the background.
func (m *Manager) remember(s store.Session, a store.Archive) {
	ref, _ := m.modelOf(s, nil)
	if a.Messages < 2 || !m.remembers(s.Key) || ref.Provider == builtIn || m.ctx.Err() != nil {
		return
	}
	m.wg.Go(func() {
		select { // one at a time: meanwhile the chat may have been restored and reset again
		case m.noting <- struct{}{}:
			defer func() { <-m.noting }()
		case <-m.ctx.Done():
			return
		}
		if err := m.look(s, a, ref); err != nil {
			slog.Warn("Nothing was noted of a chat that was reset", "session", s.Key, "err", err)
		}
	})
}

// look saves the facts from those messages of a reset chat that have not been scanned yet.
func (m *Manager) look(s store.Session, a store.Archive, ref protocol.ModelRef) error {
	before, err := m.store.Sessions.MemoryCursor(m.ctx, a.Session)
	if err != nil {
		return err
	}
	part := a
	part.First = max(a.First, before+1)
	if part.Last <= part.First { // no messages, or a message without an answer
		return nil
	}
	msgs, err := m.store.Archives.Messages(m.ctx, part, 0, maxHistory)
	if err != nil {
		return err
	}
	model, info, err := m.opts.Models.Open(m.ctx, ref)
	if err != nil {
		return err
	}
	d, err := m.digest(m.ctx, model, info, "", msgs, "")
	if err != nil {
		return err
	}
	return m.note(m.ctx, s.Key, a.Session, a.Last, d.memories, time.UnixMilli(s.LastActiveAt))
}
