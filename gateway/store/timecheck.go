package store

import (
	"strings"
	"time"

	"gorm.io/gorm"
)

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
func (s *Search) addTimeChecks(tx *gorm.DB, texts []textRow) error {
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
