package store

import (
	"context"

	"gorm.io/gorm"
)

// Uses are the times at which things were last used that have no column of their own for it.
type Uses struct{ *conn }

type useRow struct {
	ID     string
	UsedAt int64
}

func (useRow) TableName() string { return "uses" }

// createUses creates the table of last uses. Times are Unix milliseconds.
const createUses = `CREATE TABLE uses (
  id      TEXT PRIMARY KEY,
  used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`

// All returns the times of all last uses.
func (s *Uses) All(ctx context.Context) (map[string]int64, error) {
	rows, err := find[useRow](ctx, s.conn, "read last uses", func(db *gorm.DB) *gorm.DB { return db })
	all := make(map[string]int64, len(rows))
	for _, r := range rows {
		all[r.ID] = r.UsedAt
	}
	return all, err
}

// Put stores the times of last uses.
func (s *Uses) Put(ctx context.Context, uses map[string]int64) error {
	return s.write(ctx, "store last uses", func(tx *gorm.DB) error {
		for id, at := range uses {
			if err := upsert(tx, &useRow{id, at}); err != nil {
				return err
			}
		}
		return nil
	})
}
