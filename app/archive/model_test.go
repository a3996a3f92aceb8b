package archive

import (
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/export"
	"fairlead/gateway/protocol"
)

// perPage is the number of messages that are loaded at once.
const perPage = 150

// addArchives adds archives to the gateway: a reset conversation of n messages, and a compacted
// part.
func addArchives(f *feedtest.Gateway, n int64) {
	feedtest.On(f, protocol.SessionArchives, func(protocol.SessionParams) (protocol.SessionArchivesResult, error) {
		return protocol.SessionArchivesResult{Archives: []protocol.ArchiveInfo{
			{ID: "c", SessionID: "now", Kind: protocol.ArchiveCompact, Messages: 3},
			{ID: "r", SessionID: "then", Kind: protocol.ArchiveReset, Messages: int(n), CreatedAt: 1},
		}}, nil
	})
	feedtest.On(f, protocol.SessionArchiveRead, func(p protocol.SessionArchiveReadParams) (protocol.SessionArchiveReadResult, error) {
		var r protocol.SessionArchiveReadResult
		end := n
		if p.Before > 0 {
			end = p.Before - 1
		}
		begin := int64(1)
		if p.Limit > 0 {
			begin = max(1, end-int64(p.Limit)+1)
		}
		for i := begin; i <= end; i++ {
			r.Messages = append(r.Messages, protocol.Message{ID: "m", Seq: i, Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("m")}})
		}
		return r, nil
	})
}

func TestListHasOnlyArchivesFromBeforeAReset(t *testing.T) {
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) { addArchives(f, 4) }, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		list, err := newModel(a, chats.New(a)).List(t.Context(), "k")
		if err != nil || len(list) != 1 || list[0].ID != "r" {
			t.Errorf(`got %+v, %v; want no error, length 1 and list[0].ID "r"`, list, err)
		}
		if i, err := newModel(a, chats.New(a)).Find(t.Context(), protocol.SearchHit{SessionKey: "k", SessionID: "then"}); err != nil || i.ID != "r" {
			t.Errorf(`got %+v, %v; want no error and ID "r"`, i, err)
		}
		if _, err := newModel(a, chats.New(a)).Find(t.Context(), protocol.SearchHit{SessionKey: "k", SessionID: "gone"}); err == nil {
			t.Error("an archive that is gone is found")
		}
		var md strings.Builder
		err = newModel(a, chats.New(a)).Export(t.Context(), "k", list[0], export.Formats[0], &md)
		if err != nil || !strings.Contains(md.String(), "until 1 January 1970\n") || strings.Count(md.String(), "## You") != 4 {
			t.Errorf(`got %s, %v; want no error, "until 1 January 1970\n" in it and "## You" 4 times`, md.String(), err)
		}
	})
}

func TestArchiveIsReadByPages(t *testing.T) {
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) { addArchives(f, 2*perPage) }, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		c := newModel(a, chats.New(a)).Open("k", "r")
		synctest.Wait()
		if v := c.Value.Get(); len(v.List) != perPage || !v.More || v.Loading {
			t.Errorf("%d messages, more %v; want %d and true", len(v.List), v.More, perPage)
		}
		if err := c.Reach(t.Context(), 5); err != nil {
			t.Error(err)
		}
		if v := c.Value.Get(); v.List[0].Seq > 5 {
			t.Errorf("read from %d on, want at most 5", v.List[0].Seq)
		}
		c.Older()
		c.Older()
		synctest.Wait()
		if v := c.Value.Get(); len(v.List) != 2*perPage || v.More {
			t.Errorf("%d messages, more %v; want %d and false", len(v.List), v.More, 2*perPage)
		}
	})
}

func TestArchiveFitsInALine(t *testing.T) {
	for want, i := range map[string]protocol.ArchiveInfo{
		"1 message": {Messages: 1}, "24 messages · 12k tokens": {Messages: 24, Tokens: protocol.Tokens{Total: 12400}},
		"2 messages · 900 tokens": {Messages: 2, Tokens: protocol.Tokens{Total: 900}},
	} {
		if got := ArchiveLine(i); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRestoredConversationNamesTheReplacedOne(t *testing.T) {
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.SessionArchiveRestore, func(p protocol.SessionArchiveRestoreParams) (protocol.SessionArchiveRestoreResult, error) {
			r := protocol.SessionArchiveRestoreResult{OK: true}
			if p.ID == "r" {
				r.Archived = &protocol.ArchiveInfo{ID: "now"}
			}
			return r, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		for id, want := range map[protocol.ArchiveID]protocol.ArchiveID{"r": "now", "first": ""} {
			if before, err := newModel(a, chats.New(a)).Restore(t.Context(), "k", id); err != nil || before != want {
				t.Errorf("%s: got %q %v; want no error and before %v", id, before, err, want)
			}
		}
	})
}
