package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Session is a conversation without its messages. Times are Unix milliseconds, 0 means never.
type Session struct {
	Key   protocol.SessionKey
	ID    protocol.SessionID
	Agent protocol.AgentID
	Label string
	// FirstText is the beginning of the first message since the last reset.
	FirstText                                                  string
	CreatedAt, UpdatedAt, LastActiveAt, LastResetAt, DeletedAt int64
	// of earlier resets, oldest first
	Previous                     []protocol.SessionID
	Prefs                        protocol.SessionPrefs
	ResetPolicy                  protocol.ResetPolicy
	MessageCount                 int
	Usage                        protocol.Usage
	ContextTokens, ContextWindow int64
	// CompactedThrough is the Seq of the last message that was archived by a compaction: the model
	// reads from the next one.
	CompactedThrough int64
}

type sessionRow struct {
	Key              string `gorm:"primaryKey"`
	ID               string `gorm:"column:id"`
	Agent            string
	Label            string
	FirstText        string
	CreatedAt        int64 `gorm:"autoCreateTime:false"`
	UpdatedAt        int64 `gorm:"autoUpdateTime:false"`
	LastActiveAt     int64
	LastResetAt      int64
	DeletedAt        int64
	PreviousIDs      string `gorm:"column:previous_ids"`
	Prefs            string
	ResetPolicy      string
	MessageCount     int
	NextSeq          int64
	Usage            string
	ContextTokens    int64
	ContextWindow    int64
	SearchText       string
	CompactedThrough int64
}

func (sessionRow) TableName() string { return "sessions" }

func (r sessionRow) session() (Session, error) {
	s := Session{
		Key: protocol.SessionKey(r.Key), ID: protocol.SessionID(r.ID), Agent: protocol.AgentID(r.Agent), Label: r.Label,
		FirstText: r.FirstText, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, LastActiveAt: r.LastActiveAt,
		LastResetAt: r.LastResetAt, DeletedAt: r.DeletedAt, MessageCount: r.MessageCount,
		ContextTokens: r.ContextTokens, ContextWindow: r.ContextWindow, CompactedThrough: r.CompactedThrough,
	}
	err := errors.Join(json.Unmarshal([]byte(r.PreviousIDs), &s.Previous), json.Unmarshal([]byte(r.Prefs), &s.Prefs),
		json.Unmarshal([]byte(r.ResetPolicy), &s.ResetPolicy), json.Unmarshal([]byte(r.Usage), &s.Usage))
	if err != nil {
		return Session{}, fmt.Errorf("read session %s: %w", r.Key, err)
	}
	return s, nil
}

// fill copies s to r, except for the sequence counter.
func (r *sessionRow) fill(s Session) {
	r.Key, r.ID, r.Agent, r.Label, r.FirstText = string(s.Key), string(s.ID), string(s.Agent), s.Label, s.FirstText
	r.CreatedAt, r.UpdatedAt, r.LastActiveAt = s.CreatedAt, s.UpdatedAt, s.LastActiveAt
	r.LastResetAt, r.DeletedAt, r.MessageCount = s.LastResetAt, s.DeletedAt, s.MessageCount
	r.ContextTokens, r.ContextWindow, r.CompactedThrough = s.ContextTokens, s.ContextWindow, s.CompactedThrough
	if s.Previous == nil {
		s.Previous = []protocol.SessionID{}
	}
	r.PreviousIDs, r.Prefs, r.ResetPolicy, r.Usage = jsonText(s.Previous), jsonText(s.Prefs), jsonText(s.ResetPolicy), jsonText(s.Usage)
	r.SearchText = foldCase(s.Label + "\n" + s.FirstText)
}

// jsonText encodes a value that can always be encoded.
func jsonText(v any) string {
	raw, err := protocol.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// Sessions are the conversations without their messages.
type Sessions struct {
	*conn
	unsaved unsavedSessions
}

// Get returns a session, or protocol.ErrNotFound.
func (s *Sessions) Get(ctx context.Context, key protocol.SessionKey) (out Session, err error) {
	err = s.read(ctx, "read session", func(db *gorm.DB) error {
		row, err := findSession(db, key)
		if err == nil {
			out, err = row.session()
		}
		return err
	})
	return out, err
}

func findSession(db *gorm.DB, key protocol.SessionKey) (sessionRow, error) {
	var row sessionRow
	err := db.Where("key = ?", string(key)).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = protocol.ErrNotFound.With(fmt.Sprintf("No chat has the key %s", key))
	}
	return row, err
}

