package store

import (
	"context"
	"errors"
	"slices"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// isRemoval reports whether the archive holds what an edit or a deletion removed.
func (a Archive) isRemoval() bool {
	return a.Kind == protocol.ArchiveEdit || a.Kind == protocol.ArchiveDelete
}

var (
	errMessageGone   = protocol.ErrNotFound.With("The message is no longer in this chat.")
	errSummarized    = protocol.ErrConflict.With("This part of the chat was replaced by a summary. Send /compact undo first.")
	errOtherVersion  = protocol.ErrConflict.With("It belongs to a version of the chat that is archived itself. Restore that version first.")
	errOtherArchive  = protocol.ErrConflict.With("It belongs to an earlier conversation of this chat. Restore that conversation first.")
	errNothingRemove = protocol.ErrBadRequest.With("there is nothing to remove")
)

// Replace archives a message of the chat and everything after it, and stores a run and the message
// that starts it in their place. If the message is gone, it fails with protocol.ErrNotFound; if a
// summary has replaced it, with protocol.ErrConflict.
func (s *Archives) Replace(ctx context.Context, id protocol.MessageID, r Run, m protocol.Message, now int64) (a Archive, stored protocol.Message, err error) {
	var msgs []protocol.Message
	err = s.write(ctx, "replace message", func(tx *gorm.DB) error {
		row, err := findSession(tx, r.Session)
		if err != nil {
			return err
		}
		seq, err := seqOf(tx, row, id)
		if err != nil {
			return err
		}
		if a, err = remove(tx, &row, protocol.ArchiveEdit, now, "seq >= ?", seq); err != nil {
			return err
		}
		msgs = []protocol.Message{m}
		if err := s.messages.append(tx, r.Session, msgs); err != nil {
			return err
		}
		return putRun(tx, r)
	})
	if err != nil {
		return Archive{}, protocol.Message{}, err
	}
	return a, msgs[0], nil
}

// Delete removes messages from the conversation. Restore can undo that until PurgeDeletions. If one
// of them is gone, it removes none and fails with protocol.ErrNotFound.
func (s *Archives) Delete(ctx context.Context, key protocol.SessionKey, ids []protocol.MessageID, now int64) (a Archive, err error) {
	err = s.write(ctx, "delete message", func(tx *gorm.DB) error {
		row, err := findSession(tx, key)
		if err != nil {
			return err
		}
		var seqs []int64
		for _, id := range ids {
			seq, err := seqOf(tx, row, id)
			if err != nil {
				return err
			}
			seqs = append(seqs, seq)
		}
		a, err = remove(tx, &row, protocol.ArchiveDelete, now, "seq IN ?", seqs)
		return err
	})
	return a, err
}

// seqOf returns the Seq of a message that is in the conversation and that the model still reads.
func seqOf(tx *gorm.DB, row sessionRow, id protocol.MessageID) (seq int64, err error) {
	err = tx.Model(&messageRow{}).Select("seq").Where("id = ? AND session_id = ? AND "+notRemoved, string(id), string(row.ID)).Take(&seq).Error
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		return 0, errMessageGone
	case err == nil && seq <= row.CompactedThrough:
		return 0, errSummarized
	}
	return seq, err
}

// remove moves the messages of a condition to a new archive, except the notices of compactions,
// which hold the summary that the model reads.
func remove(tx *gorm.DB, row *sessionRow, kind string, now int64, where string, arg any) (Archive, error) {
	a := Archive{ID: protocol.ArchiveID(protocol.NewID()), Key: row.Key, Session: row.ID, Kind: kind, Last: row.NextSeq - 1, CreatedAt: now}
	hit := tx.Model(&messageRow{}).Where("session_id = ? AND "+notRemoved+" AND "+noNotice, string(row.ID)).Where(where, arg)
	var first int64
	if err := hit.Session(&gorm.Session{}).Select("coalesce(min(seq), 0)").Scan(&first).Error; err != nil {
		return a, err
	}
	if first == 0 {
		return a, errNothingRemove
	}
	// An edit begins after the last message that stays: only there its messages fit again.
	before := tx.Model(&messageRow{}).Select("coalesce(max(seq), 0) + 1").Where("session_id = ? AND seq < ? AND "+notRemoved, string(row.ID), first)
	if err := before.Scan(&a.First).Error; err != nil {
		return a, err
	}
	res := hit.Session(&gorm.Session{}).Update("removed_by", string(a.ID))
	a.Messages = int(res.RowsAffected)
	for _, err := range []error{
		res.Error, tx.Create(&a).Error,
		tx.Exec("DELETE FROM message_texts WHERE session_id = ? AND seq IN (SELECT seq FROM messages WHERE removed_by = ?)", string(row.ID), string(a.ID)).Error,
	} {
		if err != nil {
			return a, err
		}
	}
	row.UpdatedAt = now
	return a, recount(tx, row)
}

