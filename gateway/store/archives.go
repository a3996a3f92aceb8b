package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Archive is an archived part of a session: its messages from First to Last, of an edit or a
// deletion those that it removed. They stay in the database; the file of the same name is a copy.
// Size is that of the file, 0 until it is written. Edits and deletions have no file.
type Archive struct {
	ID        protocol.ArchiveID
	Key       protocol.SessionKey `gorm:"column:session_key"`
	Session   protocol.SessionID  `gorm:"column:session_id"`
	Kind      string              // such as protocol.ArchiveReset
	First     int64               `gorm:"column:first_seq"`
	Last      int64               `gorm:"column:last_seq"`
	Messages  int                 `gorm:"column:message_count"`
	Usage     protocol.Usage      `gorm:"serializer:json"`
	CreatedAt int64               `gorm:"autoCreateTime:false"`
	Size      int64               `gorm:"column:file_size"`
	// CompactedThrough is the Seq of the last message that compaction had removed from the context
	// when the part was archived.
	CompactedThrough int64
}

// Archives are the archived parts of sessions. Its methods also change the sessions that they
// belong to.
type Archives struct {
	*conn
	messages *Messages
}

func storeArchive(tx *gorm.DB, a *Archive) error {
	var n int64
	err := tx.Model(&messageRow{}).Where("session_id = ? AND seq BETWEEN ? AND ? AND "+notRemoved, string(a.Session), a.First, a.Last).Count(&n).Error
	if err != nil {
		return err
	}
	a.Messages = int(n)
	return tx.Create(a).Error
}

// archiveCurrent archives the current messages of a session. If there are none, it creates no
// archive and returns an empty ID.
func archiveCurrent(tx *gorm.DB, row sessionRow, now int64) (Archive, error) {
	if row.NextSeq <= 1 {
		return Archive{}, nil
	}
	a := Archive{
		ID: protocol.ArchiveID(row.ID), Key: row.Key, Session: row.ID, Kind: protocol.ArchiveReset, First: 1, Last: row.NextSeq - 1,
		Usage: row.Usage, CreatedAt: now, CompactedThrough: row.CompactedThrough,
	}
	return a, storeArchive(tx, &a)
}

// Reset starts a new session ID for a conversation, and revokes its grants. old is the session
// before the reset, and the archive holds its messages under the old ID. If there were none, there
// is no archive and its ID is empty.
func (s *Archives) Reset(ctx context.Context, key protocol.SessionKey, newID protocol.SessionID, now int64) (old Session, a Archive, err error) {
	err = s.write(ctx, "reset session", func(tx *gorm.DB) error {
		row, err := findSession(tx, key)
		if err != nil {
			return err
		}
		old = row.Session
		if a, err = archiveCurrent(tx, row, now); err != nil {
			return err
		}
		row.ID, row.Previous = newID, append(slices.Clone(row.Previous), old.ID)
		row.AutoTitle, row.FirstText, row.MessageCount, row.Usage, row.ContextTokens, row.CompactedThrough = "", "", 0, protocol.Usage{}, 0, 0
		row.UpdatedAt, row.LastResetAt, row.NextSeq = now, now, 1
		if err := row.save(tx); err != nil {
			return err
		}
		return deleteGrants(tx, key)
	})
	return old, a, err
}

// countMessages returns the number of messages that count as conversation: all but removed ones and
// the notices of compactions.
func countMessages(tx *gorm.DB, id protocol.SessionID, first, last int64) (n int, err error) {
	err = tx.Raw("SELECT count(*) FROM messages WHERE session_id = ? AND seq BETWEEN ? AND ? AND "+notRemoved+" AND "+noNotice, string(id), first, last).Scan(&n).Error
	return n, err
}

// Compact archives the session's messages up to through, and appends a notice about it. The
// session's MessageCount is then the number of remaining messages, without the notice. It returns
// the notice with ID and Seq, and with the number of archived messages. If no message would be
// archived, or through is beyond the last one, it fails with protocol.ErrConflict.
func (s *Archives) Compact(ctx context.Context, key protocol.SessionKey, through, now int64, notice protocol.Message) (Archive, protocol.Message, error) {
	var a Archive
	var msgs []protocol.Message
	err := s.write(ctx, "compact chat", func(tx *gorm.DB) error {
		row, err := findSession(tx, key)
		if err != nil {
			return err
		}
		if through <= row.CompactedThrough || through >= row.NextSeq {
			return protocol.ErrConflict.With("the chat has changed in the meantime")
		}
		a = Archive{ID: protocol.ArchiveID(fmt.Sprintf("%s-part%d", row.ID, now)), Key: key, Session: row.ID, Kind: protocol.ArchiveCompact, First: row.CompactedThrough + 1, Last: through, CreatedAt: now}
		if err := storeArchive(tx, &a); err != nil {
			return err
		}
		trimmed, err := countMessages(tx, row.ID, a.First, a.Last)
		if err != nil {
			return err
		}
		m := notice
		m.Compaction = &protocol.Compaction{ArchiveID: a.ID, Through: through, Messages: trimmed}
		msgs = []protocol.Message{m}
		row.CompactedThrough, row.ContextTokens = through, 0
		if row.MessageCount, err = countMessages(tx, row.ID, through+1, row.NextSeq); err != nil {
			return err
		}
		if err := row.save(tx); err != nil {
			return err
		}
		return s.messages.append(tx, key, msgs)
	})
	if err != nil {
		return Archive{}, protocol.Message{}, err
	}
	return a, msgs[0], nil
}

