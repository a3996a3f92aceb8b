package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Chats lists, creates and copies chats, and changes their settings. It is safe for concurrent use.
type Chats struct {
	sessions *store.Sessions
	messages *store.Messages
	archives *store.Archives
	search   *store.Search
	bus      *event.Bus
	settings settings
	nodes    func() []protocol.NodeInfo
	active   *activeRuns
	pause    *pause
	mainName atomic.Value // a string: session.mainKey at the last check
}

// title returns a chat's name for lists: the person's, else the model's, else the first words.
func title(s store.Session) string { return cmp.Or(s.Label, s.AutoTitle, s.FirstText) }

func (c *Chats) entry(s store.Session) protocol.SessionEntry {
	return protocol.SessionEntry{
		SessionKey: s.Key, CreatedAt: s.CreatedAt, LastActiveAt: s.LastActiveAt, Label: s.Label, Title: title(s), MessageCount: s.MessageCount,
		Pinned: s.Pinned, Archived: s.Archived, Tags: s.Tags,
		DeletedAt: s.DeletedAt, ContextTokens: s.ContextTokens, ContextWindow: s.ContextWindow, Usage: &s.Usage, Settings: &s.Prefs,
		Schedule: s.Key.Schedule(), Main: s.Key == c.settings.config().Session.Main(s.Key.Agent()),
	}
}

func (c *Chats) publishSession(key protocol.SessionKey) {
	s, err := c.sessions.Get(context.Background(), key)
	if err != nil {
		slog.Warn("Reading a chat failed", "session", key, "err", err)
		return
	}
	e := c.entry(s)
	c.bus.Publish(protocol.Change{Kind: protocol.ChangeSession, SessionKey: key, Session: &e})
}

func (c *Chats) publishMessage(key protocol.SessionKey, msg protocol.Message) {
	c.bus.Publish(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: key, Message: &msg})
}

// publishHistory publishes that the messages of a chat have changed as a whole.
func (c *Chats) publishHistory(key protocol.SessionKey) {
	c.bus.Publish(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: key})
	c.publishSession(key)
}

// peek returns a chat. As in GSV, every key is valid: a chat that nobody has written to is returned
// with default values, and not stored or listed because of that.
func (c *Chats) peek(ctx context.Context, key protocol.SessionKey) (store.Session, error) {
	return c.sessions.Peek(ctx, c.Canonical(key), now())
}

// List returns a page of the chats, or of those that match the query.
func (c *Chats) List(ctx context.Context, in protocol.SessionsListParams) (protocol.SessionsListResult, error) {
	if in.Offset < 0 || in.Limit < 0 {
		return protocol.SessionsListResult{}, protocol.ErrBadRequest.With("offset and limit must not be negative")
	}
	in.Limit = cmp.Or(in.Limit, 100)
	out := protocol.SessionsListResult{Sessions: []protocol.SessionEntry{}}
	var list []store.Session
	var err error
	switch {
	case in.Query == "" && in.Page != "":
		return out, protocol.ErrBadRequest.With("page is for lists with a query; without one use offset")
	case in.Query == "":
		list, out.Count, err = c.sessions.List(ctx, in.Offset, in.Limit)
	case in.Offset > 0:
		return out, protocol.ErrBadRequest.With("offset is for lists without a query; with one use page")
	case len(in.Query) > maxQuery:
		return out, errLongQuery
	default:
		list, out.Next, err = c.search.Sessions(ctx, in.Query, in.Page, in.Limit)
		out.Count = len(list)
	}
	for _, s := range list {
		out.Sessions = append(out.Sessions, c.entry(s))
	}
	return out, err
}

// previousIDs returns the session IDs before the current one, never nil.
func previousIDs(s store.Session) []protocol.SessionID {
	return append([]protocol.SessionID{}, s.Previous...)
}

// Get returns a chat.
func (c *Chats) Get(ctx context.Context, in protocol.SessionParams) (protocol.SessionGetResult, error) {
	s, err := c.peek(ctx, in.SessionKey)
	if err != nil {
		return protocol.SessionGetResult{}, err
	}
	return protocol.SessionGetResult{
		SessionID: s.ID, SessionKey: s.Key, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, MessageCount: s.MessageCount, Tokens: tokens(s.Usage),
		Settings: s.Prefs, ResetPolicy: c.settings.resetPolicy(s), LastResetAt: s.LastResetAt, PreviousSessionIDs: previousIDs(s), Label: s.Label,
	}, nil
}

