package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Questions are the pending and the answered questions.
type Questions struct{ *conn }

type questionRow struct {
	ID         protocol.QuestionID
	State      string
	SessionKey protocol.SessionKey
	CreatedAt  int64          `gorm:"autoCreateTime:false"`
	Stored     storedQuestion `gorm:"column:json;serializer:json"`
}

// storedQuestion is a question with the permissions that an allow for the chat of its call saves.
type storedQuestion struct {
	protocol.Question
	Grants []Grant `json:"grants,omitempty"`
}

func rowOfQuestion(q protocol.Question, g []Grant) questionRow {
	return questionRow{q.ID, q.State, q.SessionKey, q.CreatedAt, storedQuestion{q, g}}
}

func (r questionRow) question() protocol.Question {
	r.Stored.State = r.State
	return r.Stored.Question
}

// Put stores a new question, or changes a pending one. A closed one is not changed. grants
// are the permissions that an allow for the chat of its call saves; empty if the question offers none.
// replies are messages to whoever asks, stored together with it.
func (s *Questions) Put(ctx context.Context, q protocol.Question, grants []Grant, replies ...Outbound) error {
	row := rowOfQuestion(q, grants)
	return s.write(ctx, "store question", func(tx *gorm.DB) error {
		for _, reply := range replies {
			if _, err := reply.put(tx); err != nil {
				return err
			}
		}
		return tx.Clauses(clause.OnConflict{
			Columns:   []clause.Column{{Name: "id"}},
			Where:     clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "questions.state = 'pending'"}}},
			DoUpdates: clause.AssignmentColumns([]string{"json"}),
		}).Create(&row).Error
	})
}

// RuleChange is new or changed rules, with the audit entries about them.
type RuleChange struct {
	Rules []protocol.Rule
	Audit []protocol.AuditEntry
}

// Change changes or closes a pending question; the function reports whether it changed anything. A
// question that is closed or that the function did not change is returned as it is, with changed
// false: the first to close it wins. Together with a changed one, Change stores the rules that its
// answer saves, and the permissions of an allow for its chat.
func (s *Questions) Change(
	ctx context.Context, id protocol.QuestionID, change func(*protocol.Question) bool, rules ...RuleChange,
) (q protocol.Question, changed bool, err error) {
	err = s.write(ctx, "change question", func(tx *gorm.DB) error {
		changed = false
		var row questionRow
		if err := tx.Where("id = ?", string(id)).Take(&row).Error; err != nil {
			return err
		}
		if q = row.question(); q.State != protocol.QuestionPending || !change(&q) {
			return nil
		}
		row = rowOfQuestion(q, row.Stored.Grants)
		res := tx.Model(&questionRow{}).Where("id = ? AND state = 'pending'", row.ID).Select("state", "json").Updates(&row)
		if changed = res.RowsAffected == 1; res.Error != nil || !changed {
			return res.Error
		}
		return row.saveAnswer(tx, rules)
	})
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = protocol.ErrNotFound.With(fmt.Sprintf("No question has the ID %s", id))
	}
	return q, changed && err == nil, err
}

// saveAnswer stores what the answer to a question saves beyond its call.
func (r questionRow) saveAnswer(tx *gorm.DB, rules []RuleChange) error {
	for _, c := range rules {
		if err := c.put(tx); err != nil {
			return err
		}
	}
	if r.State != protocol.QuestionAllowed || r.Stored.Scope != protocol.ScopeSession {
		return nil
	}
	if len(r.Stored.Grants) == 0 {
		return protocol.ErrUnavailable.With("The chat has not asked again since Fairlead was started. Try again in a moment.")
	}
	for _, g := range r.Stored.Grants {
		g.CreatedAt = r.Stored.AnsweredAt
		if err := g.put(tx, nil); err != nil {
			return err
		}
	}
	return nil
}

// Get returns a question, or protocol.ErrNotFound.
func (s *Questions) Get(ctx context.Context, id protocol.QuestionID) (protocol.Question, error) {
	row, err := findOne[questionRow](ctx, s.conn, "read question", fmt.Sprintf("No question has the ID %s", id), func(db *gorm.DB) *gorm.DB {
		return db.Where("id = ?", id)
	})
	return row.question(), err
}

// Pending returns the pending questions, oldest first.
func (s *Questions) Pending(ctx context.Context) ([]protocol.Question, error) {
	rows, err := find[questionRow](ctx, s.conn, "list questions", func(db *gorm.DB) *gorm.DB {
		return db.Where("state = 'pending'").Order("created_at, id")
	})
	return convert(rows, questionRow.question), err
}

// ExpiredCount returns the number of a run's calls that were not made because their question
// expired.
func (s *Questions) ExpiredCount(ctx context.Context, run protocol.RunID) (n int, err error) {
	err = s.read(ctx, "count expired questions", func(db *gorm.DB) error {
		return db.Raw(`SELECT count(*) FROM calls c JOIN questions q ON q.id = json_extract(c.info, '$.approvalId')
			WHERE c.run_id = ? AND c.run_id <> '' AND c.state = 'denied' AND q.state = 'expired'`, string(run)).Scan(&n).Error
	})
	return n, err
}

