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

// searchPage is where a page of [Search.Sessions] begins: after a number of sessions whose name
// matches, or, when all of those were returned, below the ID of a text.
type searchPage struct {
	named int
	top   int64
}

const (
	namedPage = "n" // followed by a number
	textsPage = "t"
)

func (p searchPage) String() string {
	if p.top > 0 {
		return textsPage + strconv.FormatInt(p.top, 10)
	}
	return namedPage + strconv.Itoa(p.named)
}

func parseSearchPage(s string) (p searchPage, err error) {
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
		return p, protocol.ErrBadRequest.With("page must be the next of a previous result")
	}
	return p, nil
}

// Sessions returns a page of the sessions that match the query and are not deleted. First come
// those with the text anywhere in their label or first words, ignoring case, by last activity; then
// those with a message that [Search.Messages] finds, also from before a reset, by the newest such
// message. A page has at most limit sessions (1 or more). It may have fewer, or none, and still
// have a next page, because in a large store the search stops after a while. page is the next of
// the previous page, empty for the first one; any other value fails with protocol.ErrBadRequest.
// next is empty when the search is complete. A session whose matching messages are far apart may be
// on more than one page.
func (s *Search) Sessions(ctx context.Context, query, page string, limit int) (list []Session, next string, err error) {
	from, err := parseSearchPage(page)
	if err != nil {
		return nil, "", err
	}
	err = s.read(ctx, "find chats", func(db *gorm.DB) error {
		if from.top == 0 {
			if err := db.Where("deleted_at = 0 AND instr(search_text, ?) > 0", foldCase(query)).Order("last_active_at DESC, key").Offset(from.named).Limit(limit).Find(&list).Error; err != nil {
				return err
			}
			if len(list) == limit {
				next = searchPage{named: from.named + limit}.String()
				return nil
			}
			from.top = 1<<62 - 1
		}
		keys, below, err := s.newestSessions(db, textTerms(query), from.top, limit-len(list))
		if err != nil {
			return err
		}
		if below > 0 {
			next = searchPage{top: below}.String()
		}
		if len(keys) == 0 {
			return nil
		}
		raw, err := protocol.Marshal(keys)
		if err != nil {
			return err
		}
		var more []Session
		err = db.Where("deleted_at = 0 AND instr(search_text, ?) = 0 AND key IN (SELECT value FROM json_each(?))", foldCase(query), string(raw)).Find(&more).Error
		at := func(f Session) int { return slices.Index(keys, string(f.Key)) }
		slices.SortFunc(more, func(a, b Session) int { return at(a) - at(b) })
		list = append(list, more...)
		return err
	})
	return list, next, err
}

// newestSessions returns the sessions of the newest texts with all terms and IDs below top, at most
// limit. The search continues below next; 0 means that it is complete.
func (s *Search) newestSessions(db *gorm.DB, terms []string, top int64, limit int) (keys []string, next int64, err error) {
	if len(terms) == 0 {
		return nil, 0, nil
	}
	began := time.Now()
	rows, err := db.Raw(`SELECT rowid, (SELECT session_key FROM message_texts t WHERE t.id = message_search.rowid) FROM message_search
		WHERE message_search MATCH ? AND rowid < ? ORDER BY rowid DESC`, s.matchQuery(terms), top).Rows()
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	known := map[string]bool{}
	for rows.Next() {
		var id int64
		var key *string // nil: a time check
		if err := rows.Scan(&id, &key); err != nil {
			return nil, 0, err
		}
		if key != nil && !known[*key] {
			known[*key] = true
			keys = append(keys, *key)
		}
		if len(keys) == limit || s.isOverTime(began) {
			return keys, id, nil
		}
	}
	return keys, 0, rows.Err()
}
