package chats

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// Match is a chat that a search found. Hit is its newest message that matches, nil if only the
// chat's title or tags do.
type Match struct {
	Chat protocol.SessionEntry
	Hit  *protocol.SearchHit
}

// maxMatches is the number of chats that a search returns.
const maxMatches = 50

// Search searches the messages of all chats and blocks until the end. It calls found, which owns
// the list, with the matches so far of titles and messages whenever there are more, and at the end
// with all set. Each chat is in the list once: those with a matching title first.
func (c *Chats) Search(ctx context.Context, query string, found func(list []Match, all bool)) error {
	v := c.feed.View()
	list := MatchTitles(v.Sessions.List, query)
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r > unicode.MaxASCII }
	if !strings.ContainsFunc(query, isWord) {
		found(list, true) // the gateway searches for words only
		return nil
	}
	for page := int64(0); ; {
		r, err := feed.SearchMessages(ctx, c.feed, query, page)
		if err != nil {
			return err
		}
		for _, h := range r.Hits {
			list = addHit(v, list, h)
		}
		page = r.Next
		all := page == 0 || len(list) >= maxMatches
		if all || len(r.Hits) > 0 {
			found(slices.Clone(list), all)
		}
		if all {
			return nil
		}
	}
}

// addHit adds a message to the match of its chat. A message of the present conversation replaces
// one from before a reset.
func addHit(v feed.View, list []Match, h protocol.SearchHit) []Match {
	at := slices.IndexFunc(list, func(m Match) bool { return m.Chat.SessionKey == h.SessionKey })
	if at < 0 {
		e, known := v.Session(h.SessionKey)
		if !known {
			e.Title = h.Title
		}
		return append(list, Match{e, &h})
	}
	if old := list[at].Hit; old == nil || old.Archived && !h.Archived {
		list[at].Hit = &h
	}
	return list
}

// MatchTitles returns the chats whose title or tags contain all words of a query, ignoring case.
func MatchTitles(l feed.ChatList, query string) (list []Match) {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(query, `"`, " ")))
	for _, e := range l {
		text := strings.ToLower(feed.TitleOf(e) + "\n" + strings.Join(e.Tags, "\n"))
		if len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			list = append(list, Match{Chat: e})
		}
		if len(list) == maxMatches {
			break
		}
	}
	return list
}
