package state

import (
	"strings"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestHitsAreSaidInALine(t *testing.T) {
	h := protocol.SearchHit{Snippet: []protocol.Snippet{{Text: "the "}, {Text: "build", Mark: true}, {Text: " fails\n\non "}, {Text: "nas", Mark: true}, {Text: ", again"}}}
	if got := HitText(h, 40, "“", "”"); got != "the “build” fails on “nas”, again" {
		t.Errorf("%q", got)
	}
	h.Snippet[0].Text = strings.Repeat("word ", 50)
	if got := HitText(h, 40, "“", "”"); len(got) > 100 || !strings.HasPrefix(got, "…word word") || !strings.Contains(got, "“build”") {
		t.Errorf("%q", got)
	}
	if got := HitText(protocol.SearchHit{}, 40, "“", "”"); got != "" {
		t.Errorf("%q", got)
	}
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Name: "Cellar"}}}
	for want, h := range map[string]protocol.SearchHit{
		"You · 11:00": {Role: protocol.RoleUser, Timestamp: now.Add(-time.Hour).UnixMilli()},
		"Bash on Cellar · 11:00 · earlier conversation": {Role: protocol.RoleToolResult, ToolName: "nas__Bash", Archived: true, Timestamp: now.Add(-time.Hour).UnixMilli()},
		"Fairlead · 11:00": {Role: protocol.RoleAssistant, Timestamp: now.Add(-time.Hour).UnixMilli()},
	} {
		if got := HitWho(v, h, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSearchAsksForThePageAfter(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.SessionsSearch, func(p protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error) {
			if p.Page == 7 {
				return protocol.SessionsSearchResult{Hits: []protocol.SearchHit{{MessageID: "second"}}}, nil
			}
			return protocol.SessionsSearchResult{Hits: []protocol.SearchHit{{MessageID: "first"}}, Next: 7}, nil
		})
	}, func(t *testing.T, a *App, _ *feedtest.Gateway) {
		first, err := a.Chats.SearchMessages(t.Context(), "x", 0)
		if err != nil || first.Next != 7 {
			t.Fatal(first, err)
		}
		if second, err := a.Chats.SearchMessages(t.Context(), "x", first.Next); err != nil || second.Hits[0].MessageID != "second" || second.Next != 0 {
			t.Error(second, err)
		}
	})
}
