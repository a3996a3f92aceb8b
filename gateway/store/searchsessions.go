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

// parseSearchPage returns where a page of [Search.Sessions] begins: after a number of sessions
// whose name matches, which the page has as a negative number, or, when all of those were returned,
// below the ID of a text.
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
		words := textTerms(query)
		if len(words) == 0 {
			return nil
		}
		var keys []string
		const key = "(SELECT session_key FROM message_texts t WHERE t.id = message_search.rowid)"
		below, err := s.newest(db, key, words, 0, top, func(_ int64, key string) bool {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
			return len(keys) < limit-len(list)
		})
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

// SQLite searches for the next matching message in one step, however long that takes, and cannot be
// interrupted meanwhile. So the index has time checks between the texts: entries without a text
// that every search matches, and at which it looks at the clock. A time check is one word that is
// not a key of any chat, and has the last ID of a millisecond. FTS5 does not help here: it applies
// a bound of the row ID only to a match that it has found.

const (
	// timeCheckWord is the word of a time check, in the column of the chats.
	timeCheckWord = "mark"
	// timeCheckEvery is the number of texts between two time checks. Searching them for a phrase of
	// words that are in each takes a millisecond or two.
	timeCheckEvery = 4096
)

// addTimeChecks counts stored texts, and adds a time check after every timeCheckEvery of them. Only
// the writing goroutine calls it. The count starts at random, so that time checks are added even if
// the program never runs long enough to store that many; if a transaction fails, only a gap becomes
// larger.
func (s *Search) addTimeChecks(tx *gorm.DB, texts []messageTextRow) error {
	for _, t := range texts {
		if s.sinceTimeCheck++; s.sinceTimeCheck < s.timeCheckEvery {
			continue
		}
		s.sinceTimeCheck = 0
		if err := putTimeCheck(tx, t.ID); err != nil {
			return err
		}
	}
	return nil
}

// putTimeCheck adds a time check to the millisecond of a text, unless that has one or is full.
func putTimeCheck(tx *gorm.DB, id int64) error {
	id = id/idsPerMilli*idsPerMilli + idsPerMilli - 1
	return execSQL(tx, "INSERT INTO message_search (rowid, chat, text) SELECT ?, ?, '' WHERE NOT EXISTS (SELECT 1 FROM message_search_docsize WHERE id = ?)", id, timeCheckWord, id)
}

// isOverTime reports whether a search that began at the given time has used up its time.
func (s *Search) isOverTime(began time.Time) bool {
	return s.timeLimit > 0 && time.Since(began) > s.timeLimit
}

// matchQuery returns the index query for all terms. If the search has a time limit, each term also
// matches time checks.
func (s *Search) matchQuery(terms []string) string {
	if s.timeLimit > 0 {
		terms = convert(terms, func(term string) string { return "(" + term + " OR chat : " + timeCheckWord + ")" })
	}
	return strings.Join(terms, " AND ")
}
