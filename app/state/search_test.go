package state

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestHitsAreSaidInALine(t *testing.T) {
	h := protocol.SearchHit{Snippet: []protocol.Snippet{{Text: "the "}, {Text: "build", Mark: true}, {Text: " fails\n\non "}, {Text: "nas", Mark: true}, {Text: ", again"}}}
	if got := HitText(h); got != "the “build” fails on “nas”, again" {
		t.Errorf("%q", got)
	}
	h.Snippet[0].Text = strings.Repeat("word ", 50)
	if got := HitText(h); len(got) > 100 || !strings.HasPrefix(got, "…word word") || !strings.Contains(got, "“build”") {
		t.Errorf("%q", got)
	}
	if got := HitText(protocol.SearchHit{}); got != "" {
		t.Errorf("%q", got)
	}
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for want, h := range map[string]protocol.SearchHit{
		"You · 11:00":                    {Role: protocol.RoleUser, Timestamp: now.Add(-time.Hour).UnixMilli()},
		"Bash on nas · 11:00 · archived": {Role: protocol.RoleToolResult, ToolName: "nas__Bash", Archived: true, Timestamp: now.Add(-time.Hour).UnixMilli()},
		"Fairlead · 11:00":               {Role: protocol.RoleAssistant, Timestamp: now.Add(-time.Hour).UnixMilli()},
	} {
		if got := HitWho(h, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSearchAsksForThePageAfter(t *testing.T) {
	bubble(t, func(f *fake) {
		on(f, protocol.SessionsSearch, func(p protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error) {
			if p.Page == 7 {
				return protocol.SessionsSearchResult{Hits: []protocol.SearchHit{{MessageID: "second"}}}, nil
			}
			return protocol.SessionsSearchResult{Hits: []protocol.SearchHit{{MessageID: "first"}}, Next: 7}, nil
		})
	}, func(t *testing.T, a *App, _ *fake) {
		first, err := a.Chats.SearchMessages(t.Context(), "x", 0)
		if err != nil || first.Next != 7 {
			t.Fatal(first, err)
		}
		if second, err := a.Chats.SearchMessages(t.Context(), "x", first.Next); err != nil || second.Hits[0].MessageID != "second" || second.Next != 0 {
			t.Error(second, err)
		}
	})
}

// TestChatsAreShownAsTheyAreFound checks that a slow search of a large store reports its results
// page by page.
func TestChatsAreShownAsTheyAreFound(t *testing.T) {
	entries := func(from, to int) (list []protocol.SessionEntry) {
		for i := from; i < to; i++ {
			list = append(list, protocol.SessionEntry{SessionKey: protocol.SessionKey(fmt.Sprint("chat ", i))})
		}
		return list
	}
	pages := map[string]protocol.SessionsListResult{
		"":  {Sessions: entries(0, 2), Next: "a"},
		"a": {Next: "b"}, // no results
		"b": {Sessions: entries(1, 2), Next: "c"},
		"c": {Sessions: entries(1, 5)},
		"m": {Sessions: entries(0, 40), Next: "n"},
		"n": {Sessions: entries(30, 80), Next: "never"},
	}
	bubble(t, func(f *fake) {
		on(f, protocol.SessionsList, func(p protocol.SessionsListParams) (protocol.SessionsListResult, error) {
			r, ok := pages[p.Page]
			if p.Query == "many" && p.Page == "" {
				r = pages["m"]
			}
			if !ok || p.Offset != 0 {
				return r, protocol.ErrBadRequest
			}
			return r, nil
		})
	}, func(t *testing.T, a *App, _ *fake) {
		for query, want := range map[string]string{"few": "2 false, 5 true, ", "many": "40 false, 50 true, "} {
			var told strings.Builder
			if err := a.Chats.Search(t.Context(), query, func(list []protocol.SessionEntry, all bool) {
				fmt.Fprintf(&told, "%d %v, ", len(list), all)
				for i, e := range list {
					if e != entries(i, i+1)[0] {
						t.Errorf("%s: %d is %s", query, i, e.SessionKey)
					}
				}
			}); err != nil || told.String() != want {
				t.Errorf("%s: %q, %v", query, told.String(), err)
			}
		}
	})
}
