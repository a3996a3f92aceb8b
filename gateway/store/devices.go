package store

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// PairedDevice is a device with its credentials.
type PairedDevice struct {
	protocol.Device
	Key       []byte // Ed25519 public key
	TokenHash string // hex SHA-256; empty while it must fetch a new token
}

// Devices are the paired devices.
type Devices struct{ *conn }

type deviceRow struct {
	ID        string `gorm:"primaryKey;column:id"`
	Key       []byte
	TokenHash string
	JSON      string `gorm:"column:json"`
}

func (deviceRow) TableName() string { return "devices" }

// List returns every paired device that was not deleted.
func (s *Devices) List(ctx context.Context) ([]PairedDevice, error) {
	var rows []deviceRow
	if err := s.read(ctx, "read devices", func(db *gorm.DB) error { return db.Order("id").Find(&rows).Error }); err != nil {
		return nil, err
	}
	list := make([]PairedDevice, len(rows))
	for i, r := range rows {
		if err := json.Unmarshal([]byte(r.JSON), &list[i].Device); err != nil {
			return nil, fmt.Errorf("read device %s: %w", r.ID, err)
		}
		list[i].Key, list[i].TokenHash = r.Key, r.TokenHash
	}
	return list, nil
}

// Put stores a new or changed device, together with the audit entries about it.
func (s *Devices) Put(ctx context.Context, d PairedDevice, lines ...protocol.AuditEntry) error {
	row := deviceRow{string(d.ID), d.Key, d.TokenHash, jsonText(d.Device)}
	return s.write(ctx, "store device", func(tx *gorm.DB) error {
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
}

// Delete deletes a device.
func (s *Devices) Delete(ctx context.Context, id protocol.DeviceID, lines ...protocol.AuditEntry) error {
	return s.write(ctx, "delete device", func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", string(id)).Delete(&deviceRow{}).Error; err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
}
