package store

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// parseSearchPage returns where a page of [Search.Sessions] begins: after a number of sessions whose
// name matches, which the page has as a negative number, or, when all of those were returned, below
// the ID of a text.
func parseSearchPage(page string) (named int, top int64, err error) {
	if page == "" {
		return 0, 0, nil
	}
	n, err := strconv.ParseInt(page, 10, 64)
	if err != nil || n == 0 || n < -math.MaxInt32 {
		return 0, 0, protocol.ErrBadRequest.With("page must be the next of a previous result")
	}
	return int(max(-n, 0)), max(n, 0), nil
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
	named, top, err := parseSearchPage(page)
	if err != nil {
		return nil, "", err
	}
	err = s.read(ctx, "find chats", func(db *gorm.DB) error {
		if top == 0 {
			if err := db.Where("deleted_at = 0 AND instr(search_text, ?) > 0", strings.ToLower(query)).Order("last_active_at DESC, key").Offset(named).Limit(limit).Find(&list).Error; err != nil {
				return err
			}
			if len(list) == limit {
				next = strconv.Itoa(-named - limit)
				return nil
			}
			top = 1<<62 - 1
		}
		keys, below, err := s.newestSessions(db, textTerms(query), top, limit-len(list))
		if err != nil {
			return err
		}
		if below > 0 {
			next = strconv.FormatInt(below, 10)
		}
		if len(keys) == 0 {
			return nil
		}
		raw, err := protocol.Marshal(keys)
		if err != nil {
			return err
		}
		var more []Session
		err = db.Where("deleted_at = 0 AND instr(search_text, ?) = 0 AND key IN (SELECT value FROM json_each(?))", strings.ToLower(query), string(raw)).Find(&more).Error
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
