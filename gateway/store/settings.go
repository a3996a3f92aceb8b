package store

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

type settingRow struct {
	Key   string `gorm:"primaryKey"`
	Value string
}

func (settingRow) TableName() string { return "settings" }

// Settings returns every setting that differs from its default.
func (s *Store) Settings(ctx context.Context) (map[string]json.RawMessage, error) {
	var rows []settingRow
	if err := s.read(ctx, "read settings", func(db *gorm.DB) error { return db.Find(&rows).Error }); err != nil {
		return nil, err
	}
	all := make(map[string]json.RawMessage, len(rows))
	for _, r := range rows {
		all[r.Key] = json.RawMessage(r.Value)
	}
	return all, nil
}

// PutSetting stores a setting; nil removes it.
func (s *Store) PutSetting(ctx context.Context, key string, value json.RawMessage) error {
	return s.write(ctx, "store setting", func(tx *gorm.DB) error {
		if value == nil {
			return tx.Where("key = ?", key).Delete(&settingRow{}).Error
		}
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&settingRow{key, string(value)}).Error
	})
}

type nodeRow struct {
	ID   string `gorm:"primaryKey;column:id"`
	JSON string `gorm:"column:json"`
}

func (nodeRow) TableName() string { return "nodes" }

// PutNode stores a node.
func (s *Store) PutNode(ctx context.Context, n protocol.NodeInfo) error {
	row := nodeRow{string(n.ID), text(n)}
	return s.write(ctx, "store machine", func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}

// Nodes returns every node that was ever connected.
func (s *Store) Nodes(ctx context.Context) ([]protocol.NodeInfo, error) {
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

// DeleteNode deletes a node, and reports whether it existed.
func (s *Store) DeleteNode(ctx context.Context, id protocol.NodeID) (known bool, err error) {
	err = s.write(ctx, "forget machine", func(tx *gorm.DB) error {
		done := tx.Where("id = ?", string(id)).Delete(&nodeRow{})
		known = done.RowsAffected > 0
		return done.Error
	})
	return known, err
}
