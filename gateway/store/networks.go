package store

import (
	"context"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Networks are the networks of machines. Which machine is in which is in [Nodes].
type Networks struct{ *conn }

type networkRow struct {
	Number    int `gorm:"primaryKey;autoIncrement"`
	ID        protocol.NetworkID
	Name      string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

func (networkRow) TableName() string { return "networks" }

// createNetworks creates the table of networks. The first one is the default network. Numbers of
// deleted networks are not used again.
const createNetworks = `CREATE TABLE networks (
  number     INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  name       TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL                      -- Unix milliseconds
) STRICT;`

// List returns the networks in the order in which they were created.
func (s *Networks) List(ctx context.Context) ([]protocol.Network, error) {
	rows, err := find[networkRow](ctx, s.conn, "read networks", func(db *gorm.DB) *gorm.DB { return db.Order("number") })
	return convert(rows, func(r networkRow) protocol.Network {
		return protocol.Network{ID: r.ID, Name: r.Name, Index: r.Number, CreatedAt: r.CreatedAt}
	}), err
}

// Put stores a network, together with the audit entries about it, and returns it. A network without
// an index is new and gets one.
func (s *Networks) Put(ctx context.Context, n protocol.Network, lines ...protocol.AuditEntry) (protocol.Network, error) {
	err := s.write(ctx, "store network", func(tx *gorm.DB) error {
		row := networkRow{n.Index, n.ID, n.Name, n.CreatedAt}
		if err := upsert(tx, &row); err != nil {
			return err
		}
		n.Index = row.Number
		return appendAudit(tx, lines)
	})
	return n, err
}

// Delete deletes a network.
func (s *Networks) Delete(ctx context.Context, id protocol.NetworkID, lines ...protocol.AuditEntry) error {
	return s.write(ctx, "delete network", func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", string(id)).Delete(&networkRow{}).Error; err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
}
