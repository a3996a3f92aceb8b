package store

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Transfer is a transfer with the gateway's internal data.
type Transfer struct {
	protocol.Transfer
	Agent  protocol.AgentID // the owner of the workspace that "gsv:" means
	Policy string           // fingerprint of the rules under which it was allowed
}

// Transfers are the queue of transfers and its history.
type Transfers struct{ *conn }

type transferRow struct {
	ID        string `gorm:"primaryKey;column:id"`
	State     string
	FromNode  string
	ToNode    string
	Agent     string
	Policy    string
	CreatedAt int64
	EndedAt   int64
	JSON      string `gorm:"column:json"`
}

func (transferRow) TableName() string { return "transfers" }

func (r transferRow) transfer() (Transfer, error) {
	t := Transfer{Agent: protocol.AgentID(r.Agent), Policy: r.Policy}
	if err := json.Unmarshal([]byte(r.JSON), &t.Transfer); err != nil {
		return t, fmt.Errorf("read transfer %s: %w", r.ID, err)
	}
	return t, nil
}

func transfersOf(rows []transferRow) ([]Transfer, error) {
	list := make([]Transfer, len(rows))
	for i, r := range rows {
		var err error
		if list[i], err = r.transfer(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Put stores a new or changed transfer.
func (s *Transfers) Put(ctx context.Context, t Transfer) error {
	row := transferRow{string(t.ID), t.State, string(t.From), string(t.To), string(t.Agent), t.Policy, t.CreatedAt, t.EndedAt, jsonText(t.Transfer)}
	return s.write(ctx, "store transfer", func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}

// Get returns one transfer, or protocol.ErrNotFound.
func (s *Transfers) Get(ctx context.Context, id protocol.TransferID) (Transfer, error) {
	var rows []transferRow
	err := s.read(ctx, "read transfer", func(db *gorm.DB) error { return db.Where("id = ?", string(id)).Limit(1).Find(&rows).Error })
	switch {
	case err != nil:
		return Transfer{}, err
	case len(rows) == 0:
		return Transfer{}, protocol.ErrNotFound.With(fmt.Sprintf("There is no transfer %s", id))
	}
	return rows[0].transfer()
}

// Unfinished returns the unfinished transfers, oldest first.
func (s *Transfers) Unfinished(ctx context.Context) ([]Transfer, error) {
	var rows []transferRow
	if err := s.read(ctx, "read transfers", func(db *gorm.DB) error {
		return db.Where("ended_at = 0").Order("created_at, id").Find(&rows).Error
	}); err != nil {
		return nil, err
	}
	return transfersOf(rows)
}

// Finished returns a page of the finished transfers, newest first, and their total number; if
// node is not empty, only of that node.
func (s *Transfers) Finished(ctx context.Context, node protocol.NodeID, offset, limit int) (list []Transfer, total int, err error) {
	var rows []transferRow
	var n int64
	err = s.read(ctx, "read transfers", func(db *gorm.DB) error {
		q := db.Model(&transferRow{}).Where("ended_at > 0")
		if node != "" {
			q = q.Where("from_node = ? OR to_node = ?", string(node), string(node))
		}
		if err := q.Session(&gorm.Session{}).Count(&n).Error; err != nil {
			return err
		}
		return q.Session(&gorm.Session{}).Order("ended_at DESC, created_at DESC, id").Offset(offset).Limit(limit).Find(&rows).Error
	})
	if err != nil {
		return nil, 0, err
	}
	list, err = transfersOf(rows)
	return list, int(n), err
}

// ClearCurrent records that a cancelled transfer has left no unfinished files; any other transfer
// is not changed.
func (s *Transfers) ClearCurrent(ctx context.Context, id protocol.TransferID) error {
	return s.write(ctx, "store transfer", func(tx *gorm.DB) error {
		return tx.Model(&transferRow{}).Where("id = ? AND state = ?", string(id), protocol.TransferCancelled).
			Update("json", gorm.Expr("json_remove(json, '$.current')")).Error
	})
}

// Delete deletes finished transfers, all of them without ids, and returns the deleted IDs.
func (s *Transfers) Delete(ctx context.Context, ids []protocol.TransferID) (gone []protocol.TransferID, err error) {
	err = s.write(ctx, "delete transfers", func(tx *gorm.DB) error {
		gone = nil
		q := tx.Model(&transferRow{}).Where("ended_at > 0")
		if len(ids) > 0 {
			q = q.Where("id IN ?", ids)
		}
		if err := q.Session(&gorm.Session{}).Pluck("id", &gone).Error; err != nil || len(gone) == 0 {
			return err
		}
		return q.Session(&gorm.Session{}).Delete(&transferRow{}).Error
	})
	return gone, err
}
