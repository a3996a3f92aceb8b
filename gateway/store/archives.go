package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Archive is an archived part of a session: its messages from First to Last. They stay in the
// database; the file of the same name is a copy. Size is that of the file, 0 until it is written.
type Archive struct {
	ID          protocol.ArchiveID
	Key         protocol.SessionKey
	Session     protocol.SessionID
	Agent       protocol.AgentID
	Kind        string // protocol.ArchiveReset or protocol.ArchiveCompact
	First, Last int64
	Messages    int
	Usage       protocol.Usage
	CreatedAt   int64
	Size        int64
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

type archiveRow struct {
	ID               string `gorm:"primaryKey;column:id"`
	SessionKey       string
	SessionID        string
	Kind             string
	FirstSeq         int64
	LastSeq          int64
	MessageCount     int
	Usage            string
	CreatedAt        int64 `gorm:"autoCreateTime:false"`
	FileSize         int64
	CompactedThrough int64
}

func (archiveRow) TableName() string { return "archives" }

func (r archiveRow) archive() (Archive, error) {
	a := Archive{
		ID: protocol.ArchiveID(r.ID), Key: protocol.SessionKey(r.SessionKey), Session: protocol.SessionID(r.SessionID), Agent: agentOf(protocol.SessionKey(r.SessionKey)),
		Kind: r.Kind, First: r.FirstSeq, Last: r.LastSeq, Messages: r.MessageCount, CreatedAt: r.CreatedAt, Size: r.FileSize, CompactedThrough: r.CompactedThrough,
	}
	if err := json.Unmarshal([]byte(r.Usage), &a.Usage); err != nil {
		return a, fmt.Errorf("read archive %s: %w", r.ID, err)
	}
	return a, nil
}

// storeArchive stores an archive's row, with the number of its messages.
func storeArchive(tx *gorm.DB, a *Archive) error {
	var n int64
	err := tx.Model(&messageRow{}).Where("session_id = ? AND seq BETWEEN ? AND ?", string(a.Session), a.First, a.Last).Count(&n).Error
	if err != nil {
		return err
	}
	a.Messages, a.Agent = int(n), agentOf(a.Key)
	return tx.Create(&archiveRow{
		ID: string(a.ID), SessionKey: string(a.Key), SessionID: string(a.Session), Kind: a.Kind, FirstSeq: a.First, LastSeq: a.Last,
		MessageCount: a.Messages, Usage: jsonText(a.Usage), CreatedAt: a.CreatedAt, CompactedThrough: a.CompactedThrough,
	}).Error
}

// archiveCurrent archives the current messages of a session. If there are none, it creates no
// archive and returns an empty ID.
func archiveCurrent(tx *gorm.DB, row sessionRow, s Session, now int64) (Archive, error) {
	if row.NextSeq <= 1 {
		return Archive{}, nil
	}
	a := Archive{
		ID: protocol.ArchiveID(s.ID), Key: s.Key, Session: s.ID, Kind: protocol.ArchiveReset, First: 1, Last: row.NextSeq - 1,
		Usage: s.Usage, CreatedAt: now, CompactedThrough: s.CompactedThrough,
	}
	return a, storeArchive(tx, &a)
}

// Reset starts a new session ID for a conversation. old is the session before the reset, and the
// archive holds its messages under the old ID. If there were none, there is no archive and its ID
// is empty.
func (s *Archives) Reset(ctx context.Context, key protocol.SessionKey, newID protocol.SessionID, now int64) (old Session, a Archive, err error) {
	err = s.write(ctx, "reset session", func(tx *gorm.DB) error {
		row, err := findSession(tx, key)
		if err != nil {
			return err
		}
		if old, err = row.session(); err != nil {
			return err
		}
		if a, err = archiveCurrent(tx, row, old, now); err != nil {
			return err
		}
		next := old
		next.ID, next.Previous = newID, append(next.Previous[:len(next.Previous):len(next.Previous)], old.ID)
		next.FirstText, next.MessageCount, next.Usage, next.ContextTokens, next.CompactedThrough = "", 0, protocol.Usage{}, 0, 0
		next.UpdatedAt, next.LastResetAt = now, now
		row.fill(next)
		row.NextSeq = 1
		return tx.Save(&row).Error
	})
	return old, a, err
}

// countMessages returns the number of messages that count as conversation: all but the notices of
// compactions.
func countMessages(tx *gorm.DB, id protocol.SessionID, first, last int64) (n int, err error) {
	err = tx.Raw("SELECT count(*) FROM messages WHERE session_id = ? AND seq BETWEEN ? AND ? AND "+noNotice, string(id), first, last).Scan(&n).Error
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
		ses, err := row.session()
		if err != nil {
			return err
		}
		if through <= ses.CompactedThrough || through >= row.NextSeq {
			return protocol.ErrConflict.With("the chat has changed in the meantime")
		}
		a = Archive{ID: protocol.ArchiveID(fmt.Sprintf("%s-part%d", ses.ID, now)), Key: key, Session: ses.ID, Kind: protocol.ArchiveCompact, First: ses.CompactedThrough + 1, Last: through, CreatedAt: now}
		if err := storeArchive(tx, &a); err != nil {
			return err
		}
		trimmed, err := countMessages(tx, ses.ID, a.First, a.Last)
		if err != nil {
			return err
		}
		m := notice
		m.Compaction = &protocol.Compaction{ArchiveID: a.ID, Through: through, Messages: trimmed}
		msgs = []protocol.Message{m}
		ses.CompactedThrough, ses.ContextTokens = through, 0
		if ses.MessageCount, err = countMessages(tx, ses.ID, through+1, row.NextSeq); err != nil {
			return err
		}
		row.fill(ses)
		if err := tx.Save(&row).Error; err != nil {
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
		if err != nil {
			return err
		}
		ses, err := row.session()
		if err != nil || ses.CompactedThrough == 0 {
			return err
		}
		var last archiveRow
		err = tx.Where("session_id = ? AND kind = ? AND last_seq = ?", row.ID, protocol.ArchiveCompact, ses.CompactedThrough).Order("created_at DESC").Take(&last).Error
		if err != nil {
			return err
		}
		if n, err = countMessages(tx, ses.ID, last.FirstSeq, last.LastSeq); err != nil {
			return err
		}
		ses.CompactedThrough, ses.ContextTokens = last.FirstSeq-1, 0
		if ses.MessageCount, err = countMessages(tx, ses.ID, last.FirstSeq, row.NextSeq); err != nil {
			return err
		}
		ses.UpdatedAt = now
		row.fill(ses)
		return tx.Save(&row).Error
	})
	return n, err
}

