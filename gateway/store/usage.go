package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Usage counts the tokens and the cost of model steps. It survives the deletion of chats.
type Usage struct{ *conn }

// UsageRow is the usage of one model within a quarter of an hour. Finer times are not stored; the
// days of every time zone consist of whole quarters.
type UsageRow struct {
	At         int64  `gorm:"primaryKey"` // start of the quarter, in Unix milliseconds
	Provider   string `gorm:"primaryKey"`
	Model      string `gorm:"primaryKey"`
	Steps      int
	Unpriced   int // steps whose cost is unknown
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64
	Cost       float64 // US dollars
}

// TableName implements GORM's tabler.
func (UsageRow) TableName() string { return "usage" }

const usageQuarter = int64(15 * time.Minute / time.Millisecond)

// addUsage counts one step.
func addUsage(tx *gorm.DB, at int64, model protocol.ModelRef, u protocol.Usage) error {
	row := UsageRow{
		At: at - at%usageQuarter, Provider: model.Provider, Model: model.ID, Steps: 1,
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
	}
	if u.Cost != nil {
		row.Cost = *u.Cost
	} else {
		row.Unpriced = 1
	}
	sums := make(map[string]any)
	for _, column := range []string{"steps", "unpriced", "input", "output", "cache_read", "cache_write", "cost"} {
		sums[column] = gorm.Expr("usage." + column + " + excluded." + column)
	}
	key := []clause.Column{{Name: "at"}, {Name: "provider"}, {Name: "model"}}
	return tx.Clauses(clause.OnConflict{Columns: key, DoUpdates: clause.Assignments(sums)}).Create(&row).Error
}

// Add counts a step whose output is not a message, such as a summary.
func (s *Usage) Add(ctx context.Context, model protocol.ModelRef, u protocol.Usage) error {
	return s.write(ctx, "count tokens", func(tx *gorm.DB) error { return addUsage(tx, time.Now().UnixMilli(), model, u) })
}

// List returns the usage of the time from from until before to, in order of time, both in Unix
// milliseconds.
func (s *Usage) List(ctx context.Context, from, to int64) ([]UsageRow, error) {
	return find[UsageRow](ctx, s.conn, "read usage", func(db *gorm.DB) *gorm.DB {
		return db.Where("at >= ? AND at < ?", from, to).Order("at, provider, model")
	})
}

// Spent returns the cost in US dollars and the tokens since a time in Unix milliseconds.
func (s *Usage) Spent(ctx context.Context, since int64) (cost float64, tokens int64, err error) {
	var sum struct {
		Cost   float64
		Tokens int64
	}
	err = s.read(ctx, "read usage", func(db *gorm.DB) error {
		return db.Raw(`SELECT coalesce(sum(cost), 0) AS cost, coalesce(sum(input + output + cache_read + cache_write), 0) AS tokens
			FROM usage WHERE at >= ?`, since).Scan(&sum).Error
	})
	return sum.Cost, sum.Tokens, err
}
