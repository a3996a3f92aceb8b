package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Approvals are the pending and the answered questions.
type Approvals struct{ *conn }

type approvalRow struct {
	ID         protocol.ApprovalID
	State      string
	SessionKey protocol.SessionKey
	CreatedAt  int64             `gorm:"autoCreateTime:false"`
	Approval   protocol.Approval `gorm:"column:json;serializer:json"`
}

func (approvalRow) TableName() string { return "approvals" }

func rowOfApproval(a protocol.Approval) approvalRow {
	return approvalRow{a.ID, a.State, a.SessionKey, a.CreatedAt, a}
}

func (r approvalRow) approval() protocol.Approval {
	r.Approval.State = r.State
	return r.Approval
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

// Change changes or closes a pending approval; the function reports whether it changed anything. An
// approval that is closed or that the function did not change is returned as it is, with changed
// false: the first to close it wins.
func (s *Approvals) Change(ctx context.Context, id protocol.ApprovalID, change func(*protocol.Approval) bool) (a protocol.Approval, changed bool, err error) {
	err = s.write(ctx, "change approval", func(tx *gorm.DB) error {
		changed = false
		var row approvalRow
		if err := tx.Where("id = ?", string(id)).Take(&row).Error; err != nil {
			return err
		}
		if a = row.approval(); a.State != protocol.ApprovalPending || !change(&a) {
			return nil
		}
		row = rowOfApproval(a)
		res := tx.Model(&approvalRow{}).Where("id = ? AND state = 'pending'", row.ID).Select("state", "json").Updates(&row)
		changed = res.RowsAffected == 1
		return res.Error
	})
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = protocol.ErrNotFound.With(fmt.Sprintf("No approval has the ID %s", id))
	}
	return a, changed && err == nil, err
}

// Get returns an approval, or protocol.ErrNotFound.
func (s *Approvals) Get(ctx context.Context, id protocol.ApprovalID) (protocol.Approval, error) {
	row, err := findOne[approvalRow](ctx, s.conn, "read approval", fmt.Sprintf("No approval has the ID %s", id), func(db *gorm.DB) *gorm.DB {
		return db.Where("id = ?", id)
	})
	return row.approval(), err
}

// Pending returns the pending approvals, oldest first.
func (s *Approvals) Pending(ctx context.Context) ([]protocol.Approval, error) {
	rows, err := find[approvalRow](ctx, s.conn, "list approvals", func(db *gorm.DB) *gorm.DB {
		return db.Where("state = 'pending'").Order("created_at, id")
	})
	return convert(rows, approvalRow.approval), err
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
