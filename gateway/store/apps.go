package store

import (
	"context"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Kinds of [AppToken].
const (
	TokenPersonal = "personal" // made by hand
	TokenAccess   = "access"
	TokenRefresh  = "refresh"
)

// AppToken is a token of a connected app, without its secret.
type AppToken struct {
	Hash      string // hex SHA-256 of the secret
	App       protocol.AppID
	Kind      string
	Scopes    []protocol.Scope // narrower than the app's; empty: those of the app
	Resource  string           // the address that the token is for; empty: any
	ExpiresAt int64            // 0: never
	UsedAt    int64            // of a refresh token: when it was exchanged; 0: not yet
}

// AppClient is a program that registered itself to sign in.
type AppClient struct {
	ID           string   `json:"-"`
	Name         string   `json:"name"`
	RedirectURIs []string `json:"redirectUris"`
	CreatedAt    int64    `json:"-"`
	UsedAt       int64    `json:"-"` // when it last connected an app; 0: never
}

// Apps are the connected apps, their tokens, and the programs that registered themselves.
type Apps struct{ *conn }

type appRow struct {
	ID  protocol.AppID
	App protocol.App `gorm:"column:json;serializer:json"`
}

type appTokenRow struct {
	Hash      string `gorm:"primaryKey"`
	App       protocol.AppID
	Kind      string
	Scopes    []protocol.Scope `gorm:"serializer:json"`
	Resource  string
	ExpiresAt int64
	UsedAt    int64
}

type appClientRow struct {
	ID        string
	CreatedAt int64     `gorm:"autoCreateTime:false"`
	UsedAt    int64     `gorm:"column:used_at"`
	Client    AppClient `gorm:"column:json;serializer:json"`
}

// AppChange is a change that is stored as a whole.
type AppChange struct {
	Put    []protocol.App
	Delete []protocol.AppID // with their tokens
	Tokens []AppToken       // new or changed
	// Revoke lists the hashes of tokens to delete, and RevokeOf apps whose tokens are all deleted.
	Revoke   []string
	RevokeOf []protocol.AppID
	Audit    []protocol.AuditEntry
}

// Apply stores a change.
func (s *Apps) Apply(ctx context.Context, c AppChange) error {
	return s.write(ctx, "store apps", func(tx *gorm.DB) error {
		for _, a := range c.Put {
			if err := upsert(tx, &appRow{a.ID, a}); err != nil {
				return err
			}
		}
		for _, id := range c.Delete {
			if err := tx.Where("id = ?", string(id)).Delete(&appRow{}).Error; err != nil {
				return err
			}
		}
		for _, id := range append(c.RevokeOf, c.Delete...) {
			if err := tx.Where("app = ?", string(id)).Delete(&appTokenRow{}).Error; err != nil {
				return err
			}
		}
		for _, hash := range c.Revoke {
			if err := tx.Where("hash = ?", hash).Delete(&appTokenRow{}).Error; err != nil {
				return err
			}
		}
		for _, t := range c.Tokens {
			row := appTokenRow(t)
			if row.Scopes == nil {
				row.Scopes = []protocol.Scope{}
			}
			if err := upsert(tx, &row); err != nil {
				return err
			}
		}
		return appendAudit(tx, c.Audit)
	})
}

// List returns every app and every token.
func (s *Apps) List(ctx context.Context) ([]protocol.App, []AppToken, error) {
	rows, err := find[appRow](ctx, s.conn, "read apps", func(db *gorm.DB) *gorm.DB { return db.Order("id") })
	if err != nil {
		return nil, nil, err
	}
	tokens, err := find[appTokenRow](ctx, s.conn, "read tokens of apps", func(db *gorm.DB) *gorm.DB { return db.Order("hash") })
	return convert(rows, func(r appRow) protocol.App { return r.App }), convert(tokens, func(r appTokenRow) AppToken { return AppToken(r) }), err
}

// Clients returns the programs that registered themselves, oldest first.
func (s *Apps) Clients(ctx context.Context) ([]AppClient, error) {
	rows, err := find[appClientRow](ctx, s.conn, "read registered programs", func(db *gorm.DB) *gorm.DB { return db.Order("created_at, id") })
	return convert(rows, func(r appClientRow) AppClient {
		r.Client.ID, r.Client.CreatedAt, r.Client.UsedAt = r.ID, r.CreatedAt, r.UsedAt
		return r.Client
	}), err
}

// PutClient stores a program that registered itself.
func (s *Apps) PutClient(ctx context.Context, c AppClient) error {
	return s.write(ctx, "store registered program", func(tx *gorm.DB) error {
		return upsert(tx, &appClientRow{c.ID, c.CreatedAt, c.UsedAt, c})
	})
}

// DeleteClients deletes the programs that registered before a time in milliseconds and never
// connected an app.
func (s *Apps) DeleteClients(ctx context.Context, before int64) error {
	return s.write(ctx, "delete registered programs", func(tx *gorm.DB) error {
		return tx.Where("used_at = 0 AND created_at < ?", before).Delete(&appClientRow{}).Error
	})
}
