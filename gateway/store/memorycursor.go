package store

import (
	"context"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

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