// Ensure returns the session and creates it if it does not exist.
func (s *Sessions) Ensure(ctx context.Context, key protocol.SessionKey, now int64) (Session, error) {
	var out Session
	err := s.write(ctx, "create session", func(tx *gorm.DB) error {
		row, err := s.ensure(tx, key, now)
		if err != nil {
			return err
		}
		out, err = row.session()
		return err
	})
	return out, err
}

func (s *Sessions) ensure(tx *gorm.DB, key protocol.SessionKey, now int64) (sessionRow, error) {
	row, err := findSession(tx, key)
	if err == nil || !errors.Is(err, protocol.ErrNotFound) {
		return row, err
	}
	row = sessionRow{NextSeq: 1}
	row.fill(newSession(key, s.unsaved.take(key, now), now))
	return row, tx.Create(&row).Error
}

func agentOf(key protocol.SessionKey) protocol.AgentID {
	if p := strings.SplitN(string(key), ":", 3); len(p) == 3 && p[0] == "agent" && p[1] != "" {
		return protocol.AgentID(p[1])
	}
	return protocol.MainAgent
}

// Update changes a session in one transaction. Changes of Key, ID and MessageCount by edit
// are ignored; edit must not call the database, which would deadlock.
func (s *Sessions) Update(ctx context.Context, key protocol.SessionKey, edit func(*Session)) (Session, error) {
	var out Session
	err := s.write(ctx, "update session", func(tx *gorm.DB) error {
		row, err := findSession(tx, key)
		if err != nil {
			return err
		}
		if out, err = row.session(); err != nil {
			return err
		}
		was := out
		edit(&out)
		out.Key, out.ID, out.MessageCount = was.Key, was.ID, was.MessageCount
		row.fill(out)
		return tx.Save(&row).Error
	})
	return out, err
}

// List returns one page of the sessions that are not deleted, last active first, and their
// total number. limit 0 means all.
func (s *Sessions) List(ctx context.Context, offset, limit int) (list []Session, total int, err error) {
	if limit <= 0 {
		limit = -1
	}
	err = s.read(ctx, "list sessions", func(db *gorm.DB) error {
		q := db.Model(&sessionRow{}).Where("deleted_at = 0")
		var n int64
		if err := q.Session(&gorm.Session{}).Count(&n).Error; err != nil {
			return err
		}
		total = int(n)
		list, err = sessions(q.Session(&gorm.Session{}).Order("last_active_at DESC, key").Offset(max(offset, 0)).Limit(limit))
		return err
	})
	return list, total, err
}

// sessions returns the sessions of a query.
func sessions(q *gorm.DB) ([]Session, error) {
	var rows []sessionRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, err
	}
	list := make([]Session, len(rows))
	for i, r := range rows {
		var err error
		if list[i], err = r.session(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Keys returns the keys of all sessions, including deleted ones, in no order.
func (s *Sessions) Keys(ctx context.Context) (keys []protocol.SessionKey, err error) {
	err = s.read(ctx, "list sessions", func(db *gorm.DB) error { return db.Model(&sessionRow{}).Pluck("key", &keys).Error })
	return keys, err
}

// PurgeDeleted permanently removes the sessions that were deleted before a time, and returns their
// number. Their grants are deleted and their pending approvals cancelled, so that a later session
// with the same key inherits no permission; the journal of calls remains.
func (s *Sessions) PurgeDeleted(ctx context.Context, before int64) (n int, err error) {
	err = s.write(ctx, "remove deleted chats", func(tx *gorm.DB) error {
		var keys []string
		if err := tx.Model(&sessionRow{}).Where("deleted_at > 0 AND deleted_at < ?", before).Pluck("key", &keys).Error; err != nil {
			return err
		}
		for part := range slices.Chunk(keys, 500) {
			for _, res := range []*gorm.DB{
				tx.Where("session_key IN ?", part).Delete(&grantRow{}),
				tx.Model(&approvalRow{}).Where("session_key IN ? AND state = 'pending'", part).Update("state", protocol.ApprovalCancelled),
				tx.Where("key IN ?", part).Delete(&sessionRow{}),
			} {
				if res.Error != nil {
					return res.Error
				}
			}
		}
		n = len(keys)
		return nil
	})
	return n, err
}
