package store

import (
	"context"
	"fmt"
	"log/slog"

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

// orTimeCheck makes a term of a query match time checks too. All terms of a query need it.
func orTimeCheck(term string) string { return "(" + term + " OR chat : " + timeCheckWord + ")" }

// addTimeCheck counts stored texts, and adds a time check after the last one when there are enough.
// Only the writing goroutine calls it. If the count is lost, because the program stops or a
// transaction fails, only a gap becomes larger.
func (s *Search) addTimeCheck(tx *gorm.DB, texts []textRow) error {
	if s.timeLimit == 0 {
		return nil
	}
	if s.sinceTimeCheck += len(texts); s.sinceTimeCheck < s.timeCheckEvery {
		return nil
	}
	s.sinceTimeCheck = 0
	return putTimeCheck(tx, texts[len(texts)-1].ID)
}

// putTimeCheck adds a time check to the millisecond of a text, unless that has one or is full.
func putTimeCheck(tx *gorm.DB, id int64) error {
	id = id/idsPerMilli*idsPerMilli + idsPerMilli - 1
	return execSQL(tx, "INSERT INTO message_search (rowid, chat, text) SELECT ?, ?, '' WHERE NOT EXISTS (SELECT 1 FROM message_search_docsize WHERE id = ?)", id, timeCheckWord, id)
}

// addMissingTimeChecks adds time checks between the texts after the last one: between all of them
// in a store that has only now become large.
func (s *Search) addMissingTimeChecks(ctx context.Context, stop <-chan struct{}) {
	var ids []int64
	err := s.read(ctx, "count texts", func(db *gorm.DB) error {
		var last int64
		if err := db.Raw("SELECT rowid FROM message_search WHERE message_search MATCH 'chat : " + timeCheckWord + "' ORDER BY rowid DESC LIMIT 1").Scan(&last).Error; err != nil {
			return err
		}
		for {
			select {
			case <-stop:
				return nil
			default:
			}
			var next int64
			err := db.Raw("SELECT id FROM message_search_docsize WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?", last, s.timeCheckEvery-1).Scan(&next).Error
			if err != nil || next == 0 {
				return err
			}
			ids, last = append(ids, next), next
		}
	})
	if err == nil && len(ids) > 0 {
		err = s.write(ctx, "add time checks", func(tx *gorm.DB) error {
			for _, id := range ids {
				if err := putTimeCheck(tx, id); err != nil {
					return fmt.Errorf("add time check: %w", err)
				}
			}
			return nil
		})
	}
	if err != nil {
		slog.Warn("Adding time checks to the search index failed; long searches may be slow", "err", err)
	}
}
