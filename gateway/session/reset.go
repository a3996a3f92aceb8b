package session

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"

	"fairlead/gateway/protocol"
)

// Reset begins a chat afresh: what runs is stopped, the messages go to the archive.
func (m *Manager) Reset(ctx context.Context, in protocol.SessionParams) (protocol.SessionResetResult, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.EnsureSession(ctx, key, m.now()); err != nil {
		return protocol.SessionResetResult{}, err
	}
	if err := m.quiet(ctx, key); err != nil {
		return protocol.SessionResetResult{}, err
	}
	defer m.unblock(key)
	next := protocol.SessionID(protocol.NewID())
	old, archived, err := m.store.Reset(ctx, key, next, m.now())
	if err != nil {
		return protocol.SessionResetResult{}, m.stored(err)
	}
	out := protocol.SessionResetResult{OK: true, SessionKey: key, OldSessionID: old.ID, NewSessionID: next, ArchivedMessages: len(archived), TokensCleared: tokens(old.Usage)}
	if err := m.store.DropGrants(ctx, key); err != nil {
		return out, err
	}
	if len(archived) > 0 {
		var lines bytes.Buffer
		for _, msg := range archived {
			raw, err := protocol.Marshal(msg)
			if err != nil {
				return out, err
			}
			lines.Write(raw)
			lines.WriteByte('\n')
		}
		name := filepath.Join("archive", string(old.ID)+".jsonl")
		if err := writeFile(filepath.Join(m.opts.Home, name), lines.Bytes()); err != nil {
			slog.Error("The archive file could not be written; the messages stay in the database", "session", key, "err", err)
		} else {
			out.ArchivedTo = filepath.ToSlash(name)
		}
	}
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: key})
	m.publishSession(key)
	return out, nil
}

// quiet stops everything of a session and keeps new runs from starting until unblock.
func (m *Manager) quiet(ctx context.Context, key protocol.SessionKey) error {
	var wait []<-chan struct{}
	if err := m.do(ctx, key, func(s *session) { s.block++; wait = s.clear() }); err != nil {
		return err
	}
	for _, done := range wait {
		select {
		case <-done:
		case <-ctx.Done():
			m.unblock(key)
			return ctx.Err()
		}
	}
	return nil
}

func (m *Manager) unblock(key protocol.SessionKey) {
	m.do(context.WithoutCancel(m.ctx), key, func(s *session) { s.block--; s.next() })
}
