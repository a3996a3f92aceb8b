package store

import (
	"context"
	"encoding/json"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Passkey is a passkey of a visitor for one service.
type Passkey struct {
	ID        string             `json:"-"` // hex ID of the credential
	Service   protocol.ServiceID `json:"-"`
	Visitor   string             `json:"-"` // hex user handle
	CreatedAt int64              `json:"-"` // Unix milliseconds
	Email     string             `json:"email,omitempty"`
	IsOwner   bool               `json:"isOwner,omitempty"`
	// Credential is what checks an answer of the authenticator.
	Credential json.RawMessage `json:"credential"`
}

type passkeyRow struct {
	ID        string             `gorm:"primaryKey"`
	Service   protocol.ServiceID `gorm:"primaryKey"`
	Visitor   string
	CreatedAt int64   `gorm:"autoCreateTime:false"`
	Passkey   Passkey `gorm:"column:json;serializer:json"`
}

func (passkeyRow) TableName() string { return "passkeys" }

func (r passkeyRow) passkey() Passkey {
	p := r.Passkey
	p.ID, p.Service, p.Visitor, p.CreatedAt = r.ID, r.Service, r.Visitor, r.CreatedAt
	return p
}

// maxPasskeys is the number of passkeys of a visitor for a service. More replace the oldest.
const maxPasskeys = 10

// PutPasskey stores a new or changed passkey.
func (s *Services) PutPasskey(ctx context.Context, p Passkey) error {
	return s.write(ctx, "store passkey", func(tx *gorm.DB) error {
		if err := upsert(tx, &passkeyRow{p.ID, p.Service, p.Visitor, p.CreatedAt, p}); err != nil {
			return err
		}
		of := func() *gorm.DB { return tx.Where("service = ? AND visitor = ?", string(p.Service), p.Visitor) }
		newest := of().Model(&passkeyRow{}).Select("id").Order("created_at DESC").Limit(maxPasskeys)
		return of().Where("id NOT IN (?)", newest).Delete(&passkeyRow{}).Error
	})
}

// Passkeys returns the passkeys for a service, in no order.
func (s *Services) Passkeys(ctx context.Context, service protocol.ServiceID) ([]Passkey, error) {
	rows, err := find[passkeyRow](ctx, s.conn, "read passkeys", func(db *gorm.DB) *gorm.DB {
		return db.Where("service = ?", string(service))
	})
	return convert(rows, passkeyRow.passkey), err
}

// DeletePasskey deletes a passkey for a service.
func (s *Services) DeletePasskey(ctx context.Context, service protocol.ServiceID, id string) error {
	return s.write(ctx, "delete passkey", func(tx *gorm.DB) error {
		return tx.Where("service = ? AND id = ?", string(service), id).Delete(&passkeyRow{}).Error
	})
}
