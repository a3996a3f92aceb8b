package store

import (
	"context"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Noted returns up to which message of a stretch it was looked for what is worth remembering; 0 is none.
func (s *Store) Noted(ctx context.Context, id protocol.SessionID) (through int64, err error) {
	err = s.read(ctx, "read what was noted", func(db *gorm.DB) error {
		return db.Raw("SELECT coalesce(max(through), 0) FROM noted WHERE session_id = ?", string(id)).Scan(&through).Error
	})
	return through, err
}

// SetNoted writes that down. It never goes back. A session that is gone takes its entry with it.
func (s *Store) SetNoted(ctx context.Context, key protocol.SessionKey, id protocol.SessionID, through int64) error {
	return s.write(ctx, "note what was noted", func(tx *gorm.DB) error {
		return tx.Exec(`INSERT INTO noted (session_id, session_key, through) SELECT ?, key, ? FROM sessions WHERE key = ?
			ON CONFLICT (session_id) DO UPDATE SET through = max(through, excluded.through)`, string(id), through, string(key)).Error
	})
}
