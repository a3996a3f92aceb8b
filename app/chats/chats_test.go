package chats

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

// lines summarizes groups of chats.
func lines(groups []Group) string {
	var b strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&b, "%s:", g.Title)
		for _, e := range g.Chats {
			fmt.Fprintf(&b, " %s", e.SessionKey)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestChatsAreGroupedByDay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.FixedZone("", 2*3600))
	at := func(key string, month time.Month, day, hour int) protocol.SessionEntry {
		return protocol.SessionEntry{SessionKey: protocol.SessionKey(key), LastActiveAt: time.Date(2026, month, day, hour, 0, 0, 0, now.Location()).UnixMilli()}
	}
	old := at("p", 3, 1, 1)
	old.Pinned = true
	hidden := at("h", 3, 28, 8)
	hidden.Archived, hidden.Tags = true, []string{"work"}
	tagged := at("w", 3, 20, 8)
	tagged.Tags = []string{"work"}
	never := protocol.SessionEntry{SessionKey: "never"}
	all := []protocol.SessionEntry{at("a", 3, 28, 11), hidden, at("b", 3, 28, 0), at("c", 3, 27, 23), at("d", 3, 26, 23), at("e", 3, 21, 0), tagged, at("g", 3, 2, 0), old, at("j", 1, 3, 0), at("k", -3, 3, 0), never}
	for _, c := range []struct {
		name   string
		filter Filter
		want   string
	}{
		{"all", Filter{}, "Pinned: p\nToday: a b\nYesterday: c\nPrevious 7 days: d e\nMarch: w g\nJanuary: j\nSeptember 2025: k\nJanuary 1970: never\n"},
		{"archived", Filter{Archived: true}, "Today: h\n"},
		{"tag", Filter{Tag: "work"}, "March: w\n"},
		{"nothing", Filter{Tag: "home"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := lines(Groups(all, c.filter, now)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
	v := feed.View{Sessions: feed.Sessions{List: all}}
	if got := v.Sessions.List.Tags(); !slices.Equal(got, []feed.TagCount{{Name: "work", Chats: 1}}) || v.Sessions.List.Archived() != 1 {
		t.Errorf("tags %v, %d archived", got, v.Sessions.List.Archived())
	}
}

func TestNextQuestionGoesThroughTheChats(t *testing.T) {
	t.Parallel()
	ask := func(id, key string) protocol.Question {
		return protocol.Question{ID: protocol.QuestionID(id), Kind: protocol.AskCall, SessionKey: protocol.SessionKey(key)}
	}
	v := feed.View{Questions: feed.Questions{Pending: []protocol.Question{ask("1", "a"), ask("2", "b"), ask("3", "a"), ask("4", "c")}}}
	for after, want := range map[protocol.SessionKey]protocol.QuestionID{"x": "1", "a": "2", "b": "4", "c": "1"} {
		if q, ok := v.NextQuestion(after); !ok || q.ID != want {
			t.Errorf("after %s: %s, want %s", after, q.ID, want)
		}
	}
	if _, ok := (feed.View{}).NextQuestion("a"); ok {
		t.Error("a question without any")
	}
}

func TestChatsThatTheSnapshotLacksAreLoaded(t *testing.T) {
	entry := func(i int) protocol.SessionEntry {
		return protocol.SessionEntry{SessionKey: protocol.SessionKey(fmt.Sprint("c", i)), LastActiveAt: int64(100_000 - i)}
	}
	const all = 1203
	feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) {
		for i := range protocol.MaxSnapshotSessions {
			f.Snapshot.Sessions = append(f.Snapshot.Sessions, entry(i))
		}
		feedtest.On(f, protocol.SessionsList, func(p protocol.SessionsListParams) (protocol.SessionsListResult, error) {
			r := protocol.SessionsListResult{Count: all}
			for i := p.Offset - 1; i < min(all, p.Offset+p.Limit); i++ { // a chat moved down meanwhile
				r.Sessions = append(r.Sessions, entry(i))
			}
			return r, nil
		})
	}, func(t *testing.T, a *chatFeed, _ *feedtest.Gateway) {
		synctest.Wait()
		v := a.View()
		if len(v.Sessions.List) != all || v.Sessions.Loading || v.Sessions.List[all-1].SessionKey != "c1202" {
			t.Errorf("%d chats, loading %v; want %d and false", len(v.Sessions.List), v.Sessions.Loading, all)
		}
	})
}

func TestTagsArePatchedForEachChat(t *testing.T) {
	feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) {
		f.Snapshot.Sessions = []protocol.SessionEntry{{SessionKey: "a", Tags: []string{"home"}}, {SessionKey: "b"}}
		feedtest.On(f, protocol.SessionPatch, func(p protocol.SessionPatchParams) (protocol.OK, error) { return protocol.OK{OK: true}, nil })
	}, func(t *testing.T, a *chatFeed, f *feedtest.Gateway) {
		synctest.Wait()
		a.chats.Tag("work", true, "a", "b")
		synctest.Wait()
		a.chats.Tag("home", false, "a")
		synctest.Wait()
		var got []string
		for _, c := range f.Called(protocol.SessionPatch.Name) {
			got = append(got, string(c))
		}
		want := []string{`{"sessionKey":"a","tags":["home","work"]}`, `{"sessionKey":"b","tags":["work"]}`, `{"sessionKey":"a","tags":[]}`}
		slices.Sort(got[:2]) // sent at once
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestManyChatsAreDeletedExceptThoseThatFail(t *testing.T) {
	feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.SessionDelete, func(p protocol.SessionParams) (protocol.SessionDeleteResult, error) {
			if p.SessionKey == "c7" {
				return protocol.SessionDeleteResult{}, protocol.ErrNotFound.With("no chat")
			}
			at, _ := strconv.ParseInt(string(p.SessionKey[1:]), 10, 64)
			return protocol.SessionDeleteResult{OK: true, UndoUntil: 1000 - at}, nil
		})
	}, func(t *testing.T, a *chatFeed, _ *feedtest.Gateway) {
		synctest.Wait()
		var keys []protocol.SessionKey
		for i := range 40 {
			keys = append(keys, protocol.SessionKey(fmt.Sprint("c", i)))
		}
		deleted, until, err := a.chats.DeleteAll(t.Context(), keys)
		if len(deleted) != 39 || slices.Contains(deleted, "c7") || !errors.Is(err, protocol.ErrNotFound) || until.UnixMilli() != 1000-39 {
			t.Errorf("%d deleted, until %d, %v", len(deleted), until.UnixMilli(), err)
		}
	})
}