// List returns the archives of a session, newest first.
func (s *Archives) List(ctx context.Context, key protocol.SessionKey) ([]Archive, error) {
	return s.list(ctx, func(db *gorm.DB) *gorm.DB {
		return db.Where("session_key = ?", string(key)).Order("created_at DESC, last_seq DESC")
	})
}

// WithoutFile returns the archives whose file has not been written, oldest first.
func (s *Archives) WithoutFile(ctx context.Context) ([]Archive, error) {
	return s.list(ctx, func(db *gorm.DB) *gorm.DB { return db.Where("file_size = 0").Order("created_at") })
}

func (s *Archives) list(ctx context.Context, which func(*gorm.DB) *gorm.DB) ([]Archive, error) {
	var rows []archiveRow
	if err := s.read(ctx, "list archives", func(db *gorm.DB) error { return which(db).Find(&rows).Error }); err != nil {
		return nil, err
	}
	list := make([]Archive, len(rows))
	for i, r := range rows {
		var err error
		if list[i], err = r.archive(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Get returns an archive of a session, or protocol.ErrNotFound.
func (s *Archives) Get(ctx context.Context, key protocol.SessionKey, id protocol.ArchiveID) (Archive, error) {
	var row archiveRow
	err := s.read(ctx, "read archive", func(db *gorm.DB) error {
		return db.Where("id = ? AND session_key = ?", string(id), string(key)).Take(&row).Error
	})
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return Archive{}, protocol.ErrNotFound.With(fmt.Sprintf("The chat has no archive %s", id))
	}
	if err != nil {
		return Archive{}, err
	}
	return row.archive()
}

// Messages returns messages of an archive in order: the last limit ones with a Seq below
// before. before 0 means the end of the archive, limit 0 means all.
func (s *Archives) Messages(ctx context.Context, a Archive, before int64, limit int) (msgs []protocol.Message, err error) {
	if before <= 0 || before > a.Last+1 {
		before = a.Last + 1
	}
	err = s.read(ctx, "read archive", func(db *gorm.DB) error {
		msgs, err = loadMessages(db, a.Session, a.First, before, limit)
		return err
	})
	return msgs, err
}

// SetFileSize stores the size of an archive's file.
func (s *Archives) SetFileSize(ctx context.Context, id protocol.ArchiveID, size int64) error {
	return s.write(ctx, "store size of archive", func(tx *gorm.DB) error {
		return tx.Model(&archiveRow{}).Where("id = ?", string(id)).Update("file_size", size).Error
	})
}

// IDs returns the IDs of all archives.
func (s *Archives) IDs(ctx context.Context) (ids []protocol.ArchiveID, err error) {
	err = s.read(ctx, "list archives", func(db *gorm.DB) error { return db.Model(&archiveRow{}).Pluck("id", &ids).Error })
	return ids, err
}
