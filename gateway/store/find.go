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

// place is where a page of [Store.FindSessions] begins: behind some of the sessions that are called so, or, when all of them were given, below the id of
// a text.
type place struct {
	named int
	top   int64
}

const (
	namedPage = "n" // with a number behind it
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

// FindSessions returns a page of the sessions that are not deleted and have a text: first those with it anywhere in their label or first words, without
// regard to case, the last active first; then those with a message that [Store.Search] finds, also from before a reset, the newest such message first.
// A page has limit at most (1 or more); it may have fewer, and none, and still have one that follows: in a large store it ends after a while. page is
// the next of the page before, empty for the first one, else a protocol.ErrBadRequest; next is empty when all is looked through. A session with
// messages that are far apart may be in more than one page.
func (s *Store) FindSessions(ctx context.Context, query, page string, limit int) (list []Session, next string, err error) {
	from, err := parsePlace(page)
	if err != nil {
		return nil, "", err
	}
	err = s.read(ctx, "find chats", func(db *gorm.DB) error {
		if from.top == 0 {
			if list, err = sessions(db.Where("deleted_at = 0 AND instr(search, ?) > 0", fold(query)).Order("last_active_at DESC, key").Offset(from.named).Limit(limit)); err != nil {
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
		more, err := sessions(db.Where("deleted_at = 0 AND instr(search, ?) = 0 AND key IN (SELECT value FROM json_each(?))", fold(query), string(raw)))
		at := func(f Session) int { return slices.Index(keys, string(f.Key)) }
		slices.SortFunc(more, func(a, b Session) int { return at(a) - at(b) })
		list = append(list, more...)
		return err
	})
	return list, next, err
}

// newestHolders returns the sessions of the newest texts with all terms and ids below top, limit at most. It goes on below next; 0 is the end.
func (s *Store) newestHolders(db *gorm.DB, terms []string, top int64, limit int) (keys []string, next int64, err error) {
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
		var key *string // none: a mark
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

// tired says that a search which began then has taken long enough.
func (s *Store) tired(began time.Time) bool { return s.patience > 0 && time.Since(began) > s.patience }

// matching is the query of the index for all terms, which finds marks too when the time is to be looked at.
func (s *Store) matching(terms []string) string {
	if s.patience > 0 {
		marked := make([]string, len(terms))
		for i, t := range terms {
			marked[i] = orMark(t)
		}
		terms = marked
	}
	return strings.Join(terms, " AND ")
}
