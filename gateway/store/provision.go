package store

import (
	"context"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Tasks stores the rented machines.
type Tasks struct{ *conn }

type taskRow struct {
	ID   protocol.TaskID
	Task protocol.ProvisionTask `gorm:"column:json;serializer:json"`
}

func (taskRow) TableName() string { return "tasks" }

// addTasks adds the rented machines.
const addTasks = `CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  json TEXT NOT NULL                               -- protocol.ProvisionTask
) STRICT, WITHOUT ROWID;`

// List returns every task.
func (s *Tasks) List(ctx context.Context) ([]protocol.ProvisionTask, error) {
	rows, err := find[taskRow](ctx, s.conn, "read tasks", func(db *gorm.DB) *gorm.DB { return db.Order("id") })
	return convert(rows, func(r taskRow) protocol.ProvisionTask { return r.Task }), err
}

// Put stores a new or changed task, together with the audit entries about it.
func (s *Tasks) Put(ctx context.Context, t protocol.ProvisionTask, lines ...protocol.AuditEntry) error {
	return s.write(ctx, "store task", func(tx *gorm.DB) error {
		if err := upsert(tx, &taskRow{t.ID, t}); err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
}

// Delete deletes a task, together with storing the audit entries about it.
func (s *Tasks) Delete(ctx context.Context, id protocol.TaskID, lines ...protocol.AuditEntry) error {
	return s.write(ctx, "delete task", func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", string(id)).Delete(&taskRow{}).Error; err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
}
