package state

import (
	"context"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// MessagePage is a page of found messages. Next is the next page, 0 if there is none. Reached, in
// Unix milliseconds, is set when the time limit was reached before the page was full: older
// messages have not been searched.
type MessagePage struct {
	Hits    []protocol.SearchHit
	Next    int64
	Reached int64
}

// SearchPage is the maximum number of messages per page.
const SearchPage = 100

// SearchMessages searches the messages of all chats, newest first; page is Next of the previous
// page. It blocks.
func (c *Chats) SearchMessages(ctx context.Context, query string, page int64) (MessagePage, error) {
	r, err := Call(ctx, c.app, protocol.SessionsSearch, protocol.SessionsSearchParams{Query: query, Limit: SearchPage, Page: page})
	return MessagePage{r.Hits, r.Next, r.Reached}, err
}

// chatsFound is the maximum number of chats of a search.
const chatsFound = 50

// Search searches chats by title or text. A large store takes a while, so found is called with all
// results so far whenever there are more, and at the end with all set to true. found owns the list.
// Search blocks until the end.
func (c *Chats) Search(ctx context.Context, query string, found func(list []protocol.SessionEntry, all bool)) error {
	var list []protocol.SessionEntry
	for page := ""; ; {
		r, err := Call(ctx, c.app, protocol.SessionsList, protocol.SessionsListParams{Query: query, Limit: chatsFound, Page: page})
		if err != nil {
			return err
		}
		had := len(list)
		for _, e := range r.Sessions { // a chat may be in several pages
			if len(list) < chatsFound && !slices.ContainsFunc(list, func(f protocol.SessionEntry) bool { return f.SessionKey == e.SessionKey }) {
				list = append(list, e)
			}
		}
		page = r.Next
		all := page == "" || len(list) == chatsFound
		if all || len(list) > had {
			found(slices.Clone(list), all)
		}
		if all {
			return nil
		}
	}
}

// beforeHit is the number of characters of context before the first match, so that the match is
// visible in one line.
const beforeHit = 40

// HitText returns the text around the matches in one line, with the matches in “quotes”.
func HitText(h protocol.SearchHit) string {
	var b strings.Builder
	for i, s := range h.Snippet {
		if r := []rune(s.Text); i == 0 && !s.Mark && len(r) > beforeHit {
			s.Text = "…" + string(r[len(r)-beforeHit:])
		}
		if s.Mark {
			b.WriteString("“" + strings.TrimSpace(s.Text) + "”")
		} else {
			b.WriteString(s.Text)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// HitWho describes the author and time of a message, and whether its chat was reset since.
func HitWho(h protocol.SearchHit, now time.Time) string {
	who := "Fairlead"
	switch {
	case h.Role == protocol.RoleUser:
		who = "You"
	case h.ToolName != "":
		who = string(h.ToolName)
		if node, verb, ok := h.ToolName.Split(); ok {
			who = verb + " on " + string(node)
		}
	}
	who += " · " + When(h.Timestamp, now)
	if h.Archived {
		who += " · archived"
	}
	return who
}
