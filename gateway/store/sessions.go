package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Session is a conversation without its messages. Times are Unix milliseconds, 0 means never.
type Session struct {
	Key   protocol.SessionKey `gorm:"primaryKey"`
	ID    protocol.SessionID
	Agent protocol.AgentID
	Label string
	// FirstText is the beginning of the first message since the last reset.
	FirstText string
	// AutoTitle is the title that the model made of the first exchange since the last reset.
	AutoTitle    string
	Pinned       bool
	Archived     bool     // hidden from the list of chats until a user's message arrives
	Tags         []string `gorm:"serializer:json"` // sorted
	CreatedAt    int64    `gorm:"autoCreateTime:false"`
	UpdatedAt    int64    `gorm:"autoUpdateTime:false"`
	LastActiveAt int64
	LastResetAt  int64
	DeletedAt    int64
	// of earlier resets, oldest first
	Previous      []protocol.SessionID  `gorm:"column:previous_ids;serializer:json"`
	Prefs         protocol.SessionPrefs `gorm:"serializer:json"`
	ResetPolicy   protocol.ResetPolicy  `gorm:"serializer:json"`
	MessageCount  int
	Usage         protocol.Usage `gorm:"serializer:json"`
	ContextTokens int64
	ContextWindow int64
	// CompactedThrough is the Seq of the last message that was archived by a compaction: the model
	// reads from the next one.
	CompactedThrough int64
}

type sessionRow struct {
	Session
	NextSeq    int64
	SearchText string
}

func (r *sessionRow) save(tx *gorm.DB) error {
	r.SearchText = strings.ToLower(strings.Join(append([]string{r.Label, r.AutoTitle, r.FirstText}, r.Tags...), "\n"))
	return tx.Save(r).Error
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
		out = row.Session
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
		out = row.Session
		return err
	})
	return out, err
}

func (s *Sessions) ensure(tx *gorm.DB, key protocol.SessionKey, now int64) (sessionRow, error) {
	row, err := findSession(tx, key)
	if err == nil || !errors.Is(err, protocol.ErrNotFound) {
		return row, err
	}
	row = sessionRow{Session: s.unsaved.get(key, now), NextSeq: 1}
	row.UpdatedAt, row.LastActiveAt = now, now
	return row, row.save(tx)
}

