package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func title(s store.Session) string {
	if s.Label != "" {
		return s.Label
	}
	return s.FirstText
}

func (m *Manager) entry(s store.Session) protocol.SessionEntry {
	e := protocol.SessionEntry{
		SessionKey: s.Key, CreatedAt: s.CreatedAt, LastActiveAt: s.LastActiveAt, Label: s.Label, Title: title(s), MessageCount: s.MessageCount,
		DeletedAt: s.DeletedAt, ContextTokens: s.ContextTokens, ContextWindow: s.ContextWindow,
		Main: s.Key == m.opts.Config().Session.Main(agentOf(s.Key)),
	}
	usage, prefs := s.Usage, s.Prefs
	e.Usage, e.Settings = &usage, &prefs
	return e
}

func (m *Manager) publishSession(key protocol.SessionKey) {
	s, err := m.store.Sessions.Get(context.WithoutCancel(m.ctx), key)
	if err != nil {
		slog.Warn("A chat could not be read", "session", key, "err", err)
		return
	}
	e := m.entry(s)
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeSession, SessionKey: key, Session: &e})
}

func (m *Manager) publishMessage(key protocol.SessionKey, msg protocol.Message) {
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: key, Message: &msg})
}

// List returns a page of the chats, or of those that match the query.
func (m *Manager) List(ctx context.Context, in protocol.SessionsListParams) (protocol.SessionsListResult, error) {
	if in.Offset < 0 || in.Limit < 0 {
		return protocol.SessionsListResult{}, protocol.ErrBadRequest.With("offset and limit must not be negative")
	}
	if in.Limit == 0 {
		in.Limit = 100
	}
	out := protocol.SessionsListResult{Sessions: []protocol.SessionEntry{}}
	var list []store.Session
	var err error
	switch {
	case in.Query == "" && in.Page != "":
		return out, protocol.ErrBadRequest.With("page is for lists with a query; without one use offset")
	case in.Query == "":
		list, out.Count, err = m.store.Sessions.List(ctx, in.Offset, in.Limit)
	case in.Offset > 0:
		return out, protocol.ErrBadRequest.With("offset is for lists without a query; with one use page")
	case len(in.Query) > maxQuery:
		return out, protocol.ErrBadRequest.With(fmt.Sprintf("query may have %d bytes", maxQuery))
	default:
		list, out.Next, err = m.store.Search.Sessions(ctx, in.Query, in.Page, in.Limit)
		out.Count = len(list)
	}
	for _, s := range list {
		out.Sessions = append(out.Sessions, m.entry(s))
	}
	return out, err
}

// maxSnapshot is the number of chats in a feed's snapshot; further ones are available page by page
// from sessions.list.
const maxSnapshot = 500

// Snapshot returns the chats and the runs that have not ended.
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

// Get returns a chat. Every key is valid, as in the original system: a chat that nobody has written
// to yet is returned with default values, and is neither stored nor listed because of that. Stats,
// History and Preview do the same.
func (m *Manager) Get(ctx context.Context, in protocol.SessionParams) (protocol.SessionGetResult, error) {
	s, err := m.store.Sessions.Peek(ctx, m.Canonical(in.SessionKey), m.now())
	if err != nil {
		return protocol.SessionGetResult{}, err
	}
	return protocol.SessionGetResult{
		SessionID: s.ID, SessionKey: s.Key, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, MessageCount: s.MessageCount, Tokens: tokens(s.Usage),
		Settings: s.Prefs, ResetPolicy: m.policy(s), LastResetAt: s.LastResetAt, PreviousSessionIDs: previous(s), Label: s.Label,
	}, nil
}

// Stats returns a chat's counters.
func (m *Manager) Stats(ctx context.Context, in protocol.SessionParams) (protocol.SessionStats, error) {
	s, err := m.store.Sessions.Peek(ctx, m.Canonical(in.SessionKey), m.now())
	if err != nil {
		return protocol.SessionStats{}, err
	}
	out := protocol.SessionStats{
		SessionKey: s.Key, SessionID: s.ID, MessageCount: s.MessageCount, Tokens: tokens(s.Usage), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		Uptime: m.now() - s.CreatedAt, Cost: s.Usage.Cost,
	}
	if m.awake(s.Key) {
		err = m.do(ctx, s.Key, func(ses *session) { out.IsProcessing, out.QueueSize = ses.run != nil, len(ses.queue) })
	}
	return out, err
}

// History returns a chat's session IDs, one for each part between two resets.
func (m *Manager) History(ctx context.Context, in protocol.SessionParams) (protocol.SessionHistoryResult, error) {
	s, err := m.store.Sessions.Peek(ctx, m.Canonical(in.SessionKey), m.now())
	return protocol.SessionHistoryResult{SessionKey: s.Key, CurrentSessionID: s.ID, PreviousSessionIDs: previous(s)}, err
}

// Preview returns the last messages.
func (m *Manager) Preview(ctx context.Context, in protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
	if in.Limit < 0 || in.Before < 0 {
		return protocol.SessionPreviewResult{}, protocol.ErrBadRequest.With("limit and before must not be negative")
	}
	s, err := m.store.Sessions.Peek(ctx, m.Canonical(in.SessionKey), m.now())
	if err != nil {
		return protocol.SessionPreviewResult{}, err
	}
	read := m.store.Messages.Conversation
	if in.Notices {
		read = m.store.Messages.List
	}
	msgs, err := read(ctx, s.Key, in.Before, in.Limit)
	if errors.Is(err, protocol.ErrNotFound) {
		err = nil // nobody has written to it yet
	}
	if msgs == nil {
		msgs = []protocol.Message{}
	}
	return protocol.SessionPreviewResult{SessionKey: s.Key, SessionID: s.ID, MessageCount: s.MessageCount, Messages: msgs}, err
}

// Create creates an empty chat.
func (m *Manager) Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	key := in.SessionKey
	if key == "" {
		key = newKey(m.opts.Config().Agents.Default())
	}
	key = m.Canonical(key)
	if _, err := m.store.Sessions.Ensure(ctx, key, m.now()); err != nil {
		return protocol.SessionEntry{}, m.stored(err)
	}
	s, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) {
		if in.Label != "" {
			s.Label = in.Label
		}
		s.DeletedAt = 0
	})
	if err != nil {
		return protocol.SessionEntry{}, m.stored(err)
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
	if err := m.quiet(ctx, key); err != nil {
		return protocol.SessionDeleteResult{}, err
	}
	defer m.unblock(key)
	now := m.now()
	if _, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) { s.DeletedAt = now }); err != nil {
		return protocol.SessionDeleteResult{}, m.stored(err)
	}
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeSessionDeleted, SessionKey: key})
	return protocol.SessionDeleteResult{OK: true, UndoUntil: now + protocol.UndoMillis}, nil
}

// Restore undoes the deletion of a chat.
func (m *Manager) Restore(ctx context.Context, in protocol.SessionParams) (protocol.OK, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) { s.DeletedAt = 0 }); err != nil {
		if errors.Is(err, protocol.ErrNotFound) {
			err = protocol.ErrNotFound.With("The chat can no longer be brought back.")
		}
		return protocol.OK{}, err
	}
	m.publishSession(key)
	return protocol.OK{OK: true}, nil
}
