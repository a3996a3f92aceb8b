package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// States of a visit that lets nobody in.
const (
	VisitWaiting = "waiting" // the owner has been asked
	VisitDenied  = "denied"
)

// AskingVisit returns the visit with this hash that lets nobody in. If there is none, or it has
// expired, ok is false.
func (s *Services) AskingVisit(ctx context.Context, hash string, now int64) (v Visit, ok bool, err error) {
	rows, err := find[visitRow](ctx, s.conn, "read visit", func(db *gorm.DB) *gorm.DB {
		return db.Where("hash = ? AND expires_at > ?", hash, now)
	})
	if err != nil || len(rows) == 0 || rows[0].Visit.State == "" {
		return Visit{}, false, err
	}
	return rows[0].visit(), true, nil
}

// Visits returns the sign-ins of a service, and who asks for one, without those that have expired.
func (s *Services) Visits(ctx context.Context, id protocol.ServiceID, now int64) (list []Visit, err error) {
	rows, err := find[visitRow](ctx, s.conn, "read visits", func(db *gorm.DB) *gorm.DB {
		return db.Where("service = ? AND expires_at > ?", string(id), now).Order("expires_at, hash")
	})
	for _, r := range rows {
		if !r.Visit.IsLink {
			list = append(list, r.visit())
		}
	}
	return list, err
}

// DeleteVisits deletes the visits of a service for which gone returns true, together with the audit
// entries about that, and returns them. Without any, it does nothing.
func (s *Services) DeleteVisits(ctx context.Context, id protocol.ServiceID, gone func(Visit) bool, lines ...protocol.AuditEntry) (deleted []Visit, err error) {
	err = s.write(ctx, "delete visits", func(tx *gorm.DB) (err error) {
		if deleted, err = deleteVisits(tx, id, gone); err != nil || len(deleted) == 0 {
			return err
		}
		return appendAudit(tx, lines)
	})
	return deleted, err
}

func deleteVisits(tx *gorm.DB, id protocol.ServiceID, gone func(Visit) bool) (deleted []Visit, err error) {
	var rows []visitRow
	if err := tx.Where("service = ?", string(id)).Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, r := range rows {
		if !gone(r.visit()) {
			continue
		}
		if err := tx.Where("hash = ?", r.Hash).Delete(&visitRow{}).Error; err != nil {
			return nil, err
		}
		deleted = append(deleted, r.visit())
	}
	return deleted, nil
}

// PutWithout stores a changed service without the visits for which gone returns true, together with
// the audit entries about it.
func (s *Services) PutWithout(ctx context.Context, v protocol.Service, gone func(Visit) bool, lines ...protocol.AuditEntry) error {
	return s.write(ctx, "store service", func(tx *gorm.DB) error {
		if _, err := deleteVisits(tx, v.ID, gone); err != nil {
			return err
		}
		if err := upsert(tx, &serviceRow{v.ID, v.Name, v}); err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
}

// ServiceUse is how much a service is used.
type ServiceUse struct {
	LastUsedAt int64     `json:"lastUsedAt,omitempty"` // Unix milliseconds
	Requests   int64     `json:"requests,omitempty"`   // of the day that ends at DayEnds
	DayEnds    time.Time `json:"dayEnds,omitzero"`
	// Open are the audit entries about the visits that are not over, as if they had just ended.
	Open []protocol.AuditEntry `json:"open,omitempty"`
}

// Uses returns how much the services were used.
func (s *Services) Uses(ctx context.Context) (map[protocol.ServiceID]ServiceUse, error) {
	type useRow struct {
		ID  protocol.ServiceID
		Use ServiceUse `gorm:"serializer:json"`
	}
	rows, err := find[useRow](ctx, s.conn, "read the use of services", func(db *gorm.DB) *gorm.DB { return db.Table("services") })
	uses := make(map[protocol.ServiceID]ServiceUse, len(rows))
	for _, r := range rows {
		uses[r.ID] = r.Use
	}
	return uses, err
}

// PutUses stores how much services were used, together with audit entries about visits.
func (s *Services) PutUses(ctx context.Context, uses map[protocol.ServiceID]ServiceUse, lines ...protocol.AuditEntry) error {
	return s.write(ctx, "store the use of services", func(tx *gorm.DB) error {
		for id, use := range uses {
			text, err := protocol.Marshal(use)
			if err != nil {
				return err
			}
			if err := execSQL(tx, "UPDATE services SET use = ? WHERE id = ?", string(text), string(id)); err != nil {
				return err
			}
		}
		return appendAudit(tx, lines)
	})
}