// Update changes a session in one transaction, together with the audit entries about that. Changes of
// Key, ID and MessageCount by edit are ignored; edit must not call the database, which would deadlock.
func (s *Sessions) Update(ctx context.Context, key protocol.SessionKey, edit func(*Session), lines ...protocol.AuditEntry) (Session, error) {
	var out Session
	err := s.write(ctx, "update session", func(tx *gorm.DB) error {
		row, err := findSession(tx, key)
		if err != nil {
			return err
		}
		was := row.Session
		edit(&row.Session)
		row.Key, row.ID, row.MessageCount = was.Key, was.ID, was.MessageCount
		out = row.Session
		if err := row.save(tx); err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
	return out, err
}

// List returns one page of the sessions that are not deleted, last active first, and their
// total number. limit 0 means all.
func (s *Sessions) List(ctx context.Context, offset, limit int) (list []Session, total int, err error) {
	if limit <= 0 {
		limit = -1
	}
	return findPage[Session](ctx, s.conn, "list sessions", "last_active_at DESC, key", max(offset, 0), limit, func(db *gorm.DB) *gorm.DB {
		return db.Where("deleted_at = 0")
	})
}

// Trusted returns the sessions that the person trusts at a time, last active first.
func (s *Sessions) Trusted(ctx context.Context, now int64) ([]Session, error) {
	return find[Session](ctx, s.conn, "list trusted sessions", func(db *gorm.DB) *gorm.DB {
		return db.Where("deleted_at = 0 AND prefs ->> '$.approvals.mode' = ? AND prefs ->> '$.approvals.until' > ?", protocol.ModeTrust, now).
			Order("last_active_at DESC, key")
	})
}

// Keys returns the keys of all sessions, including deleted ones, in no order.
func (s *Sessions) Keys(ctx context.Context) (keys []protocol.SessionKey, err error) {
	err = s.read(ctx, "list sessions", func(db *gorm.DB) error { return db.Model(&sessionRow{}).Pluck("key", &keys).Error })
	return keys, err
}

// StartAfresh hides the messages so far of a session from the model. Windows still show them.
func (s *Sessions) StartAfresh(ctx context.Context, key protocol.SessionKey) error {
	return s.write(ctx, "start afresh", func(tx *gorm.DB) error {
		return tx.Model(&sessionRow{}).Where("key = ?", string(key)).
			Updates(map[string]any{"compacted_through": gorm.Expr("next_seq - 1"), "context_tokens": 0}).Error
	})
}

// PurgeDeleted permanently removes the sessions that were deleted before a time, and returns their
// number. Their grants are deleted, so that a later session with the same key inherits no permission.
// The journal of calls remains, and so do questions, which package question closes.
func (s *Sessions) PurgeDeleted(ctx context.Context, before int64) (n int, err error) {
	var keys []string
	err = s.write(ctx, "remove deleted chats", func(tx *gorm.DB) error {
		keys = nil
		if err := tx.Model(&sessionRow{}).Where("deleted_at > 0 AND deleted_at < ?", before).Pluck("key", &keys).Error; err != nil {
			return err
		}
		for part := range slices.Chunk(keys, 500) {
			for _, res := range []*gorm.DB{
				tx.Where("session_key IN ?", part).Delete(&Grant{}),
				tx.Where("key IN ?", part).Delete(&sessionRow{}),
			} {
				if res.Error != nil {
					return res.Error
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	s.unsaved.forget(keys)
	return len(keys), nil
}

// MemoryCursor returns the Seq of the last message of a session ID that was scanned for memories,
// or 0.
func (s *Sessions) MemoryCursor(ctx context.Context, id protocol.SessionID) (through int64, err error) {
	err = s.read(ctx, "read memory cursor", func(db *gorm.DB) error {
		return db.Raw("SELECT coalesce(max(last_seq), 0) FROM memory_cursors WHERE session_id = ?", string(id)).Scan(&through).Error
	})
	return through, err
}

// SetMemoryCursor stores the last message that was scanned for memories. It never decreases. The
// entry is deleted with its session.
func (s *Sessions) SetMemoryCursor(ctx context.Context, key protocol.SessionKey, id protocol.SessionID, through int64) error {
	return s.write(ctx, "store memory cursor", func(tx *gorm.DB) error {
		return tx.Exec(`INSERT INTO memory_cursors (session_id, session_key, last_seq) SELECT ?, key, ? FROM sessions WHERE key = ?
			ON CONFLICT (session_id) DO UPDATE SET last_seq = max(last_seq, excluded.last_seq)`, string(id), through, string(key)).Error
	})
}

// maxUnsaved is the number of sessions without a row that are remembered. A client that asks for
// more keys than that gets other IDs the next time.
const maxUnsaved = 1000

// unsavedSessions are the sessions without messages that were read: in GSV, a session exists as
// soon as a client asks for it. They are remembered until they are removed, with the IDs with which they
// are stored, and are lost when the program ends.
type unsavedSessions struct {
	mu    sync.Mutex
	byKey map[protocol.SessionKey]Session
}

func (u *unsavedSessions) get(key protocol.SessionKey, now int64) Session {
	u.mu.Lock()
	defer u.mu.Unlock()
	s, ok := u.byKey[key]
	if !ok {
		if u.byKey == nil || len(u.byKey) >= maxUnsaved {
			u.byKey = make(map[protocol.SessionKey]Session)
		}
		s = Session{Key: key, ID: protocol.SessionID(protocol.NewID()), Agent: key.Agent(), CreatedAt: now, UpdatedAt: now, LastActiveAt: now}
		u.byKey[key] = s
	}
	return s
}

// reset gives a session another ID, and returns it as it was.
func (u *unsavedSessions) reset(key protocol.SessionKey, id protocol.SessionID, now int64) (old Session) {
	s := u.get(key, now)
	old = s
	s.Previous = append(slices.Clone(s.Previous), s.ID)
	s.ID, s.LastResetAt = id, now
	u.mu.Lock()
	defer u.mu.Unlock()
	u.byKey[key] = s
	return old
}

// forget forgets sessions that were removed: one that is created again gets another ID.
func (u *unsavedSessions) forget(keys []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, key := range keys {
		delete(u.byKey, protocol.SessionKey(key))
	}
}

// Peek returns a session as Ensure would, but stores nothing: a missing one has the ID and the time
// with which it will be created.
func (s *Sessions) Peek(ctx context.Context, key protocol.SessionKey, now int64) (Session, error) {
	out, err := s.Get(ctx, key)
	if errors.Is(err, protocol.ErrNotFound) {
		return s.unsaved.get(key, now), nil
	}
	return out, err
}

// ResetUnsaved assigns another ID to a session without messages, but stores nothing; it returns the
// session with its old ID. If the session is stored, it is not changed and exists is true.
func (s *Sessions) ResetUnsaved(ctx context.Context, key protocol.SessionKey, next protocol.SessionID, now int64) (old Session, exists bool, err error) {
	old, err = s.Get(ctx, key)
	switch {
	case err == nil:
		return old, true, nil
	case !errors.Is(err, protocol.ErrNotFound):
		return old, false, err
	}
	return s.unsaved.reset(key, next, now), false, nil
}
