package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// reader lists and reads chats, and publishes their changes.
type reader struct {
	store    *store.DB
	bus      *event.Bus
	settings settings
	runs     *runs
}

// title returns a chat's name for lists: the person's, else the model's, else the first words.
func title(s store.Session) string { return cmp.Or(s.Label, s.AutoTitle, s.FirstText) }

func (r *reader) entry(s store.Session) protocol.SessionEntry {
	return protocol.SessionEntry{
		SessionKey: s.Key, CreatedAt: s.CreatedAt, LastActiveAt: s.LastActiveAt, Label: s.Label, Title: title(s), MessageCount: s.MessageCount,
		Pinned: s.Pinned, Archived: s.Archived, Tags: s.Tags,
		DeletedAt: s.DeletedAt, ContextTokens: s.ContextTokens, ContextWindow: s.ContextWindow, Usage: &s.Usage, Settings: &s.Prefs,
		Schedule: s.Key.Schedule(), Main: s.Key == r.settings.config().Session.Main(s.Key.Agent()),
	}
}

func (r *reader) publishSession(key protocol.SessionKey) {
	s, err := r.store.Sessions.Get(context.Background(), key)
	if err != nil {
		slog.Warn("Reading a chat failed", "session", key, "err", err)
		return
	}
	e := r.entry(s)
	r.bus.Publish(protocol.Change{Kind: protocol.ChangeSession, SessionKey: key, Session: &e})
}

func (r *reader) publishMessage(key protocol.SessionKey, msg protocol.Message) {
	r.bus.Publish(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: key, Message: &msg})
}

// publishHistory publishes that the messages of a chat have changed as a whole.
func (r *reader) publishHistory(key protocol.SessionKey) {
	r.bus.Publish(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: key})
	r.publishSession(key)
}

// peek returns a chat. As in GSV, every key is valid: a chat that nobody has written to is returned
// with default values, and not stored or listed because of that.
func (r *reader) peek(ctx context.Context, key protocol.SessionKey) (store.Session, error) {
	return r.store.Sessions.Peek(ctx, r.Canonical(key), now())
}

// List returns a page of the chats, or of those that match the query.
func (r *reader) List(ctx context.Context, in protocol.SessionsListParams) (protocol.SessionsListResult, error) {
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
		list, out.Count, err = r.store.Sessions.List(ctx, in.Offset, in.Limit)
	case in.Offset > 0:
		return out, protocol.ErrBadRequest.With("offset is for lists without a query; with one use page")
	case len(in.Query) > maxQuery:
		return out, errLongQuery
	default:
		list, out.Next, err = r.store.Search.Sessions(ctx, in.Query, in.Page, in.Limit)
		out.Count = len(list)
	}
	for _, s := range list {
		out.Sessions = append(out.Sessions, r.entry(s))
	}
	return out, err
}

// Snapshot returns the chats and the runs that have not ended.
func (r *reader) Snapshot(ctx context.Context) ([]protocol.SessionEntry, []protocol.RunInfo, error) {
	list, err := r.List(ctx, protocol.SessionsListParams{Limit: protocol.MaxSnapshotSessions})
	if err != nil {
		return nil, nil, err
	}
	return list.Sessions, r.runs.snapshot(), nil
}

// OpenRun reports whether a run is known and has not ended. Approvals of other runs are orphans.
func (r *reader) OpenRun(id protocol.RunID) bool { return r.runs.get(id) != nil }

// previousIDs returns the session IDs before the current one, never nil.
func previousIDs(s store.Session) []protocol.SessionID {
	return append([]protocol.SessionID{}, s.Previous...)
}

// Get returns a chat.
func (r *reader) Get(ctx context.Context, in protocol.SessionParams) (protocol.SessionGetResult, error) {
	s, err := r.peek(ctx, in.SessionKey)
	if err != nil {
		return protocol.SessionGetResult{}, err
	}
	return protocol.SessionGetResult{
		SessionID: s.ID, SessionKey: s.Key, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, MessageCount: s.MessageCount, Tokens: tokens(s.Usage),
		Settings: s.Prefs, ResetPolicy: r.settings.resetPolicy(s), LastResetAt: s.LastResetAt, PreviousSessionIDs: previousIDs(s), Label: s.Label,
	}, nil
}

