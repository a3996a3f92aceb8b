package store

import (
	"context"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Nodes are the nodes that were ever connected.
type Nodes struct{ *conn }

type nodeRow struct {
	ID   protocol.NodeID
	Info protocol.NodeInfo `gorm:"column:json;serializer:json"`
}

func (nodeRow) TableName() string { return "nodes" }

// Put stores a node.
func (s *Nodes) Put(ctx context.Context, n protocol.NodeInfo) error {
	return s.write(ctx, "store machine", func(tx *gorm.DB) error { return upsert(tx, &nodeRow{n.ID, n}) })
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
