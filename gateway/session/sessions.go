package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func title(s store.Session) string {
	if s.Label != "" {
		return s.Label
	}
	return s.FirstText
}

func entry(s store.Session) protocol.SessionEntry {
	e := protocol.SessionEntry{SessionKey: s.Key, CreatedAt: s.CreatedAt, LastActiveAt: s.LastActiveAt, Label: s.Label, Title: title(s), MessageCount: s.MessageCount,
		DeletedAt: s.DeletedAt, ContextTokens: s.ContextTokens, ContextWindow: s.ContextWindow}
	usage, prefs := s.Usage, s.Prefs
	e.Usage, e.Settings = &usage, &prefs
	return e
}

func (m *Manager) publishSession(key protocol.SessionKey) {
	s, err := m.store.Session(context.WithoutCancel(m.ctx), key)
	if err != nil {
		slog.Warn("A chat could not be read", "session", key, "err", err)
		return
	}
	e := entry(s)
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeSession, SessionKey: key, Session: &e})
}

func (m *Manager) publishMessage(key protocol.SessionKey, msg protocol.Message) {
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: key, Message: &msg})
}

// modelOf is the model and thinking level of the next message.
func (m *Manager) modelOf(s store.Session, d *protocol.Directives) (protocol.ModelRef, string) {
	cfg := m.opts.Config().Model
	ref, thinking := protocol.ModelRef{Provider: cfg.Provider, ID: cfg.ID}, cfg.ThinkingLevel
	if s.Prefs.Model != nil && s.Prefs.Model.Provider != "" {
		ref = *s.Prefs.Model
	}
	if s.Prefs.ThinkingLevel != "" {
		thinking = s.Prefs.ThinkingLevel
	}
	if d != nil {
		if d.Model != nil {
			ref = *d.Model
		}
		if d.ThinkLevel != "" {
			thinking = d.ThinkLevel
		}
	}
	return ref, thinking
}

// parseModel reads "provider/id", or an id of the present provider.
func (m *Manager) parseModel(s store.Session, text string) (protocol.ModelRef, error) {
	if strings.ContainsAny(text, " \t\n") {
		return protocol.ModelRef{}, fmt.Errorf("a model is written PROVIDER/ID, without spaces")
	}
	if provider, id, ok := strings.Cut(text, "/"); ok && id != "" {
		return protocol.ModelRef{Provider: strings.ToLower(provider), ID: id}, nil
	}
	ref, _ := m.modelOf(s, nil)
	return protocol.ModelRef{Provider: ref.Provider, ID: text}, nil
}

// List returns a page of the chats.
func (m *Manager) List(ctx context.Context, in protocol.SessionsListParams) (protocol.SessionsListResult, error) {
	if in.Offset < 0 || in.Limit < 0 {
		return protocol.SessionsListResult{}, protocol.ErrBadRequest.With("offset and limit must not be negative")
	}
	if in.Limit == 0 {
		in.Limit = 100
	}
	list, total, err := m.store.Sessions(ctx, in.Offset, in.Limit, in.Query)
	out := protocol.SessionsListResult{Sessions: []protocol.SessionEntry{}, Count: total}
	for _, s := range list {
		out.Sessions = append(out.Sessions, entry(s))
	}
	return out, err
}

// maxSnapshot is how many chats a feed's snapshot has; the list pages to the others.
const maxSnapshot = 500

// Snapshot returns the chats and the runs that are not over.
func (m *Manager) Snapshot(ctx context.Context) ([]protocol.SessionEntry, []protocol.RunInfo, error) {
	list, err := m.List(ctx, protocol.SessionsListParams{Limit: maxSnapshot})
	if err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	all := make([]*live, 0, len(m.live))
	for _, l := range m.live {
		all = append(all, l)
	}
	m.mu.Unlock()
	slices.SortFunc(all, func(a, b *live) int { return cmp.Compare(a.created, b.created) })
	runs := []protocol.RunInfo{}
	for _, l := range all {
		runs = append(runs, l.snapshot())
	}
	return list.Sessions, runs, nil
}

func tokens(u protocol.Usage) protocol.Tokens {
	return protocol.Tokens{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, Total: u.Total}
}

func previous(s store.Session) []protocol.SessionID {
	if s.Previous == nil {
		return []protocol.SessionID{}
	}
	return s.Previous
}

