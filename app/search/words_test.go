package search

import (
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestHitsNameTheirAuthors(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Name: "Cellar"}}}
	for want, h := range map[string]protocol.SearchHit{
		"You · 11:00": {Role: protocol.RoleUser, Timestamp: now.Add(-time.Hour).UnixMilli()},
		"Bash on Cellar · 11:00 · earlier conversation": {Role: protocol.RoleToolResult, ToolName: "nas__Bash", Archived: true, Timestamp: now.Add(-time.Hour).UnixMilli()},
		"Fairlead · 11:00": {Role: protocol.RoleAssistant, Timestamp: now.Add(-time.Hour).UnixMilli()},
	} {
		if got := authorOf(v, h, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSearchAsksForThePageAfter(t *testing.T) {
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.SessionsSearch, func(p protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error) {
			if p.Page == 7 {
				return protocol.SessionsSearchResult{Hits: []protocol.SearchHit{{MessageID: "second"}}}, nil
			}
			return protocol.SessionsSearchResult{Hits: []protocol.SearchHit{{MessageID: "first"}}, Next: 7}, nil
		})
	}, func(t *testing.T, f *feed.Feed, _ *feedtest.Gateway) {
		first, err := feed.SearchMessages(t.Context(), f, "x", 0)
		if err != nil || first.Next != 7 {
			t.Fatalf("got %v, %v; want no error and Next 7", first, err)
		}
		if second, err := feed.SearchMessages(t.Context(), f, "x", first.Next); err != nil || second.Hits[0].MessageID != "second" || second.Next != 0 {
			t.Errorf(`got %v, %v; want no error, Hits[0].MessageID "second" and Next 0`, second, err)
		}
	})
}
