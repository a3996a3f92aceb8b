package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Approvals are the pending and the answered questions.
type Approvals struct{ *conn }

type approvalRow struct {
	ID         string `gorm:"primaryKey;column:id"`
	State      string
	SessionKey string
	CreatedAt  int64  `gorm:"autoCreateTime:false"`
	JSON       string `gorm:"column:json"`
}

func (approvalRow) TableName() string { return "approvals" }

func rowOfApproval(a protocol.Approval) approvalRow {
	return approvalRow{ID: string(a.ID), State: a.State, SessionKey: string(a.SessionKey), CreatedAt: a.CreatedAt, JSON: jsonText(a)}
}

func (r approvalRow) approval() (protocol.Approval, error) {
	var a protocol.Approval
	if err := json.Unmarshal([]byte(r.JSON), &a); err != nil {
		return a, fmt.Errorf("read approval %s: %w", r.ID, err)
	}
	a.State = r.State
	return a, nil
}

// Put stores a new approval, or changes a pending one. A closed one is not changed.
func (s *Approvals) Put(ctx context.Context, a protocol.Approval) error {
	row := rowOfApproval(a)
	return s.write(ctx, "store approval", func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{
			Columns:   []clause.Column{{Name: "id"}},
			Where:     clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "approvals.state = 'pending'"}}},
			DoUpdates: clause.AssignmentColumns([]string{"json"}),
		}).Create(&row).Error
	})
}

// Change changes a pending approval; the function reports whether it changed anything. An
// approval that is closed or that the function did not change is returned as it is, with changed
// false.
func (s *Approvals) Change(ctx context.Context, id protocol.ApprovalID, change func(*protocol.Approval) bool) (a protocol.Approval, changed bool, err error) {
	err = s.write(ctx, "change approval", func(tx *gorm.DB) error {
		changed = false
		var row approvalRow
		if err := tx.Where("id = ?", string(id)).Take(&row).Error; err != nil {
			return err
		}
		if a, err = row.approval(); err != nil {
			return err
		}
		if a.State != protocol.ApprovalPending || !change(&a) {
			return nil
		}
		changed = true
		return tx.Model(&approvalRow{}).Where("id = ?", row.ID).Update("json", jsonText(a)).Error
	})
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = protocol.ErrNotFound.With(fmt.Sprintf("No approval has the ID %s", id))
	}
	return a, changed && err == nil, err
}

// Close closes a pending approval. won is false if it was closed already: the first answer
// wins. The stored record of where it was shown is retained.
func (s *Approvals) Close(ctx context.Context, a protocol.Approval) (won bool, err error) {
	err = s.write(ctx, "store answer of an approval", func(tx *gorm.DB) error {
		var old approvalRow
		if res := tx.Where("id = ? AND state = 'pending'", string(a.ID)).Limit(1).Find(&old); res.Error != nil || res.RowsAffected == 0 {
			won = false
			return res.Error
		}
		was, err := old.approval()
		if err != nil {
			return err
		}
		a.Shown, a.SurfaceShown, a.ShownAt, a.Unseen = was.Shown, was.SurfaceShown, was.ShownAt, was.Unseen
		row := rowOfApproval(a)
		res := tx.Model(&approvalRow{}).Where("id = ? AND state = 'pending'", row.ID).Select("state", "json").Updates(&row)
		won = res.RowsAffected == 1
		return res.Error
	})
	return won && err == nil, err
}

// Get returns an approval, or protocol.ErrNotFound.
func (s *Approvals) Get(ctx context.Context, id protocol.ApprovalID) (protocol.Approval, error) {
	var row approvalRow
	err := s.read(ctx, "read approval", func(db *gorm.DB) error { return db.Where("id = ?", string(id)).Take(&row).Error })
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return protocol.Approval{}, protocol.ErrNotFound.With(fmt.Sprintf("No approval has the ID %s", id))
	}
	if err != nil {
		return protocol.Approval{}, err
	}
	return row.approval()
}

// Pending returns the pending approvals, oldest first.
func (s *Approvals) Pending(ctx context.Context) ([]protocol.Approval, error) {
	var rows []approvalRow
	err := s.read(ctx, "list approvals", func(db *gorm.DB) error {
		return db.Where("state = 'pending'").Order("created_at, id").Find(&rows).Error
	})
	if err != nil {
		return nil, err
	}
	list := make([]protocol.Approval, len(rows))
	for i, r := range rows {
		var err error
		if list[i], err = r.approval(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ExpiredCount returns the number of a run's calls that were not made because their approval
// expired.
func (s *Approvals) ExpiredCount(ctx context.Context, run protocol.RunID) (n int, err error) {
	err = s.read(ctx, "count expired approvals", func(db *gorm.DB) error {
		return db.Raw(`SELECT count(*) FROM calls c JOIN approvals q ON q.id = json_extract(c.info, '$.approvalId')
			WHERE c.run_id = ? AND c.run_id <> '' AND c.state = 'denied' AND q.state = 'expired'`, string(run)).Scan(&n).Error
	})
	return n, err
}

// Unanswered reports whether the last of a run's approvals for finished calls expired without an
// answer.
func (s *Approvals) Unanswered(ctx context.Context, run protocol.RunID) (bool, error) {
	const last = `SELECT q.state FROM calls c JOIN approvals q ON q.id = json_extract(c.info, '$.approvalId')
		WHERE c.run_id = ? AND c.run_id <> '' AND q.state IN ('expired', 'allowed', 'edited', 'denied')
		ORDER BY json_extract(q.json, '$.answeredAt') DESC, q.created_at DESC LIMIT 1`
	var states []string
	err := s.read(ctx, "look for an expired approval", func(db *gorm.DB) error { return db.Raw(last, string(run)).Scan(&states).Error })
	return len(states) == 1 && states[0] == protocol.ApprovalExpired, err
}
