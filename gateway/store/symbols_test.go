package store

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestEmojiAreFound(t *testing.T) {
	s := openTest(t)
	const other protocol.SessionKey = "agent:main:app:chat:2"
	long := strings.Repeat("ä", 100)
	must(s.Messages.Append(t.Context(), key, at(1000, "user", "The build is 👍 now"), at(3000, "assistant", long+"❤\uFE0F"+long)))(t)
	must(s.Messages.Append(t.Context(), other, at(2000, "user", "👍 👍🏽 → done")))(t)
	for _, c := range []struct {
		query       string
		key         protocol.SessionKey
		from, until int64
		want        string
	}{
		{"👍", "", 0, 0, "[👍] [👍]🏽 → done | The build is [👍] now"},
		{" 👍\t→ ", "", 0, 0, "[👍] [👍]🏽 [→] done"},
		{`"👍"`, key, 0, 0, "The build is [👍] now"},
		{"👍", "", 1500, 0, "[👍] [👍]🏽 → done"},
		{"👍", "", 0, 1500, "The build is [👍] now"},
		{"❤", "", 0, 0, long + "[❤]\uFE0F" + long},
		{"👍🏽", "", 0, 0, "👍 [👍🏽] → done"},
		{"build 👍", "", 0, 0, "The [build] is [👍] now"},
		{"👎", "", 0, 0, ""},
		{"👍 nothing", "", 0, 0, ""},
	} {
		if got := snippets(t, s, c.query, c.key, c.from, c.until); got != c.want {
			t.Errorf("%q: got %q\nwant %q", c.query, got, c.want)
		}
	}
	for query, can := range map[string]bool{"": false, " \t": false, `""`: false, "\uFE0F": false, "👍": true, "→": true, "word": true, "%": false, "👍 %": true} {
		if Searchable(query) != can {
			t.Errorf("%q: got searchable %v, want %v", query, !can, can)
		}
	}
	must(s.Sessions.Update(t.Context(), key, func(s *Session) { s.DeletedAt = 5 }))(t)
	if got := snippets(t, s, "❤", "", 0, 0); got != "" {
		t.Errorf("in a deleted chat: got %q, want nothing", got)
	}
}

func TestEmojiArePagedThrough(t *testing.T) {
	s := openTest(t)
	for i := range 5 {
		must(s.Messages.Append(t.Context(), key, at(int64(i+1), "user", "👍"+strings.Repeat("!", i))))(t)
	}
	var got []string
	for before := int64(0); ; {
		found, next, err := s.Search.Messages(t.Context(), "👍", "", 0, 0, before, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			got = append(got, strings.NewReplacer(MarkStart, "", MarkEnd, "").Replace(f.Snippet))
		}
		before = next
		if next == 0 {
			break
		}
	}
	if strings.Join(got, " ") != "👍!!!! 👍!!! 👍!! 👍! 👍" {
		t.Errorf("got %q, want the most frequent first", got)
	}
}
