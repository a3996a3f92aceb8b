package store

import (
	"context"
	"fmt"
	"log/slog"

	"gorm.io/gorm"
)

// SQLite looks for the next message that matches in one go, however long that takes, and cannot be asked meanwhile. So the index has marks between the
// texts: entries without a text, which every search finds too, and at which it looks at the clock. A mark is one word, which no chat is called, and
// has the last id of a millisecond.

// markWord is the word of a mark, in the column of the chats.
const markWord = "mark"

// markEvery is how many texts lie between two marks. Looking through them for a phrase of words that are in each takes a millisecond or two.
const markEvery = 4096

// orMark lets a term of a query match marks too. All terms of a query need it.
func orMark(term string) string { return "(" + term + " OR chat : " + markWord + ")" }

// markOwn counts texts that are stored, and puts a mark behind the last one when there are enough. It is called by the one goroutine that writes. What
// is lost of the count, when the program ends or a transaction fails, only makes a gap larger.
func (s *Store) markOwn(tx *gorm.DB, texts []textRow) error {
	if s.patience == 0 {
		return nil
	}
	if s.unmarked += len(texts); s.unmarked < s.markEvery {
		return nil
	}
	s.unmarked = 0
	return putMark(tx, texts[len(texts)-1].ID)
}

// putMark puts a mark into the millisecond of a text. One that has a mark, or is full, gets none.
func putMark(tx *gorm.DB, id int64) error {
	id = id/perMilli*perMilli + perMilli - 1
	_, err := run(tx, "INSERT INTO message_search (rowid, chat, words) SELECT ?, ?, '' WHERE NOT EXISTS (SELECT 1 FROM message_search_docsize WHERE id = ?)", id, markWord, id)
	return err
}

// markAll puts marks between the texts behind the last mark: all of them in a store that was small until now, or that an older Fairlead wrote.
func (s *Store) markAll(ctx context.Context) {
	var ids []int64
	err := s.read(ctx, "count texts", func(db *gorm.DB) error {
		var last int64
		if err := db.Raw("SELECT rowid FROM message_search WHERE message_search MATCH 'chat : " + markWord + "' ORDER BY rowid DESC LIMIT 1").Scan(&last).Error; err != nil {
			return err
		}
		for {
			select {
			case <-s.stop:
				return nil
			default:
			}
			var next int64
			err := db.Raw("SELECT id FROM message_search_docsize WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?", last, s.markEvery-1).Scan(&next).Error
			if err != nil || next == 0 {
				return err
			}
			ids, last = append(ids, next), next
		}
	})
	if err == nil && len(ids) > 0 {
		err = s.write(ctx, "mark texts", func(tx *gorm.DB) error {
			for _, id := range ids {
				if err := putMark(tx, id); err != nil {
					return fmt.Errorf("mark: %w", err)
				}
			}
			return nil
		})
	}
	if err != nil {
		slog.Warn("Long searches cannot answer in time until the next start", "err", err)
	}
}