// Get returns a chat; one that nobody has written to yet exists implicitly, as in the original.
func (m *Manager) Get(ctx context.Context, in protocol.SessionParams) (protocol.SessionGetResult, error) {
	s, err := m.store.EnsureSession(ctx, m.Canonical(in.SessionKey), m.now())
	if err != nil {
		return protocol.SessionGetResult{}, err
	}
	return protocol.SessionGetResult{SessionID: s.ID, SessionKey: s.Key, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, MessageCount: s.MessageCount, Tokens: tokens(s.Usage),
		Settings: s.Prefs, ResetPolicy: s.ResetPolicy, LastResetAt: s.LastResetAt, PreviousSessionIDs: previous(s), Label: s.Label}, nil
}

// Stats returns a chat's numbers.
func (m *Manager) Stats(ctx context.Context, in protocol.SessionParams) (protocol.SessionStats, error) {
	s, err := m.store.EnsureSession(ctx, m.Canonical(in.SessionKey), m.now())
	if err != nil {
		return protocol.SessionStats{}, err
	}
	out := protocol.SessionStats{SessionKey: s.Key, SessionID: s.ID, MessageCount: s.MessageCount, Tokens: tokens(s.Usage), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		Uptime: m.now() - s.CreatedAt, Cost: s.Usage.Cost}
	err = m.do(ctx, s.Key, func(ses *session) { out.IsProcessing, out.QueueSize = ses.run != nil, len(ses.queue) })
	return out, err
}

// Patch merges settings, label and reset policy into a chat. A wrong value is refused, with what is legal.
func (m *Manager) Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error) {
	key := m.Canonical(in.SessionKey)
	if in.Settings != nil {
		if l := in.Settings.ThinkingLevel; l != nil && *l != "" && !slices.Contains(protocol.ThinkingLevels, *l) {
			return protocol.OK{}, protocol.ErrBadRequest.With(fmt.Sprintf("settings.thinkingLevel must be one of %s, not %q", strings.Join(protocol.ThinkingLevels, ", "), *l))
		}
		if n := in.Settings.MaxTokens; n != nil && *n < 0 {
			return protocol.OK{}, protocol.ErrBadRequest.With("settings.maxTokens must not be negative")
		}
		if err := m.checkMode(in.Settings.Approvals); err != nil {
			return protocol.OK{}, err
		}
	}
	if _, err := m.store.EnsureSession(ctx, key, m.now()); err != nil {
		return protocol.OK{}, err
	}
	var bad error
	_, err := m.store.UpdateSession(ctx, key, func(s *store.Session) {
		policy := s.ResetPolicy
		if p := in.ResetPolicy; p != nil {
			if p.Mode != nil {
				policy.Mode = *p.Mode
			}
			if p.AtHour != nil {
				policy.AtHour = p.AtHour
			}
			if p.IdleMinutes != nil {
				policy.IdleMinutes = p.IdleMinutes
			}
			if bad = config.CheckResetPolicy("resetPolicy", policy); bad != nil {
				return
			}
		}
		s.ResetPolicy = policy
		if in.Label != nil {
			s.Label = strings.TrimSpace(*in.Label)
		}
		if in.Settings != nil {
			patchPrefs(&s.Prefs, *in.Settings)
		}
		s.UpdatedAt = m.now()
	})
	if err = errors.Join(bad, err); err != nil {
		return protocol.OK{}, err
	}
	if in.Settings != nil && in.Settings.Approvals != nil {
		line := protocol.AuditEntry{At: m.now(), Kind: protocol.AuditMode, By: "person", SessionKey: key, What: in.Settings.Approvals.Mode}
		if until := in.Settings.Approvals.Until; until > 0 {
			line.What += " until " + time.UnixMilli(until).Format(time.RFC3339)
		}
		if err := m.store.Audit(ctx, line); err != nil {
			return protocol.OK{}, err
		}
	}
	m.publishSession(key)
	return protocol.OK{OK: true}, nil
}

// maxTrust is how long a chat may be trusted at once.
const maxTrust = 12 * time.Hour

func (m *Manager) checkMode(mode *protocol.ApprovalMode) error {
	if mode == nil {
		return nil
	}
	switch mode.Mode {
	case "", protocol.ModeAsk, protocol.ModeAcceptEdits, protocol.ModeReadOnly, protocol.ModePaused:
		mode.Until = 0
		return nil
	case protocol.ModeTrust:
		if left := time.Duration(mode.Until-m.now()) * time.Millisecond; left <= 0 || left > maxTrust {
			return protocol.ErrBadRequest.With(fmt.Sprintf("trust needs an end within %d hours: settings.approvals.until, in milliseconds", int(maxTrust.Hours())))
		}
		return nil
	}
	return protocol.ErrBadRequest.With(fmt.Sprintf("settings.approvals.mode must be ask, accept-edits, read-only, trust or paused, not %q", mode.Mode))
}