// History returns a chat's session IDs, one for each part between two resets.
func (r *reader) History(ctx context.Context, in protocol.SessionParams) (protocol.SessionHistoryResult, error) {
	s, err := r.peek(ctx, in.SessionKey)
	return protocol.SessionHistoryResult{SessionKey: s.Key, CurrentSessionID: s.ID, PreviousSessionIDs: previousIDs(s)}, err
}

// Preview returns the last messages.
func (r *reader) Preview(ctx context.Context, in protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
	if in.Limit < 0 || in.Before < 0 {
		return protocol.SessionPreviewResult{}, protocol.ErrBadRequest.With("limit and before must not be negative")
	}
	s, err := r.peek(ctx, in.SessionKey)
	if err != nil {
		return protocol.SessionPreviewResult{}, err
	}
	read := r.store.Messages.Conversation
	if in.Notices {
		read = r.store.Messages.List
	}
	msgs, err := read(ctx, s.Key, in.Before, in.Limit)
	if errors.Is(err, protocol.ErrNotFound) {
		err = nil // nobody has written to it yet
	}
	msgs = append([]protocol.Message{}, msgs...) // never nil
	return protocol.SessionPreviewResult{SessionKey: s.Key, SessionID: s.ID, MessageCount: s.MessageCount, Messages: msgs}, err
}

var errLongQuery = protocol.ErrBadRequest.With(fmt.Sprintf("query may have at most %d bytes", maxQuery))

const (
	defaultHits = 20
	maxHits     = 100
	maxQuery    = 1000 // bytes; every word slows the search down
)

// Search finds messages in all chats, newest first.
func (r *reader) Search(ctx context.Context, in protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error) {
	out := protocol.SessionsSearchResult{Hits: []protocol.SearchHit{}}
	if len(in.Query) > maxQuery {
		return out, errLongQuery
	}
	if !store.Searchable(in.Query) {
		return out, protocol.ErrBadRequest.With("query required: at least one word or emoji")
	}
	if in.Limit < 0 || in.Page < 0 || in.After < 0 || in.Before < 0 {
		return out, protocol.ErrBadRequest.With("limit, page, after and before must not be negative")
	}
	in.Limit = cmp.Or(in.Limit, defaultHits)
	in.Limit = min(in.Limit, maxHits)
	if in.SessionKey != "" {
		in.SessionKey = r.Canonical(in.SessionKey)
	}
	found, next, err := r.store.Search.Messages(ctx, in.Query, in.SessionKey, in.After, in.Before, in.Page, in.Limit)
	if err != nil {
		return out, err
	}
	for _, f := range found {
		h, err := searchHit(f)
		if err != nil {
			return out, err
		}
		out.Hits = append(out.Hits, h)
	}
	out.Next = next
	if next > 0 && len(found) < in.Limit {
		out.Reached = max(store.TextTime(next), 1)
	}
	return out, nil
}

func searchHit(f store.Found) (protocol.SearchHit, error) {
	var msg protocol.Message
	if err := json.Unmarshal([]byte(f.JSON), &msg); err != nil {
		return protocol.SearchHit{}, fmt.Errorf("read message: %w", err)
	}
	return protocol.SearchHit{
		SessionKey: f.Key, SessionID: f.SessionID, Title: f.Title, Archived: !f.Current, MessageID: msg.ID, Seq: msg.Seq, RunID: msg.RunID, Role: msg.Role,
		ToolName: msg.ToolName, Timestamp: msg.Timestamp, Snippet: splitSnippet(f.Snippet),
	}, nil
}

// splitSnippet splits a snippet at its highlight marks.
func splitSnippet(s string) []protocol.Snippet {
	list := []protocol.Snippet{}
	add := func(text string, mark bool) {
		if text != "" {
			list = append(list, protocol.Snippet{Text: text, Mark: mark})
		}
	}
	for i, part := range strings.Split(s, store.MarkStart) {
		marked, rest, ok := strings.Cut(part, store.MarkEnd)
		if i == 0 || !ok {
			add(part, false)
			continue
		}
		add(marked, true)
		add(rest, false)
	}
	return list
}
