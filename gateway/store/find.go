package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// place is where a page of [Store.FindSessions] begins: after a number of sessions whose name
// matches, or, when all of those were returned, below the ID of a text.
type place struct {
	named int
	top   int64
}

const (
	namedPage = "n" // followed by a number
	textsPage = "t"
)

func (p place) String() string {
	if p.top > 0 {
		return textsPage + strconv.FormatInt(p.top, 10)
	}
	return namedPage + strconv.Itoa(p.named)
}

func parsePlace(s string) (p place, err error) {
	n := int64(0)
	if s != "" {
		n, err = strconv.ParseInt(s[1:], 10, 64)
	}
	switch {
	case err == nil && n >= 0 && (s == "" || strings.HasPrefix(s, namedPage)):
		p.named = int(n)
	case err == nil && n > 0 && strings.HasPrefix(s, textsPage):
		p.top = n
	default:
		return p, protocol.ErrBadRequest.With("page must be the next of an earlier answer")
	}
	return p, nil
}

// Sessions returns a page of the sessions that match the query and are not deleted. First come
// those with the text anywhere in their label or first words, ignoring case, by last activity; then
// those with a message that [Store.Search] finds, also from before a reset, by the newest such
// message. A page has at most limit sessions (1 or more). It may have fewer, or none, and still
// have a next page, because in a large store the search stops after a while. page is the next of
// the previous page, empty for the first one; any other value fails with protocol.ErrBadRequest.
// next is empty when the search is complete. A session whose matching messages are far apart may be
// on more than one page.
func (s *Search) Sessions(ctx context.Context, query, page string, limit int) (list []Session, next string, err error) {
	from, err := parsePlace(page)
	if err != nil {
		return nil, "", err
	}
	err = s.read(ctx, "find chats", func(db *gorm.DB) error {
		if from.top == 0 {
			if list, err = sessions(db.Where("deleted_at = 0 AND instr(search_text, ?) > 0", fold(query)).Order("last_active_at DESC, key").Offset(from.named).Limit(limit)); err != nil {
				return err
			}
			if len(list) == limit {
				next = place{named: from.named + limit}.String()
				return nil
			}
			from.top = 1<<62 - 1
		}
		keys, below, err := s.newestHolders(db, inWords(query), from.top, limit-len(list))
		if err != nil {
			return err
		}
		if below > 0 {
			next = place{top: below}.String()
		}
		if len(keys) == 0 {
			return nil
		}
		raw, err := protocol.Marshal(keys)
		if err != nil {
			return err
		}
		more, err := sessions(db.Where("deleted_at = 0 AND instr(search_text, ?) = 0 AND key IN (SELECT value FROM json_each(?))", fold(query), string(raw)))
		at := func(f Session) int { return slices.Index(keys, string(f.Key)) }
		slices.SortFunc(more, func(a, b Session) int { return at(a) - at(b) })
		list = append(list, more...)
		return err
	})
	return list, next, err
}

// newestHolders returns the sessions of the newest texts with all terms and IDs below top, at most
// limit. The search continues below next; 0 means that it is complete.
func (s *Search) newestHolders(db *gorm.DB, terms []string, top int64, limit int) (keys []string, next int64, err error) {
	if len(terms) == 0 {
		return nil, 0, nil
	}
	began := time.Now()
	rows, err := db.Raw(`SELECT rowid, (SELECT session_key FROM message_texts t WHERE t.id = message_search.rowid) FROM message_search
		WHERE message_search MATCH ? AND rowid < ? ORDER BY rowid DESC`, s.matching(terms), top).Rows()
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	known := map[string]bool{}
	for rows.Next() {
		var id int64
		var key *string // nil: a mark
		if err := rows.Scan(&id, &key); err != nil {
			return nil, 0, err
		}
		if key != nil && !known[*key] {
			known[*key] = true
			keys = append(keys, *key)
		}
		if len(keys) == limit || s.tired(began) {
			return keys, id, nil
		}
	}
	return keys, 0, rows.Err()
}

// tired reports whether a search that began at the given time has used up its time.
func (s *Search) tired(began time.Time) bool { return s.patience > 0 && time.Since(began) > s.patience }

// matching returns the index query for all terms. If the search has a time limit, it also matches
// marks.
func (s *Search) matching(terms []string) string {
	if s.patience > 0 {
		marked := make([]string, len(terms))
		for i, t := range terms {
			marked[i] = orMark(t)
		}
		terms = marked
	}
	return strings.Join(terms, " AND ")
}
