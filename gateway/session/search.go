package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

var errLongQuery = protocol.ErrBadRequest.With(fmt.Sprintf("query may have at most %d bytes", maxQuery))

const (
	defaultHits = 20
	maxHits     = 100
	maxQuery    = 1000 // bytes; every word slows the search down
)

// Search finds messages in all chats, newest first.
func (h *History) Search(ctx context.Context, in protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error) {
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
		in.SessionKey = h.chats.Canonical(in.SessionKey)
	}
	found, next, err := h.search.Messages(ctx, in.Query, in.SessionKey, in.After, in.Before, in.Page, in.Limit)
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