func patchPrefs(p *protocol.SessionPrefs, in protocol.SessionPrefsPatch) {
	if in.Model != nil {
		ref := protocol.ModelRef{}
		if p.Model != nil {
			ref = *p.Model
		}
		if in.Model.Provider != nil {
			ref.Provider = strings.ToLower(*in.Model.Provider)
		}
		if in.Model.ID != nil {
			ref.ID = *in.Model.ID
		}
		p.Model = &ref
		if ref == (protocol.ModelRef{}) {
			p.Model = nil
		}
	}
	if in.ThinkingLevel != nil {
		p.ThinkingLevel = *in.ThinkingLevel
	}
	if in.SystemPrompt != nil {
		p.SystemPrompt = *in.SystemPrompt
	}
	if in.MaxTokens != nil {
		p.MaxTokens = *in.MaxTokens
	}
	if in.Approvals != nil {
		p.Approvals = in.Approvals
		if in.Approvals.Mode == "" || in.Approvals.Mode == protocol.ModeAsk {
			p.Approvals = nil
		}
	}
}

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

// History returns the ids of a chat's stretches between resets.
func (m *Manager) History(ctx context.Context, in protocol.SessionParams) (protocol.SessionHistoryResult, error) {
	s, err := m.store.EnsureSession(ctx, m.Canonical(in.SessionKey), m.now())
	return protocol.SessionHistoryResult{SessionKey: s.Key, CurrentSessionID: s.ID, PreviousSessionIDs: previous(s)}, err
}

// Preview returns the last messages.
func (m *Manager) Preview(ctx context.Context, in protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
	if in.Limit < 0 || in.Before < 0 {
		return protocol.SessionPreviewResult{}, protocol.ErrBadRequest.With("limit and before must not be negative")
	}
	s, err := m.store.EnsureSession(ctx, m.Canonical(in.SessionKey), m.now())
	if err != nil {
		return protocol.SessionPreviewResult{}, err
	}
	msgs, err := m.store.Messages(ctx, s.Key, in.Before, in.Limit)
	if msgs == nil {
		msgs = []protocol.Message{}
	}
	return protocol.SessionPreviewResult{SessionKey: s.Key, SessionID: s.ID, MessageCount: s.MessageCount, Messages: msgs}, err
}

// Create makes an empty chat.
func (m *Manager) Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	key := in.SessionKey
	if key == "" {
		key = newKey()
	}
	key = m.Canonical(key)
	if _, err := m.store.EnsureSession(ctx, key, m.now()); err != nil {
		return protocol.SessionEntry{}, m.stored(err)
	}
	s, err := m.store.UpdateSession(ctx, key, func(s *store.Session) {
		if in.Label != "" {
			s.Label = in.Label
		}
		s.DeletedAt = 0
	})
	if err != nil {
		return protocol.SessionEntry{}, m.stored(err)
	}
	m.publishSession(key)
	return entry(s), nil
}

// Delete removes a chat; Restore brings it back for ten seconds.
func (m *Manager) Delete(ctx context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.Session(ctx, key); err != nil {
		return protocol.SessionDeleteResult{}, err
	}
	if err := m.quiet(ctx, key); err != nil {
		return protocol.SessionDeleteResult{}, err
	}
	defer m.unblock(key)
	now := m.now()
	if _, err := m.store.UpdateSession(ctx, key, func(s *store.Session) { s.DeletedAt = now }); err != nil {
		return protocol.SessionDeleteResult{}, m.stored(err)
	}
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeSessionDeleted, SessionKey: key})
	return protocol.SessionDeleteResult{OK: true, UndoUntil: now + protocol.UndoMillis}, nil
}

// Restore brings a deleted chat back.
func (m *Manager) Restore(ctx context.Context, in protocol.SessionParams) (protocol.OK, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.UpdateSession(ctx, key, func(s *store.Session) { s.DeletedAt = 0 }); err != nil {
		if errors.Is(err, protocol.ErrNotFound) {
			err = protocol.ErrNotFound.With("The chat can no longer be brought back.")
		}
		return protocol.OK{}, err
	}
	m.publishSession(key)
	return protocol.OK{OK: true}, nil
}
