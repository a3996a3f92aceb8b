package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Create creates an empty chat.
func (m *Manager) Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	key := m.Canonical(cmp.Or(in.SessionKey, newKey(m.opts.Config().Agents.Default())))
	if _, err := m.store.Sessions.Ensure(ctx, key, now()); err != nil {
		return protocol.SessionEntry{}, m.pause.onStoreError(err)
	}
	s, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) {
		if in.Label != "" {
			s.Label = in.Label
		}
		s.DeletedAt = 0
	})
	if err != nil {
		return protocol.SessionEntry{}, m.pause.onStoreError(err)
	}
	m.publishSession(key)
	return m.entry(s), nil
}

// Delete removes a chat. Restore can undo that for ten seconds.
func (m *Manager) Delete(ctx context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.Sessions.Get(ctx, key); err != nil {
		return protocol.SessionDeleteResult{}, err
	}
	if err := m.stopAndBlock(ctx, key); err != nil {
		return protocol.SessionDeleteResult{}, err
	}
	defer m.unblock(key)
	at := now()
	if _, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) { s.DeletedAt = at }); err != nil {
		return protocol.SessionDeleteResult{}, m.pause.onStoreError(err)
	}
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeSessionDeleted, SessionKey: key})
	return protocol.SessionDeleteResult{OK: true, UndoUntil: at + protocol.UndoMillis}, nil
}

// Restore undoes the deletion of a chat.
func (m *Manager) Restore(ctx context.Context, in protocol.SessionParams) (protocol.OK, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) { s.DeletedAt = 0 }); err != nil {
		if errors.Is(err, protocol.ErrNotFound) {
			err = protocol.ErrNotFound.With("The chat can no longer be restored.")
		}
		return protocol.OK{}, err
	}
	m.publishSession(key)
	return protocol.OK{OK: true}, nil
}

// purgeInterval is the interval at which deleted chats are removed permanently.
const purgeInterval = 30 * time.Second

// purgeDeleted permanently removes deleted chats whose time for undo has passed, with their files.
func (m *Manager) purgeDeleted() {
	tick := time.NewTicker(purgeInterval)
	defer tick.Stop()
	m.removeUnusedFiles(m.ctx)
	for {
		n, err := m.store.Sessions.PurgeDeleted(m.ctx, now()-protocol.UndoMillis)
		if err != nil && m.ctx.Err() == nil {
			slog.Warn("Removing deleted chats failed", "err", err)
		}
		if n > 0 {
			m.removeUnusedFiles(m.ctx)
		}
		select {
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
	}
}

// removeUnusedFiles removes media and archive files that no chat refers to.
func (m *Manager) removeUnusedFiles(ctx context.Context) {
	if err := errors.Join(m.media.RemoveUnused(ctx), m.removeUnusedArchives(ctx)); err != nil && ctx.Err() == nil {
		slog.Warn("Removing files of deleted chats failed", "err", err)
	}
}

// Media returns a stored picture or recording.
func (m *Manager) Media(_ context.Context, in protocol.MediaGetParams) (protocol.MediaGetResult, error) {
	return m.media.Get(in.Key)
}

// Patch changes a chat's settings, label and reset policy; fields that are not set stay unchanged.
func (m *Manager) Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error) {
	key := m.Canonical(in.SessionKey)
	if err := checkSettings(in.Settings); err != nil {
		return protocol.OK{}, err
	}
	if _, err := m.store.Sessions.Ensure(ctx, key, now()); err != nil {
		return protocol.OK{}, err
	}
	var invalid error
	_, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) { invalid = m.settings.patch(s, in) })
	if err = errors.Join(invalid, err); err != nil {
		return protocol.OK{}, err
	}
	if in.Settings != nil && in.Settings.Approvals != nil {
		mode := in.Settings.Approvals
		line := protocol.AuditEntry{At: now(), Kind: protocol.AuditMode, By: cmp.Or(in.By, "person"), SessionKey: key, What: mode.Mode}
		if mode.Until > 0 {
			line.What += " until " + time.UnixMilli(mode.Until).Format(time.RFC3339)
		}
		if err := m.store.Audit.Append(ctx, line); err != nil {
			return protocol.OK{}, err
		}
	}
	m.publishSession(key)
	return protocol.OK{OK: true}, nil
}

// patch changes a session. It changes nothing if the new reset policy is invalid.
func (c settings) patch(s *store.Session, in protocol.SessionPatchParams) error {
	if p := in.ResetPolicy; p != nil && p.Mode != nil && *p.Mode == "" {
		s.ResetPolicy = protocol.ResetPolicy{}
	} else if p != nil { // without a policy of its own, the chat follows the gateway's default
		policy := c.resetPolicy(*s)
		set(&policy.Mode, p.Mode)
		policy.AtHour, policy.IdleMinutes = cmp.Or(p.AtHour, policy.AtHour), cmp.Or(p.IdleMinutes, policy.IdleMinutes)
		if err := config.CheckResetPolicy("resetPolicy", policy); err != nil {
			return err
		}
		s.ResetPolicy = policy
	}
	if in.Label != nil {
		s.Label = strings.TrimSpace(*in.Label)
	}
	if in.Settings != nil {
		current, _ := c.model(*s, nil)
		patchPrefs(&s.Prefs, *in.Settings)
		if ref := s.Prefs.Model; ref != nil && ref.Provider == "" {
			// An ID alone names a model of the current provider, as with /model.
			ref.Provider = current.Provider
		}
	}
	s.UpdatedAt = now()
	return nil
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func patchPrefs(p *protocol.SessionPrefs, in protocol.SessionPrefsPatch) {
	if in.Model != nil {
		var ref protocol.ModelRef
		set(&ref, p.Model)
		set(&ref.Provider, in.Model.Provider)
		set(&ref.ID, in.Model.ID)
		ref.Provider = strings.ToLower(ref.Provider)
		if p.Model = &ref; ref == (protocol.ModelRef{}) {
			p.Model = nil
		}
	}
	set(&p.ThinkingLevel, in.ThinkingLevel)
	set(&p.SystemPrompt, in.SystemPrompt)
	set(&p.MaxTokens, in.MaxTokens)
	if in.Approvals != nil {
		p.Approvals = in.Approvals
		if in.Approvals.Mode == "" || in.Approvals.Mode == protocol.ModeAsk {
			p.Approvals = nil
		}
	}
}
