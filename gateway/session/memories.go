package session

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

// memories saves facts from chats to the notes of their agents.
type memories struct {
	settings settings
	sessions *store.Sessions
	archives *store.Archives
	files    *workspace.Files // of all agents
	tasks    modelTasks
	workers  *crash.Workers
	scanning sync.Mutex // held during a scan: meanwhile the chat may have been restored and reset again
}

// areSaved reports whether facts from a chat may be saved.
func (m *memories) areSaved(key protocol.SessionKey) bool {
	cfg := m.settings.config()
	return cfg.Compaction.Enabled && cfg.Compaction.ExtractMemories && isPrivate(cfg.Session, key)
}

// save adds facts from a part of a session to the agent's notes, and stores the last
// scanned message.
func (m *memories) save(ctx context.Context, a store.Archive, facts string, at time.Time) error {
	if !m.areSaved(a.Key) {
		return nil
	}
	if facts != "" {
		at = at.In(m.settings.zone())
		files, err := m.files.Of(a.Key.Agent())
		if err == nil {
			err = files.Note(at, fmt.Sprintf("## %s, from %s\n\n%s\n", at.Format("15:04"), a.Key, facts))
		}
		if err != nil {
			return err
		}
	}
	return m.sessions.SetMemoryCursor(ctx, a.Key, a.Session, a.Last)
}

// saveCompacted saves the facts from compacted messages. Unless these directly follow the
// last scanned one, as after a restore or an undone compaction, the chat's reset scans the rest.
func (m *memories) saveCompacted(ctx context.Context, a store.Archive, facts string) {
	cursor, err := m.sessions.MemoryCursor(ctx, a.Session)
	if err == nil && a.First == cursor+1 {
		err = m.save(ctx, a, facts, time.Now())
	}
	if err != nil {
		slog.Warn("Writing the agent's notes failed", "session", a.Key, "err", err)
	}
}

// saveReset extracts the facts from a chat that was reset, in the background.
func (m *memories) saveReset(s store.Session, a store.Archive) {
	ref, _ := m.settings.model(s, nil)
	if a.Messages < 2 || !m.areSaved(s.Key) || ref.Provider == builtIn || m.workers.Context().Err() != nil {
		return
	}
	m.workers.Go(func() {
		m.scanning.Lock()
		defer m.scanning.Unlock()
		if err := m.scan(s, a, ref); err != nil && m.workers.Context().Err() == nil {
			slog.Warn("Extracting memories from a reset chat failed", "session", s.Key, "err", err)
		}
	})
}

// scan saves the facts from those messages of a reset chat that have not been scanned
// yet.
func (m *memories) scan(s store.Session, a store.Archive, ref protocol.ModelRef) error {
	cursor, err := m.sessions.MemoryCursor(m.workers.Context(), a.Session)
	if err != nil {
		return err
	}
	rest := a
	rest.First = max(a.First, cursor+1)
	if rest.Last <= rest.First { // no messages, or a message without an answer
		return nil
	}
	msgs, err := m.archives.Messages(m.workers.Context(), rest, 0, maxHistory)
	if err != nil {
		return err
	}
	model, err := m.tasks.open(m.workers.Context(), ref)
	if err != nil {
		return err
	}
	sum, err := m.tasks.summarize(m.workers.Context(), *model, "", msgs, "")
	if err != nil {
		return err
	}
	return m.save(m.workers.Context(), a, sum.Memories, time.UnixMilli(s.LastActiveAt))
}
