package store

import (
	"context"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Grant is a permission for a whole session.
type Grant struct {
	ID        string
	Session   protocol.SessionKey
	Node      protocol.NodeID
	Tool      string
	Match     string // the call that it allows, in the form that package approval compares
	Words     string // the same for people
	CreatedAt int64
	From      protocol.ApprovalID
}

// Grants are the permissions for sessions.
type Grants struct{ *conn }

type grantRow struct {
	ID           string `gorm:"primaryKey;column:id"`
	SessionKey   string
	Node         string
	Tool         string
	Match        string
	Words        string
	CreatedAt    int64 `gorm:"autoCreateTime:false"`
	FromApproval string
	DeletedAt    int64
}

func (grantRow) TableName() string { return "grants" }

// Put stores a grant together with the audit entries about it, unless its session already has
// the same one.
func (s *Grants) Put(ctx context.Context, g Grant, lines ...protocol.AuditEntry) error {
	if g.ID == "" {
		g.ID = protocol.NewID()
	}
	row := grantRow{g.ID, string(g.Session), string(g.Node), g.Tool, g.Match, g.Words, g.CreatedAt, string(g.From), 0}
	return s.write(ctx, "store grant", func(tx *gorm.DB) error {
		var have int64
		same := map[string]any{"session_key": row.SessionKey, "node": row.Node, "tool": row.Tool, "match": row.Match, "deleted_at": 0}
		if err := tx.Model(&grantRow{}).Where(same).Count(&have).Error; err != nil || have > 0 {
			return err
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
}

// List returns a session's grants; those of all sessions if session is empty. Oldest first.
func (s *Grants) List(ctx context.Context, session protocol.SessionKey) ([]Grant, error) {
	var rows []grantRow
	err := s.read(ctx, "read grants", func(db *gorm.DB) error {
		db = db.Where("deleted_at = 0")
		if session != "" {
			db = db.Where("session_key = ?", string(session))
		}
		return db.Order("created_at, id").Find(&rows).Error
	})
	if err != nil {
		return nil, err
	}
	list := make([]Grant, len(rows))
	for i, r := range rows {
		list[i] = Grant{r.ID, protocol.SessionKey(r.SessionKey), protocol.NodeID(r.Node), r.Tool, r.Match, r.Words, r.CreatedAt, protocol.ApprovalID(r.FromApproval)}
	}
	return list, nil
}

// SetDeleted revokes a grant, or restores it if deletedAt is 0, together with the audit entries
// about it. done is false if there is no such grant in the other state.
func (s *Grants) SetDeleted(ctx context.Context, id string, deletedAt int64, lines ...protocol.AuditEntry) (done bool, err error) {
	err = s.write(ctx, "change grant", func(tx *gorm.DB) error {
		res := tx.Model(&grantRow{}).Where("id = ? AND (deleted_at > 0) = ?", id, deletedAt == 0).Update("deleted_at", deletedAt)
		if done = res.RowsAffected == 1; res.Error != nil || !done {
			return res.Error
		}
		return appendAudit(tx, lines)
	})
	return done && err == nil, err
}

// DeleteAll revokes all of a session's grants.
func (s *Grants) DeleteAll(ctx context.Context, session protocol.SessionKey) error {
	return s.write(ctx, "delete grants", func(tx *gorm.DB) error {
		return tx.Where("session_key = ?", string(session)).Delete(&grantRow{}).Error
	})
}
