package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Transfer is a transfer with the gateway's internal data.
type Transfer struct {
	protocol.Transfer
	Agent  protocol.AgentID // the owner of the workspace that "gsv:" means
	Policy string           // fingerprint of the rules under which it was allowed
	// Allowed is the call whose decision allows it: the one that started it, or a later one about which
	// the person was asked.
	Allowed protocol.CallID
}

// Transfers are the queue of transfers and its history.
type Transfers struct{ *conn }

type transferRow struct {
	ID        protocol.TransferID
	State     string
	FromNode  protocol.NodeID
	ToNode    protocol.NodeID
	Agent     protocol.AgentID
	Policy    string
	Allowed   protocol.CallID
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	EndedAt   int64
	Transfer  protocol.Transfer `gorm:"column:json;serializer:json"`
}

func (r transferRow) transfer() Transfer { return Transfer{r.Transfer, r.Agent, r.Policy, r.Allowed} }

// Put stores a new or changed transfer. In the same transaction, changes apply to the entry of the
// call that allowed it.
func (s *Transfers) Put(ctx context.Context, t Transfer, changes ...CallChange) error {
	row := transferRow{t.ID, t.State, t.From, t.To, t.Agent, t.Policy, t.Allowed, t.CreatedAt, t.EndedAt, t.Transfer}
	return s.write(ctx, "store transfer", func(tx *gorm.DB) error {
		for _, change := range changes {
			if err := change.put(tx, t.Allowed); err != nil {
				return err
			}
		}
		return upsert(tx, &row)
	})
}

// Get returns one transfer, or protocol.ErrNotFound.
func (s *Transfers) Get(ctx context.Context, id protocol.TransferID) (Transfer, error) {
	row, err := findOne[transferRow](ctx, s.conn, "read transfer", fmt.Sprintf("There is no transfer %s", id), func(db *gorm.DB) *gorm.DB {
		return db.Where("id = ?", id)
	})
	return row.transfer(), err
}

// TransferFilter selects a page of the transfers.
type TransferFilter struct {
	Finished      bool            // newest first; otherwise the unfinished ones, oldest first
	Node          protocol.NodeID // one of the ends; empty: all
	Offset, Limit int             // a Limit of -1 means all
}

// List returns a page of the transfers, and the number on all pages.
func (s *Transfers) List(ctx context.Context, f TransferFilter) (list []Transfer, total int, err error) {
	where, order := "ended_at = 0", "created_at, id"
	if f.Finished {
		where, order = "ended_at > 0", "ended_at DESC, created_at DESC, id"
	}
	rows, total, err := findPage[transferRow](ctx, s.conn, "read transfers", order, f.Offset, f.Limit, func(db *gorm.DB) *gorm.DB {
		if f.Node != "" {
			db = db.Where("from_node = ? OR to_node = ?", f.Node, f.Node)
		}
		return db.Where(where)
	})
	return convert(rows, transferRow.transfer), total, err
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
