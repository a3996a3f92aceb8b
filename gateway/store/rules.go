package store

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Rules are the person's rules.
type Rules struct{ *conn }

type ruleRow struct {
	ID        string `gorm:"primaryKey;column:id"`
	CreatedAt int64  `gorm:"autoCreateTime:false"`
	DeletedAt int64
	Hits      int64
	LastUsed  int64
	JSON      string `gorm:"column:json"`
}

func (ruleRow) TableName() string { return "rules" }

func (r ruleRow) rule() (protocol.Rule, error) {
	var out protocol.Rule
	if err := json.Unmarshal([]byte(r.JSON), &out); err != nil {
		return out, fmt.Errorf("read rule %s: %w", r.ID, err)
	}
	out.ID, out.CreatedAt, out.DeletedAt, out.Hits, out.LastUsed = r.ID, r.CreatedAt, r.DeletedAt, r.Hits, r.LastUsed
	return out, nil
}

// List returns all rules, including deleted ones, newest first.
func (s *Rules) List(ctx context.Context) ([]protocol.Rule, error) {
	var rows []ruleRow
	if err := s.read(ctx, "read rules", func(db *gorm.DB) error { return db.Order("created_at DESC, id").Find(&rows).Error }); err != nil {
		return nil, err
	}
	list := make([]protocol.Rule, len(rows))
	for i, r := range rows {
		var err error
		if list[i], err = r.rule(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Put stores new or changed rules, together with the audit entries about them. The hits of
// existing rules do not change.
func (s *Rules) Put(ctx context.Context, rules []protocol.Rule, lines ...protocol.AuditEntry) error {
	rows := make([]ruleRow, len(rules))
	for i, r := range rules {
		row := ruleRow{ID: r.ID, CreatedAt: r.CreatedAt, DeletedAt: r.DeletedAt}
		r.Hits, r.LastUsed, r.Problem = 0, 0, ""
		row.JSON = jsonText(r)
		rows[i] = row
	}
	return s.write(ctx, "store rules", func(tx *gorm.DB) error {
		for _, row := range rows {
			err := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"json", "deleted_at"})}).Create(&row).Error
			if err != nil {
				return err
			}
		}
		return appendAudit(tx, lines)
	})
}

// CountHit increments a rule's hits. It does not wait for the disk.
func (s *Rules) CountHit(ctx context.Context, id string, at int64) error {
	return s.change(ctx, "count rule", false, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE rules SET hits = hits + 1, last_used = ? WHERE id = ?", at, id).Error
	})
}
