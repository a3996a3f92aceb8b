package store

import (
	"context"

	"gorm.io/gorm"

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
	ID        protocol.DeviceID
	Key       []byte
	TokenHash string
	Device    protocol.Device `gorm:"column:json;serializer:json"`
}

func (deviceRow) TableName() string { return "devices" }

// List returns every paired device that was not deleted.
func (s *Devices) List(ctx context.Context) ([]PairedDevice, error) {
	rows, err := find[deviceRow](ctx, s.conn, "read devices", func(db *gorm.DB) *gorm.DB { return db.Order("id") })
	return convert(rows, func(r deviceRow) PairedDevice { return PairedDevice{r.Device, r.Key, r.TokenHash} }), err
}

// Put stores a new or changed device, together with the audit entries about it.
func (s *Devices) Put(ctx context.Context, d PairedDevice, lines ...protocol.AuditEntry) error {
	row := deviceRow{d.ID, d.Key, d.TokenHash, d.Device}
	return s.write(ctx, "store device", func(tx *gorm.DB) error {
		if err := upsert(tx, &row); err != nil {
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
