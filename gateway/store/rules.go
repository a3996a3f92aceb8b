package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Rules are the person's rules.
type Rules struct{ *conn }

type ruleRow struct {
	ID        string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	DeletedAt int64
	Hits      int64
	LastUsed  int64
	Rule      protocol.Rule `gorm:"column:json;serializer:json"`
}

func (ruleRow) TableName() string { return "rules" }

func (r ruleRow) rule() protocol.Rule {
	out := r.Rule
	out.ID, out.CreatedAt, out.DeletedAt, out.Hits, out.LastUsed = r.ID, r.CreatedAt, r.DeletedAt, r.Hits, r.LastUsed
	return out
}

// List returns all rules, including deleted ones, newest first.
func (s *Rules) List(ctx context.Context) ([]protocol.Rule, error) {
	rows, err := find[ruleRow](ctx, s.conn, "read rules", func(db *gorm.DB) *gorm.DB { return db.Order("created_at DESC, id") })
	return convert(rows, ruleRow.rule), err
}

// Put stores new or changed rules, together with the audit entries about them. The hits of
// existing rules do not change.
func (s *Rules) Put(ctx context.Context, rules []protocol.Rule, lines ...protocol.AuditEntry) error {
	rows := convert(rules, func(r protocol.Rule) ruleRow {
		r.Hits, r.LastUsed, r.Problem = 0, 0, ""
		return ruleRow{ID: r.ID, CreatedAt: r.CreatedAt, DeletedAt: r.DeletedAt, Rule: r}
	})
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
