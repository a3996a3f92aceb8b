package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// archivePage is the number of messages of an archive that are in memory at once.
const archivePage = 500

// Restore makes archived messages current again, under their old session ID; the archive is
// then gone. The current messages are archived first; if there are none, old.ID is empty. If the
// archive is only a part of a session ID's messages, or some of its messages are missing or
// unreadable, it fails with protocol.ErrConflict and changes nothing.
func (s *Archives) Restore(ctx context.Context, key protocol.SessionKey, id protocol.ArchiveID, now int64) (back, old Archive, err error) {
	if back, err = s.Get(ctx, key, id); err != nil {
		return back, old, err
	}
	if back.Kind != protocol.ArchiveReset {
		return back, old, protocol.ErrConflict.With("This archive is a compacted part of a conversation; session.uncompact restores it.")
	}
	first, err := s.checkArchive(ctx, back)
	if err != nil {
		return back, old, err
	}
	err = s.write(ctx, "restore archive", func(tx *gorm.DB) error {
		row, err := findSession(tx, key)
		if err != nil {
			return err
		}
		gone := tx.Where("id = ? AND session_key = ?", string(id), string(key)).Delete(&Archive{})
		if gone.Error != nil {
			return gone.Error
		}
		if gone.RowsAffected == 0 {
			return protocol.ErrNotFound.With(fmt.Sprintf("The chat has no archive %s", id))
		}
		if old, err = archiveCurrent(tx, row, now); err != nil {
			return err
		}
		row.Previous = slices.Clone(row.Previous)
		if old.ID != "" {
			row.Previous = append(row.Previous, row.ID)
		}
		row.Previous = slices.DeleteFunc(row.Previous, func(id protocol.SessionID) bool { return id == back.Session })
		row.ID, row.FirstText, row.Usage, row.ContextTokens = back.Session, first, back.Usage, 0
		row.CompactedThrough = back.CompactedThrough
		if row.MessageCount, err = countMessages(tx, back.Session, back.CompactedThrough+1, back.Last); err != nil {
			return err
		}
		row.UpdatedAt, row.LastActiveAt, row.DeletedAt, row.NextSeq = now, now, 0, back.Last+1
		return row.save(tx)
	})
	return back, old, err
}

// checkArchive reads a whole archive, and returns the first words of its chat.
func (s *Archives) checkArchive(ctx context.Context, a Archive) (first string, err error) {
	n := 0
	for from := a.First; from <= a.Last; from += archivePage {
		part := a
		part.First, part.Last = from, min(from+archivePage-1, a.Last)
		msgs, err := s.Messages(ctx, part, 0, 0)
		switch {
		case errors.Is(err, errDamaged):
			return "", protocol.ErrConflict.With(fmt.Sprintf("The archive %s is damaged: a message from %d to %d cannot be read. Nothing was changed.", a.ID, part.First, part.Last))
		case err != nil:
			return "", err
		}
		n += len(msgs)
		for _, m := range msgs {
			if first == "" {
				first = firstText(m, m.Content.Text())
			}
		}
	}
	if n != a.Messages {
		return "", protocol.ErrConflict.With(fmt.Sprintf("The archive %s is damaged: only %d of its %d messages exist. Nothing was changed.", a.ID, n, a.Messages))
	}
	return first, nil
}

// firstText returns the title for a chat that begins with the message, or an empty text if nobody
// wrote it.
func firstText(m protocol.Message, plain string) string {
	if m.Role != protocol.RoleUser || m.Origin == protocol.OriginEvent {
		return ""
	}
	return truncate(strings.Join(strings.Fields(plain), " "), maxFirstText)
}
