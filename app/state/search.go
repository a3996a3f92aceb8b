package state

import (
	"context"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// Found is a page of messages that were found. Next is the page after it, 0 when there is none. Reached, in Unix milliseconds, is set when time was up
// before the page was full: what is older has not been looked through.
type Found struct {
	Hits    []protocol.SearchHit
	Next    int64
	Reached int64
}

// SearchPage is how many messages a page has at most.
const SearchPage = 100

// SearchMessages finds messages of all chats, newest first; page is the Next of the page before. It blocks.
func (a *App) SearchMessages(ctx context.Context, query string, page int64) (Found, error) {
	r, err := Call(ctx, a, protocol.SessionsSearch, protocol.SessionsSearchParams{Query: query, Limit: SearchPage, Page: page})
	return Found{r.Hits, r.Next, r.Reached}, err
}

// chatsFound is how many chats a search lists at most.
const chatsFound = 50

// Search finds chats by title or text. In a large store that takes a while: found is told of all that was found so far, each time there is more, and at
// the end with all true. Its list is found's to keep. It blocks until then.
func (a *App) Search(ctx context.Context, query string, found func(list []protocol.SessionEntry, all bool)) error {
	var list []protocol.SessionEntry
	for page := ""; ; {
		r, err := Call(ctx, a, protocol.SessionsList, protocol.SessionsListParams{Query: query, Limit: chatsFound, Page: page})
		if err != nil {
			return err
		}
		had := len(list)
		for _, e := range r.Sessions { // a chat may be in more than one page
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

// beforeHit is how much text stands before the first word that was found, in characters: it must be seen in one line.
const beforeHit = 40

// HitText is what surrounds the words that were found, in one line. The words stand in “quotes”.
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

// HitWho says who wrote a message and when, and whether its chat was begun afresh since.
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
