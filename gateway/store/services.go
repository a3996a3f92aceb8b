package store

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Services stores the published services, and what lets their visitors in.
type Services struct{ *conn }

type serviceRow struct {
	ID      protocol.ServiceID
	Name    string
	Service protocol.Service `gorm:"column:json;serializer:json"`
}

func (serviceRow) TableName() string { return "services" }

// Visit is a link that lets a visitor in once, a sign-in, or somebody who asks for one.
type Visit struct {
	Hash      string             `json:"-"` // hex SHA-256 of its secret
	Service   protocol.ServiceID `json:"-"`
	ExpiresAt int64              `json:"-"` // Unix milliseconds
	IsLink    bool               `json:"isLink,omitempty"`
	Email     string             `json:"email,omitempty"`
	IsOwner   bool               `json:"isOwner,omitempty"`
	// IsGranted lets the visitor in until it expires, also without being on the list.
	IsGranted bool `json:"isGranted,omitempty"`

	State    string `json:"state,omitempty"`    // empty for a link and a sign-in
	Verified string `json:"verified,omitempty"` // the provider that has proven the address, if one has
	// IsClaimed means that nobody has checked that the address is the visitor's.
	IsClaimed bool                `json:"isClaimed,omitempty"`
	From      string              `json:"from,omitempty"`     // network address of who asks
	Question  protocol.QuestionID `json:"question,omitempty"` // whether to let them in
}

type visitRow struct {
	Hash      string `gorm:"primaryKey"`
	Service   protocol.ServiceID
	ExpiresAt int64
	Visit     Visit `gorm:"column:json;serializer:json"`
}

func (visitRow) TableName() string { return "visits" }

func (r visitRow) visit() Visit {
	v := r.Visit
	v.Hash, v.Service, v.ExpiresAt = r.Hash, r.Service, r.ExpiresAt
	return v
}

// List returns every service.
func (s *Services) List(ctx context.Context) ([]protocol.Service, error) {
	rows, err := find[serviceRow](ctx, s.conn, "read services", func(db *gorm.DB) *gorm.DB { return db.Order("id") })
	return convert(rows, func(r serviceRow) protocol.Service { return r.Service }), err
}

// Put stores a new or changed service, together with the audit entries about it.
func (s *Services) Put(ctx context.Context, v protocol.Service, lines ...protocol.AuditEntry) error {
	return s.write(ctx, "store service", func(tx *gorm.DB) error {
		if err := upsert(tx, &serviceRow{v.ID, v.Name, v}); err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
}

// Delete deletes a service with its visits and passkeys.
func (s *Services) Delete(ctx context.Context, id protocol.ServiceID, lines ...protocol.AuditEntry) error {
	return s.write(ctx, "delete service", func(tx *gorm.DB) error {
		if err := tx.Where("service = ?", string(id)).Delete(&visitRow{}).Error; err != nil {
			return err
		}
		if err := tx.Where("service = ?", string(id)).Delete(&passkeyRow{}).Error; err != nil {
			return err
		}
		if err := tx.Where("id = ?", string(id)).Delete(&serviceRow{}).Error; err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
}

// PutVisit stores a link or a sign-in, and deletes what has expired.
func (s *Services) PutVisit(ctx context.Context, v Visit, now int64) error {
	return s.write(ctx, "store visit", func(tx *gorm.DB) error {
		if err := tx.Where("expires_at <= ?", now).Delete(&visitRow{}).Error; err != nil {
			return err
		}
		return upsert(tx, &visitRow{v.Hash, v.Service, v.ExpiresAt, v})
	})
}

// DeleteVisit deletes a link or a sign-in. Who waits or was denied stays known.
func (s *Services) DeleteVisit(ctx context.Context, hash string) error {
	return s.write(ctx, "delete visit", func(tx *gorm.DB) error {
		return tx.Where("hash = ? AND json ->> '$.state' IS NULL", hash).Delete(&visitRow{}).Error
	})
}

// Visit returns the sign-in with this hash. If there is none, or it has expired, ok is false.
func (s *Services) Visit(ctx context.Context, hash string, now int64) (v Visit, ok bool, err error) {
	rows, err := find[visitRow](ctx, s.conn, "read visit", func(db *gorm.DB) *gorm.DB {
		return db.Where("hash = ? AND expires_at > ?", hash, now)
	})
	if err != nil || len(rows) == 0 || rows[0].Visit.IsLink || rows[0].Visit.State != "" {
		return Visit{}, false, err
	}
	return rows[0].visit(), true, nil
}

// Enter replaces an unexpired link by a sign-in, which it returns; ok is false if the link is unknown,
// expired or used. It deletes what has expired.
func (s *Services) Enter(ctx context.Context, link, hash string, now, until int64) (v Visit, ok bool, err error) {
	err = s.write(ctx, "enter service", func(tx *gorm.DB) error {
		v, ok = Visit{}, false // another try of the transaction
		if err := tx.Where("expires_at <= ?", now).Delete(&visitRow{}).Error; err != nil {
			return err
		}
		var row visitRow
		err := tx.Where("hash = ?", link).Take(&row).Error
		if errors.Is(err, gorm.ErrRecordNotFound) || err == nil && !row.Visit.IsLink {
			return nil
		}
		if err != nil {
			return err
		}
		if err := tx.Where("hash = ?", link).Delete(&visitRow{}).Error; err != nil {
			return err
		}
		row.Hash, row.ExpiresAt, row.Visit.IsLink = hash, until, false
		if err := upsert(tx, &row); err != nil {
			return err
		}
		v, ok = row.visit(), true
		return nil
	})
	return v, ok, err
}
