package store

import (
	"context"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Grant is a permission for a whole session.
type Grant struct {
	ID        string
	Session   protocol.SessionKey `gorm:"column:session_key"`
	Node      protocol.NodeID
	Tool      string
	Match     string              // the call that it allows, in the form that package approval compares
	Words     string              // the same for people
	CreatedAt int64               `gorm:"autoCreateTime:false"`
	From      protocol.ApprovalID `gorm:"column:from_approval"`
}

func (Grant) TableName() string { return "grants" }

// Grants are the permissions for sessions. A revoked one stays in the table, because it can be
// restored.
type Grants struct{ *conn }

// Put stores a grant together with the audit entries about it, unless its session already has
// the same one.
func (s *Grants) Put(ctx context.Context, g Grant, lines ...protocol.AuditEntry) error {
	if g.ID == "" {
		g.ID = protocol.NewID()
	}
	return s.write(ctx, "store grant", func(tx *gorm.DB) error {
		var have int64
		same := map[string]any{"session_key": g.Session, "node": g.Node, "tool": g.Tool, "match": g.Match, "deleted_at": 0}
		if err := tx.Model(&Grant{}).Where(same).Count(&have).Error; err != nil || have > 0 {
			return err
		}
		if err := tx.Create(&g).Error; err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
}

// List returns a session's grants; those of all sessions if session is empty. Oldest first.
func (s *Grants) List(ctx context.Context, session protocol.SessionKey) ([]Grant, error) {
	return find[Grant](ctx, s.conn, "read grants", func(db *gorm.DB) *gorm.DB {
		if session != "" {
			db = db.Where("session_key = ?", session)
		}
		return db.Where("deleted_at = 0").Order("created_at, id")
	})
}

// SetDeleted revokes a grant, or restores it if deletedAt is 0, together with the audit entries
// about it. done is false if there is no such grant in the other state.
func (s *Grants) SetDeleted(ctx context.Context, id string, deletedAt int64, lines ...protocol.AuditEntry) (done bool, err error) {
	err = s.write(ctx, "change grant", func(tx *gorm.DB) error {
		res := tx.Model(&Grant{}).Where("id = ? AND (deleted_at > 0) = ?", id, deletedAt == 0).Update("deleted_at", deletedAt)
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
		return tx.Where("session_key = ?", string(session)).Delete(&Grant{}).Error
	})
}
