package search

import (
	"strings"
	"testing"
	"time"

	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func inPage(t *testing.T) (*Page, *pagetest.Host) {
	t.Helper()
	ctx, app := pagetest.Start(t, style.Light)
	h := &pagetest.Host{}
	p := New(ctx, host.Env{Host: h, Feed: app.Feed})
	p.now = pagetest.Clock
	pagetest.Window(t, p.Box, 880, 500)
	return p, h
}

func hits(n int) []protocol.SearchHit {
	var list []protocol.SearchHit
	for range n {
		list = append(list, protocol.SearchHit{
			SessionKey: "agent:main:2", MessageID: "m7", Seq: 7, Title: "Photos on the NAS", Role: protocol.RoleUser, Timestamp: pagetest.Noon.Add(-30 * time.Hour).UnixMilli(),
			Snippet: []protocol.Snippet{{Text: strings.Repeat("a long text before it, ", 20)}, {Text: "nas", Mark: true}},
		})
	}
	return list
}

func TestViewsMatchGolden(t *testing.T) {
	p, _ := inPage(t)
	golden.Markup(t, "begin", p.Box)
	p.query = "nas"
	p.show(protocol.SessionsSearchResult{})
	golden.Markup(t, "nothing", p.Box)
	p.show(protocol.SessionsSearchResult{Hits: hits(2), Next: 5})
	golden.Markup(t, "hits", p.Box)
	p.draw("not connected")
	golden.Markup(t, "problem", p.Box)
}

func TestRunningSearchShowsItsProgress(t *testing.T) {
	p, _ := inPage(t)
	p.query, p.wanted = "nas", 3
	reached := pagetest.Noon.Add(-50 * time.Hour).UnixMilli()
	when := format.When(reached, pagetest.Clock())
	p.show(protocol.SessionsSearchResult{Next: 9, Reached: reached})
	pagetest.Shows(t, p.Box, "Still searching", "Nothing found so far, back to "+when)
	p.show(protocol.SessionsSearchResult{Hits: hits(2), Next: 7, Reached: reached})
	pagetest.Shows(t, p.Box, "Searching before "+when)
	p.more.OnTap()
	if p.wanted != 3 {
		t.Errorf("during a search, Show older asks for %d hits, want still 3", p.wanted)
	}
	p.show(protocol.SessionsSearchResult{Hits: hits(1), Next: 5, Reached: reached})
	if p.searchedUntil != 0 {
		t.Error("it goes on although there is a page")
	}
	pagetest.Shows(t, p.Box, "Show older")
	p.show(protocol.SessionsSearchResult{})
	if p.searchedUntil != 0 || p.next != 0 {
		t.Error("it goes on although all is looked through")
	}
}

func TestAHitOpensItsChatAndPagesAreAdded(t *testing.T) {
	p, h := inPage(t)
	p.query = "nas"
	p.show(protocol.SessionsSearchResult{Hits: hits(2), Next: 5})
	p.show(protocol.SessionsSearchResult{Hits: hits(3)})
	if len(p.list.Items()) != 5 || p.next != 0 {
		t.Errorf("%d lines, next %d; want 5 and 0", len(p.list.Items()), p.next)
	}
	p.Field.OnChoose()
	if len(h.Did) != 1 || !strings.HasPrefix(h.Did[0], "chat {agent:main:2 ") {
		t.Errorf("did %q, want the chat opened", h.Did)
	}
	p.hits[0].Archived = true
	p.Field.OnChoose()
	if len(h.Did) != 2 || !strings.HasPrefix(h.Did[1], "archive {agent:main:2 ") {
		t.Errorf("did %q, want the archive opened", h.Did)
	}
	p.find(0) // the field is empty
	if len(p.hits) != 0 {
		t.Error("what was found stays after the words are gone")
	}
}