// Create creates an empty chat.
func (c *Chats) Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	key := c.Canonical(cmp.Or(in.SessionKey, newKey(c.settings.config().Agents.Default())))
	if _, err := c.sessions.Ensure(ctx, key, now()); err != nil {
		return protocol.SessionEntry{}, c.pause.onStoreError(err)
	}
	s, err := c.sessions.Update(ctx, key, func(s *store.Session) {
		if in.Label != "" {
			s.Label = in.Label
		}
		s.DeletedAt = 0
	})
	if err != nil {
		return protocol.SessionEntry{}, c.pause.onStoreError(err)
	}
	c.publishSession(key)
	return c.entry(s), nil
}

// Patch changes a chat's settings, label and reset policy; fields that are not set stay unchanged.
func (c *Chats) Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error) {
	key := c.Canonical(in.SessionKey)
	if err := checkSettings(in.Settings, c.nodes); err != nil {
		return protocol.OK{}, err
	}
	if _, err := c.sessions.Ensure(ctx, key, now()); err != nil {
		return protocol.OK{}, err
	}
	var lines []protocol.AuditEntry
	if in.Settings != nil && in.Settings.Approvals != nil {
		mode := in.Settings.Approvals
		line := protocol.AuditEntry{At: now(), Kind: protocol.AuditMode, By: cmp.Or(in.By, "person"), SessionKey: key, What: mode.Mode}
		if mode.Until > 0 {
			line.What += " until " + time.UnixMilli(mode.Until).Format(time.RFC3339)
		}
		lines = append(lines, line)
	}
	current, err := c.sessions.Get(ctx, key)
	if err == nil { // checked first, because the audit log must not contain a change that is refused
		err = c.settings.patch(&current, in)
	}
	if err != nil {
		return protocol.OK{}, err
	}
	var invalid error
	_, err = c.sessions.Update(ctx, key, func(s *store.Session) { invalid = c.settings.patch(s, in) }, lines...)
	if err = errors.Join(invalid, err); err != nil {
		return protocol.OK{}, err
	}
	c.publishSession(key)
	return protocol.OK{OK: true}, nil
}

// withProvider returns a message's settings with the provider of a model that was named without
// one.
func (c *Chats) withProvider(ctx context.Context, key protocol.SessionKey, d *protocol.Directives) *protocol.Directives {
	if d == nil || d.Model == nil || d.Model.Provider != "" {
		return d
	}
	s, err := c.peek(ctx, key)
	if err != nil {
		return d
	}
	out := *d
	ref, _ := c.settings.model(s, d)
	out.Model = &ref
	return &out
}

// mainKeyChanged posts a notice in every agent's former main chat if session.mainKey has changed.
func (c *Chats) mainKeyChanged(ctx context.Context) error {
	cfg := c.settings.config().Session
	before, _ := c.mainName.Swap(cfg.MainName()).(string)
	if before == cfg.MainName() {
		return nil
	}
	all, err := c.sessions.Keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range all {
		agent := key.Agent()
		if !strings.EqualFold(string(key), prefix+string(agent)+":"+before) {
			continue
		}
		s, err := c.sessions.Get(ctx, key)
		if err != nil || s.MessageCount == 0 || s.DeletedAt > 0 {
			continue
		}
		text := fmt.Sprintf("This was the main chat until session.mainKey was changed. It stays in the list as a chat of its own, %s. The main chat is now %s; messages from channels go there.",
			key, cfg.Main(agent))
		stored, err := c.messages.Append(ctx, key, notice("", text))
		if err != nil {
			return c.pause.onStoreError(err)
		}
		c.publishMessage(key, stored[0])
		c.publishSession(key) // windows no longer show it as the main chat
		c.bus.PublishNotice("info", fmt.Sprintf("The main chat is now %s. The previous one stays in the list.", cfg.Main(agent)))
	}
	return nil
}