// Uncompact undoes the newest compaction of the current session ID: the model reads the messages
// again. It returns their number, 0 if the chat has no compaction. The archive remains.
func (s *Archives) Uncompact(ctx context.Context, key protocol.SessionKey, now int64) (n int, err error) {
	err = s.write(ctx, "undo compaction", func(tx *gorm.DB) error {
		n = 0
		row, err := findSession(tx, key)
		if err != nil || row.CompactedThrough == 0 {
			return err
		}
		var last Archive
		err = tx.Where("session_id = ? AND kind = ? AND last_seq = ?", row.ID, protocol.ArchiveCompact, row.CompactedThrough).Order("created_at DESC").Take(&last).Error
		if err != nil {
			return err
		}
		if n, err = countMessages(tx, row.ID, last.First, last.Last); err != nil {
			return err
		}
		row.CompactedThrough, row.ContextTokens = last.First-1, 0
		if row.MessageCount, err = countMessages(tx, row.ID, last.First, row.NextSeq); err != nil {
			return err
		}
		row.UpdatedAt = now
		return row.save(tx)
	})
	return n, err
}

// List returns the archives of a session, newest first.
func (s *Archives) List(ctx context.Context, key protocol.SessionKey) ([]Archive, error) {
	return find[Archive](ctx, s.conn, "list archives", func(db *gorm.DB) *gorm.DB {
		return db.Where("session_key = ?", string(key)).Order("created_at DESC, last_seq DESC")
	})
}

// WithoutFile returns the archives whose file has not been written, oldest first.
func (s *Archives) WithoutFile(ctx context.Context) ([]Archive, error) {
	return find[Archive](ctx, s.conn, "list archives", func(db *gorm.DB) *gorm.DB {
		return db.Where("file_size = 0 AND kind IN ('reset', 'compact')").Order("created_at")
	})
}

// Get returns an archive of a session, or protocol.ErrNotFound.
func (s *Archives) Get(ctx context.Context, key protocol.SessionKey, id protocol.ArchiveID) (Archive, error) {
	return findOne[Archive](ctx, s.conn, "read archive", fmt.Sprintf("The chat has no archive %s", id), func(db *gorm.DB) *gorm.DB {
		return db.Where("id = ? AND session_key = ?", id, key)
	})
}

// Messages returns messages of an archive in order: the last limit ones with a Seq below
// before. before 0 means the end of the archive, limit 0 means all.
func (s *Archives) Messages(ctx context.Context, a Archive, before int64, limit int) (msgs []protocol.Message, err error) {
	if before <= 0 || before > a.Last+1 {
		before = a.Last + 1
	}
	err = s.read(ctx, "read archive", func(db *gorm.DB) error {
		holder := "" // of the messages
		if a.isRemoval() {
			holder = string(a.ID)
		}
		msgs, err = loadMessages(db.Where("removed_by = ?", holder), a.Session, a.First, before, limit)
		return err
	})
	return msgs, err
}

// SetFileSize stores the size of an archive's file.
func (s *Archives) SetFileSize(ctx context.Context, id protocol.ArchiveID, size int64) error {
	return s.write(ctx, "store size of archive", func(tx *gorm.DB) error {
		return tx.Model(&Archive{}).Where("id = ?", string(id)).Update("file_size", size).Error
	})
}

// IDs returns the IDs of all archives.
func (s *Archives) IDs(ctx context.Context) (ids []protocol.ArchiveID, err error) {
	err = s.read(ctx, "list archives", func(db *gorm.DB) error { return db.Model(&Archive{}).Pluck("id", &ids).Error })
	return ids, err
}

// archivePage is the number of messages of an archive that are in memory at once.
const archivePage = 500

// Restore makes archived messages current again, under their old session ID; the archive is
// then gone. The current messages are archived first, and the session's grants are revoked, unless the
// archive is of an edit or a deletion; if there are no messages, old.ID is empty. If the
// archive is a compacted part, or some of its messages are missing or unreadable, it fails with
// protocol.ErrConflict and changes nothing. The archive of an edit replaces only what came after the
// edit; that of a deletion replaces nothing.
func (s *Archives) Restore(ctx context.Context, key protocol.SessionKey, id protocol.ArchiveID, now int64) (back, old Archive, err error) {
	if back, err = s.Get(ctx, key, id); err != nil {
		return back, old, err
	}
	switch {
	case back.isRemoval():
		old, err = s.restoreRemoval(ctx, back, now)
		return back, old, err
	case back.Kind != protocol.ArchiveReset:
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
		row.ID, row.AutoTitle, row.FirstText, row.Usage, row.ContextTokens = back.Session, "", first, back.Usage, 0
		row.CompactedThrough = back.CompactedThrough
		if row.MessageCount, err = countMessages(tx, back.Session, back.CompactedThrough+1, back.Last); err != nil {
			return err
		}
		row.UpdatedAt, row.LastActiveAt, row.DeletedAt, row.NextSeq = now, now, 0, back.Last+1
		if err := row.save(tx); err != nil {
			return err
		}
		return deleteGrants(tx, key)
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
			first = cmp.Or(first, firstText(m, m.Content.Text()))
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
	if m.Origin == protocol.OriginSchedule {
		plain = m.RequestText()
	}
	return format.Title(format.Head(plain, maxSearchText))
}
