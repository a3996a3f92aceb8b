package store

import (
	"context"
	"slices"

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

// Nodes are the nodes that were ever connected.
type Nodes struct {
	*conn
	calls *Calls
}

type nodeRow struct {
	ID   protocol.NodeID
	Info protocol.NodeInfo `gorm:"column:json;serializer:json"`
}

// Put stores a node, together with the audit entries about it.
func (s *Nodes) Put(ctx context.Context, n protocol.NodeInfo, lines ...protocol.AuditEntry) error {
	return s.write(ctx, "store machine", func(tx *gorm.DB) error {
		if err := upsert(tx, &nodeRow{n.ID, n}); err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
}

// List returns every node that was ever connected.
func (s *Nodes) List(ctx context.Context) ([]protocol.NodeInfo, error) {
	rows, err := find[nodeRow](ctx, s.conn, "read machines", func(db *gorm.DB) *gorm.DB { return db.Order("id") })
	return convert(rows, func(r nodeRow) protocol.NodeInfo { return r.Info }), err
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

// StoppedCalls returns those of a node's calls that were cancelled before they had ended.
func (s *Nodes) StoppedCalls(ctx context.Context, node protocol.NodeID, calls []protocol.CallID) (stopped []protocol.CallID, err error) {
	for part := range slices.Chunk(calls, 500) {
		list, err := s.calls.find(ctx, "id IN ? AND node = ? AND state = 'cancelled'", part, string(node))
		if err != nil {
			return nil, err
		}
		stopped = append(stopped, convert(list, func(c Call) protocol.CallID { return c.Info.CallID })...)
	}
	return stopped, nil
}
