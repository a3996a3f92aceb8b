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

type approvalRow struct {
	ID         string `gorm:"primaryKey;column:id"`
	State      string
	SessionKey string
	CreatedAt  int64  `gorm:"autoCreateTime:false"`
	JSON       string `gorm:"column:json"`
}

func (approvalRow) TableName() string { return "approvals" }

func rowOfApproval(a protocol.Approval) approvalRow {
	return approvalRow{ID: string(a.ID), State: a.State, SessionKey: string(a.SessionKey), CreatedAt: a.CreatedAt, JSON: text(a)}
}

func (r approvalRow) approval() (protocol.Approval, error) {
	var a protocol.Approval
	if err := json.Unmarshal([]byte(r.JSON), &a); err != nil {
		return a, fmt.Errorf("read question %s: %w", r.ID, err)
	}
	a.State = r.State
	return a, nil
}

// PutApproval stores a question that is new, or changes one that is pending. One that was answered stays as it is.
func (s *Store) PutApproval(ctx context.Context, a protocol.Approval) error {
	row := rowOfApproval(a)
	return s.write(ctx, "store question", func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{
			Columns:   []clause.Column{{Name: "id"}},
			Where:     clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "approvals.state = 'pending'"}}},
			DoUpdates: clause.AssignmentColumns([]string{"json"}),
		}).Create(&row).Error
	})
}

// CloseApproval gives a pending question its end. won is false when it had ended already: the first answer wins.
func (s *Store) CloseApproval(ctx context.Context, a protocol.Approval) (won bool, err error) {
	row := rowOfApproval(a)
	err = s.write(ctx, "store answer", func(tx *gorm.DB) error {
		res := tx.Model(&approvalRow{}).Where("id = ? AND state = 'pending'", row.ID).Select("state", "json").Updates(&row)
		won = res.RowsAffected == 1
		return res.Error
	})
	return won && err == nil, err
}

// Approval returns a question, or protocol.ErrNotFound.
func (s *Store) Approval(ctx context.Context, id protocol.ApprovalID) (protocol.Approval, error) {
	var row approvalRow
	err := s.read(ctx, "read question", func(db *gorm.DB) error { return db.Where("id = ?", string(id)).Take(&row).Error })
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return protocol.Approval{}, protocol.ErrNotFound.With(fmt.Sprintf("No question has the id %s", id))
	}
	if err != nil {
		return protocol.Approval{}, err
	}
	return row.approval()
}

// PendingApprovals returns the open questions, oldest first.
func (s *Store) PendingApprovals(ctx context.Context) ([]protocol.Approval, error) {
	var rows []approvalRow
	err := s.read(ctx, "list questions", func(db *gorm.DB) error {
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

// Grant is what a person allowed for a whole session.
type Grant struct {
	ID        string
	Session   protocol.SessionKey
	Node      protocol.NodeID
	Tool      string
	Match     string // what the call must be, in the form the approval package compares
	Words     string // the same for people
	CreatedAt int64
	From      protocol.ApprovalID
}

type grantRow struct {
	ID           string `gorm:"primaryKey;column:id"`
	SessionKey   string
	Node         string
	Tool         string
	Match        string
	Words        string
	CreatedAt    int64 `gorm:"autoCreateTime:false"`
	FromApproval string
}

func (grantRow) TableName() string { return "grants" }

// PutGrant stores a grant.
func (s *Store) PutGrant(ctx context.Context, g Grant) error {
	if g.ID == "" {
		g.ID = protocol.NewID()
	}
	row := grantRow{g.ID, string(g.Session), string(g.Node), g.Tool, g.Match, g.Words, g.CreatedAt, string(g.From)}
	return s.write(ctx, "store grant", func(tx *gorm.DB) error { return tx.Create(&row).Error })
}

// Grants returns a session's grants.
func (s *Store) Grants(ctx context.Context, session protocol.SessionKey) ([]Grant, error) {
	var rows []grantRow
	err := s.read(ctx, "read grants", func(db *gorm.DB) error {
		return db.Where("session_key = ?", string(session)).Order("created_at, id").Find(&rows).Error
	})
	if err != nil {
		return nil, err
	}
	list := make([]Grant, len(rows))
	for i, r := range rows {
		list[i] = Grant{r.ID, protocol.SessionKey(r.SessionKey), protocol.NodeID(r.Node), r.Tool, r.Match, r.Words, r.CreatedAt, protocol.ApprovalID(r.FromApproval)}
	}
	return list, nil
}

// DropGrants withdraws all of a session's grants.
func (s *Store) DropGrants(ctx context.Context, session protocol.SessionKey) error {
	return s.write(ctx, "withdraw grants", func(tx *gorm.DB) error {
		return tx.Where("session_key = ?", string(session)).Delete(&grantRow{}).Error
	})
}
