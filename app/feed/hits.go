package feed

import (
	"context"
	"strings"

	"fairlead/gateway/protocol"
)

// SearchPage is the maximum number of messages per page.
const SearchPage = 100

// SearchMessages searches all messages, newest first, from Next of the last page. It blocks.
func SearchMessages(ctx context.Context, g Gateway, query string, page int64) (protocol.SessionsSearchResult, error) {
	return Call(ctx, g, protocol.SessionsSearch, protocol.SessionsSearchParams{Query: query, Limit: SearchPage, Page: page})
}

// HitText returns the text around the matches in one line, with the matches between begin and end.
// So that the first match is visible, at most lead characters precede it.
func HitText(h protocol.SearchHit, lead int, begin, end string) string {
	var b strings.Builder
	for i, s := range h.Snippet {
		if r := []rune(s.Text); i == 0 && !s.Mark && len(r) > lead {
			_, words, _ := strings.Cut(string(r[len(r)-lead:]), " ") // whole words
			s.Text = "…" + words
		}
		if s.Mark {
			b.WriteString(begin + strings.TrimSpace(s.Text) + end)
		} else {
			b.WriteString(s.Text)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// HitWord returns the first text that matches.
func HitWord(h protocol.SearchHit) string {
	for _, s := range h.Snippet {
		if s.Mark {
			return strings.TrimSpace(s.Text)
		}
	}
	return ""
}