// Unanswered reports whether the last of a run's questions about finished calls expired without an
// answer.
func (s *Questions) Unanswered(ctx context.Context, run protocol.RunID) (bool, error) {
	const last = `SELECT q.state FROM calls c JOIN questions q ON q.id = json_extract(c.info, '$.approvalId')
		WHERE c.run_id = ? AND c.run_id <> '' AND q.state IN ('expired', 'allowed', 'edited', 'denied')
		ORDER BY json_extract(q.json, '$.answeredAt') DESC, q.created_at DESC LIMIT 1`
	var states []string
	err := s.read(ctx, "look for an expired question", func(db *gorm.DB) error { return db.Raw(last, string(run)).Scan(&states).Error })
	return len(states) == 1 && states[0] == protocol.QuestionExpired, err
}

// Rules are the person's rules.
type Rules struct{ *conn }

type ruleRow struct {
	ID        string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	DeletedAt int64
	Hits      int64
	LastUsed  int64
	Rule      protocol.Rule `gorm:"column:json;serializer:json"`
}

func (r ruleRow) rule() protocol.Rule {
	out := r.Rule
	out.ID, out.CreatedAt, out.DeletedAt, out.Hits, out.LastUsed = r.ID, r.CreatedAt, r.DeletedAt, r.Hits, r.LastUsed
	return out
}

// List returns all rules, including deleted ones, newest first.
func (s *Rules) List(ctx context.Context) ([]protocol.Rule, error) {
	rows, err := find[ruleRow](ctx, s.conn, "read rules", func(db *gorm.DB) *gorm.DB { return db.Order("created_at DESC, id") })
	return convert(rows, ruleRow.rule), err
}

// Put stores new or changed rules. The hits of existing ones do not change.
func (s *Rules) Put(ctx context.Context, c RuleChange) error {
	return s.write(ctx, "store rules", c.put)
}

func (c RuleChange) put(tx *gorm.DB) error {
	for _, r := range c.Rules {
		row := ruleRow{ID: r.ID, CreatedAt: r.CreatedAt, DeletedAt: r.DeletedAt, Hits: r.Hits, LastUsed: r.LastUsed, Rule: r}
		row.Rule.Hits, row.Rule.LastUsed, row.Rule.Problem = 0, 0, ""
		err := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"json", "deleted_at"})}).Create(&row).Error
		if err != nil {
			return err
		}
	}
	return appendAudit(tx, c.Audit)
}

// CountHit increments a rule's hits. It does not wait for the disk.
func (s *Rules) CountHit(ctx context.Context, id string, at int64) error {
	return s.change(ctx, "count rule", false, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE rules SET hits = hits + 1, last_used = ? WHERE id = ?", at, id).Error
	})
}

// Grant is a permission for a whole session.
type Grant struct {
	ID        string
	Session   protocol.SessionKey `gorm:"column:session_key"`
	Node      protocol.NodeID
	Tool      string
	Match     string              // the call that it allows, in the form that package approval compares
	Words     string              // the same for people
	CreatedAt int64               `gorm:"autoCreateTime:false"`
	From      protocol.QuestionID `gorm:"column:from_question"`
}

// Grants are the permissions for sessions. A revoked one stays in the table, because it can be
// restored.
type Grants struct{ *conn }

// Put stores a grant together with the audit entries about it, unless its session already has
// the same one.
func (s *Grants) Put(ctx context.Context, g Grant, lines ...protocol.AuditEntry) error {
	g.ID = cmp.Or(g.ID, protocol.NewID())
	return s.write(ctx, "store grant", func(tx *gorm.DB) error { return g.put(tx, lines) })
}

func (g Grant) put(tx *gorm.DB, lines []protocol.AuditEntry) error {
	var have int64
	same := map[string]any{"session_key": g.Session, "node": g.Node, "tool": g.Tool, "match": g.Match, "deleted_at": 0}
	if err := tx.Model(&Grant{}).Where(same).Count(&have).Error; err != nil || have > 0 {
		return err
	}
	if err := tx.Create(&g).Error; err != nil {
		return err
	}
	return appendAudit(tx, lines)
}

// List returns a session's grants; those of all sessions if session is empty. Oldest first.
func (s *Grants) List(ctx context.Context, session protocol.SessionKey) ([]Grant, error) {
	return find[Grant](ctx, s.conn, "read grants", func(db *gorm.DB) *gorm.DB {
		return db.Where(&Grant{Session: session}).Where("deleted_at = 0").Order("created_at, id") // an empty field selects all
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

func deleteGrants(tx *gorm.DB, session protocol.SessionKey) error {
	return tx.Where("session_key = ?", string(session)).Delete(&Grant{}).Error
}
