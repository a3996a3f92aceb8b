package store

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Nodes are the nodes that were ever connected.
type Nodes struct{ *conn }

type nodeRow struct {
	ID   string `gorm:"primaryKey;column:id"`
	JSON string `gorm:"column:json"`
}

func (nodeRow) TableName() string { return "nodes" }

// Put stores a node.
func (s *Nodes) Put(ctx context.Context, n protocol.NodeInfo) error {
	row := nodeRow{string(n.ID), jsonText(n)}
	return s.write(ctx, "store machine", func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}

// List returns every node that was ever connected.
func (s *Nodes) List(ctx context.Context) ([]protocol.NodeInfo, error) {
	var rows []nodeRow
	if err := s.read(ctx, "read machines", func(db *gorm.DB) error { return db.Order("id").Find(&rows).Error }); err != nil {
		return nil, err
	}
	list := make([]protocol.NodeInfo, len(rows))
	for i, r := range rows {
		if err := json.Unmarshal([]byte(r.JSON), &list[i]); err != nil {
			return nil, fmt.Errorf("read machine %s: %w", r.ID, err)
		}
	}
	return list, nil
}

// Delete deletes a node, and reports whether it existed.
func (s *Nodes) Delete(ctx context.Context, id protocol.NodeID) (known bool, err error) {
	err = s.write(ctx, "delete machine", func(tx *gorm.DB) error {
		done := tx.Where("id = ?", string(id)).Delete(&nodeRow{})
		known = done.RowsAffected > 0
		return done.Error
	})
	return known, err
}
