package store

import (
	"context"
	"fmt"
	"log/slog"

	"gorm.io/gorm"
)

// SQLite searches for the next matching message in one step, however long that takes, and cannot be
// interrupted meanwhile. So the index has marks between the texts: entries without a text that
// every search matches, at which it checks the time. A mark is one word that is not a key of any
// chat, and has the last ID of a millisecond.

// markWord is the word of a mark, in the column of the chats.
const markWord = "mark"

// markEvery is the number of texts between two marks. Searching them for a phrase of words that are
// in each takes a millisecond or two.
const markEvery = 4096

// orMark makes a term of a query match marks too. All terms of a query need it.
func orMark(term string) string { return "(" + term + " OR chat : " + markWord + ")" }

// markOwn counts stored texts, and adds a mark after the last one when there are enough. Only the
// writing goroutine calls it. If the count is lost, because the program stops or a transaction
// fails, only a gap becomes larger.
func (s *Search) markOwn(tx *gorm.DB, texts []textRow) error {
	if s.patience == 0 {
		return nil
	}
	if s.unmarked += len(texts); s.unmarked < s.markEvery {
		return nil
	}
	s.unmarked = 0
	return putMark(tx, texts[len(texts)-1].ID)
}

// putMark adds a mark to the millisecond of a text, unless that has one already or is full.
func putMark(tx *gorm.DB, id int64) error {
	id = id/perMilli*perMilli + perMilli - 1
	_, err := run(tx, "INSERT INTO message_search (rowid, chat, text) SELECT ?, ?, '' WHERE NOT EXISTS (SELECT 1 FROM message_search_docsize WHERE id = ?)", id, markWord, id)
	return err
}

// markAll adds marks between the texts after the last mark: between all of them in a store that has
// only now become large, or that an older version wrote.
func (s *Search) markAll(ctx context.Context, stop <-chan struct{}) {
	var ids []int64
	err := s.read(ctx, "count texts", func(db *gorm.DB) error {
		var last int64
		if err := db.Raw("SELECT rowid FROM message_search WHERE message_search MATCH 'chat : " + markWord + "' ORDER BY rowid DESC LIMIT 1").Scan(&last).Error; err != nil {
			return err
		}
		for {
			select {
			case <-stop:
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