// recount updates what a session knows about its messages after some were removed or restored.
func recount(tx *gorm.DB, row *sessionRow) (err error) {
	if row.MessageCount, err = countMessages(tx, row.ID, row.CompactedThrough+1, row.NextSeq); err != nil {
		return err
	}
	const tokens = "json ->> '$.usage.totalTokens'"
	last := "SELECT " + tokens + " FROM messages WHERE session_id = ? AND seq > ? AND " + notRemoved + " AND " + tokens + " IS NOT NULL ORDER BY seq DESC LIMIT 1"
	if err := tx.Raw("SELECT coalesce(("+last+"), 0)", string(row.ID), row.CompactedThrough).Scan(&row.ContextTokens).Error; err != nil {
		return err
	}
	row.FirstText = ""
	first, err := decodeMessages(tx.Model(&messageRow{}).Where("session_id = ? AND role = 'user' AND "+notRemoved+" AND "+noNotice, string(row.ID)).Order("seq").Limit(20))
	for _, m := range slices.Backward(first) {
		if text := firstText(m, m.Content.Text()); text != "" {
			row.FirstText = text
		}
	}
	if err != nil {
		return err
	}
	return row.save(tx)
}

// restoreRemoval puts the messages of an edit or a deletion back. For an edit, the messages that
// replaced them are archived as old.
func (s *Archives) restoreRemoval(ctx context.Context, back Archive, now int64) (old Archive, err error) {
	err = s.write(ctx, "restore messages", func(tx *gorm.DB) error {
		row, err := findSession(tx, back.Key)
		if err != nil {
			return err
		}
		if row.ID != back.Session {
			return errOtherArchive
		}
		gone := tx.Where("id = ?", string(back.ID)).Delete(&Archive{})
		if gone.Error == nil && gone.RowsAffected == 0 {
			return protocol.ErrNotFound.With("It was restored already, or its time has passed.")
		}
		if gone.Error != nil {
			return gone.Error
		}
		if back.Kind == protocol.ArchiveEdit {
			if old, err = replaceVersion(tx, &row, back, now); err != nil {
				return err
			}
		}
		msgs, err := decodeMessages(tx.Model(&messageRow{}).Where("removed_by = ?", string(back.ID)).Order("seq"))
		if err != nil {
			return err
		}
		if err := tx.Model(&messageRow{}).Where("removed_by = ?", string(back.ID)).Update("removed_by", "").Error; err != nil {
			return err
		}
		if err := s.messages.search.add(tx, row.Session, msgs); err != nil {
			return err
		}
		row.UpdatedAt = now
		return recount(tx, &row)
	})
	return old, err
}

// replaceVersion archives what replaced the messages of an edit, so that these can come back.
func replaceVersion(tx *gorm.DB, row *sessionRow, back Archive, now int64) (old Archive, err error) {
	if row.CompactedThrough >= back.First {
		return old, errSummarized
	}
	var holders []string
	if err := tx.Model(&messageRow{}).Where("session_id = ? AND seq = ?", string(row.ID), back.First-1).Pluck("removed_by", &holders).Error; err != nil {
		return old, err
	}
	if len(holders) > 0 && holders[0] != "" {
		return old, errOtherVersion
	}
	old, err = remove(tx, row, protocol.ArchiveEdit, now, "seq >= ?", back.First)
	if errors.Is(err, errNothingRemove) {
		return Archive{}, nil // the other version was deleted
	}
	return old, err
}

// PurgeDeletions permanently removes the messages that were deleted before a time, and returns the
// number of deletions.
func (s *Archives) PurgeDeletions(ctx context.Context, before int64) (n int, err error) {
	err = s.write(ctx, "remove deleted messages", func(tx *gorm.DB) error {
		var list []Archive
		if err := tx.Where("kind = ? AND created_at < ?", protocol.ArchiveDelete, before).Find(&list).Error; err != nil {
			return err
		}
		for _, a := range list {
			if err := purgeDeletion(tx, a); err != nil {
				return err
			}
		}
		n = len(list)
		return nil
	})
	return n, err
}

func purgeDeletion(tx *gorm.DB, a Archive) error {
	msgs, err := decodeMessages(tx.Model(&messageRow{}).Where("removed_by = ?", string(a.ID)))
	if err != nil && !errors.Is(err, errDamaged) {
		return err
	}
	if err := tx.Where("removed_by = ?", string(a.ID)).Delete(&messageRow{}).Error; err != nil {
		return err
	}
	for _, m := range msgs {
		for _, b := range m.Content {
			if b.MediaKey == "" {
				continue
			}
			err := tx.Exec(`DELETE FROM media_refs WHERE media_key = ? AND session_key = ?
				AND NOT EXISTS (SELECT 1 FROM messages WHERE session_key = ? AND instr(json, ?) > 0)`, b.MediaKey, string(a.Key), string(a.Key), b.MediaKey).Error
			if err != nil {
				return err
			}
		}
	}
	return tx.Delete(&a).Error
}