func TestSearchListsEachChatOnceWithItsNewestMessage(t *testing.T) {
	hit := func(key, id string, archived bool) protocol.SearchHit {
		return protocol.SearchHit{SessionKey: protocol.SessionKey(key), MessageID: protocol.MessageID(id), Archived: archived, Title: "T " + key}
	}
	feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) {
		f.Snapshot.Sessions = []protocol.SessionEntry{{SessionKey: "a", Title: "The Parser"}, {SessionKey: "b", Title: "Photos"}, {SessionKey: "c", Title: "Other", Tags: []string{"parser"}}}
		feedtest.On(f, protocol.SessionsSearch, func(p protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error) {
			if p.Page == 0 {
				return protocol.SessionsSearchResult{Hits: []protocol.SearchHit{hit("b", "5", true), hit("gone", "4", false)}, Next: 9}, nil
			}
			return protocol.SessionsSearchResult{Hits: []protocol.SearchHit{hit("a", "3", false), hit("b", "2", false), hit("a", "1", false)}}, nil
		})
	}, func(t *testing.T, a *chatFeed, _ *feedtest.Gateway) {
		synctest.Wait()
		var got []string
		search := func(query string) {
			t.Helper()
			got = nil
			if err := a.chats.Search(t.Context(), query, func(list []Match, all bool) {
				line := fmt.Sprint(all)
				for _, m := range list {
					line += " " + m.Chat.Title
					if m.Hit != nil {
						line += "@" + string(m.Hit.MessageID)
					}
				}
				got = append(got, line)
			}); err != nil {
				t.Fatal(err)
			}
		}
		search("parser")
		want := []string{"false The Parser Other Photos@5 T gone@4", "true The Parser@3 Other Photos@2 T gone@4"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		search("?")
		if !slices.Equal(got, []string{"true"}) {
			t.Errorf("without words: %q", got)
		}
	})
}

func TestUnusedChatHasNoMessagesNamesOrSettings(t *testing.T) {
	for name, e := range map[string]protocol.SessionEntry{
		"with messages": {MessageCount: 1}, "main": {Main: true}, "named": {Title: "x"}, "pinned": {Pinned: true}, "archived": {Archived: true},
		"tagged": {Tags: []string{"x"}}, "configured": {Settings: &protocol.SessionPrefs{ThinkingLevel: "high"}},
	} {
		e.SessionKey = "touched"
		if got := (feed.View{Sessions: feed.Sessions{List: []protocol.SessionEntry{e}}}).Sessions.List.Unused(); got != "" {
			t.Errorf("a chat that is %s counts as unused", name)
		}
		if got := (feed.View{Sessions: feed.Sessions{List: []protocol.SessionEntry{e, {SessionKey: "a", Settings: &protocol.SessionPrefs{}}, {SessionKey: "b"}}}}).Sessions.List.Unused(); got != "a" {
			t.Errorf("beside a chat that is %s: got %q, want a", name, got)
		}
	}
}

func TestActionsBeforeTheFirstConnectionReportAProblem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newChatFeed()
		defer a.Close()
		a.chats.Rename("a", "b")
		if _, err := a.chats.Create(t.Context()); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("NewChat: got %v, want error ErrUnavailable", err)
		}
		synctest.Wait()
		if n := a.View().Notice; n == nil || !strings.HasPrefix(n.Text, "Not connected") {
			t.Errorf(`notice: got %+v, want a Text that begins with "Not connected"`, n)
		}
	})
}
