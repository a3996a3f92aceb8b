package store

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Heartbeats are the states of agents' heartbeats.
type Heartbeats struct{ *conn }

type heartbeatRow struct {
	Agent string `gorm:"primaryKey"`
	JSON  string `gorm:"column:json"`
}

func (heartbeatRow) TableName() string { return "heartbeats" }

// List returns the state of every agent's heartbeat.
func (s *Heartbeats) List(ctx context.Context) ([]protocol.HeartbeatState, error) {
	var rows []heartbeatRow
	if err := s.read(ctx, "read heartbeats", func(db *gorm.DB) error { return db.Find(&rows).Error }); err != nil {
		return nil, err
	}
	list := make([]protocol.HeartbeatState, len(rows))
	for i, r := range rows {
		if err := json.Unmarshal([]byte(r.JSON), &list[i]); err != nil {
			return nil, fmt.Errorf("read heartbeat of %s: %w", r.Agent, err)
		}
	}
	return list, nil
}

// Put stores the state of an agent's heartbeat.
func (s *Heartbeats) Put(ctx context.Context, h protocol.HeartbeatState) error {
	row := heartbeatRow{string(h.AgentID), jsonText(h)}
	return s.write(ctx, "store heartbeat", func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}
