package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Call is a journal row: one tool call, by whom, with what result (seed 001, Tool call state).
type Call struct {
	Info           protocol.CallInfo
	AskedBy        protocol.AskedBy
	Principal      string
	IdempotencyKey string
	Idempotent     bool
	Attempt        int
	ResultJSON     json.RawMessage
	Hash           string // of what was shown
	CreatedAt      int64
}

type callRow struct {
	ID         string `gorm:"primaryKey;column:id"`
	RunID      string
	ToolCallID string
	SessionKey string
	Node       string
	Tool       string
	State      string
	Info       string
	AskedBy    string
	Principal  string
	IdemKey    string
	Idempotent bool
	Attempt    int
	Result     string
	Hash       string
	CreatedAt  int64 `gorm:"autoCreateTime:false"`
	EndedAt    int64
}

func (callRow) TableName() string { return "calls" }

func rowOfCall(c Call) callRow {
	return callRow{ID: string(c.Info.CallID), RunID: string(c.Info.RunID), ToolCallID: c.Info.ToolCallID,
		SessionKey: string(c.Info.SessionKey), Node: string(c.Info.Node), Tool: c.Info.Tool, State: c.Info.State, Info: text(c.Info),
		AskedBy: text(c.AskedBy), Principal: c.Principal, IdemKey: c.IdempotencyKey, Idempotent: c.Idempotent, Attempt: c.Attempt,
		Result: string(c.ResultJSON), Hash: c.Hash, CreatedAt: c.CreatedAt, EndedAt: c.Info.EndedAt}
}

func (r callRow) call() (Call, error) {
	c := Call{Principal: r.Principal, IdempotencyKey: r.IdemKey, Idempotent: r.Idempotent, Attempt: r.Attempt, Hash: r.Hash, CreatedAt: r.CreatedAt}
	if r.Result != "" {
		c.ResultJSON = json.RawMessage(r.Result)
	}
	if err := errors.Join(json.Unmarshal([]byte(r.Info), &c.Info), json.Unmarshal([]byte(r.AskedBy), &c.AskedBy)); err != nil {
		return Call{}, fmt.Errorf("read call %s: %w", r.ID, err)
	}
	c.Info.State = r.State
	return c, nil
}

// open are the states from which a call may still move.
var open = []string{protocol.CallWaiting, protocol.CallRunning}

// PutCall stores a call that is new, or moves an open one on. A call that has ended never changes: that gives protocol.ErrConflict.
func (s *Store) PutCall(ctx context.Context, c Call) error {
	row := rowOfCall(c)
	return s.write(ctx, "store call", func(tx *gorm.DB) error {
		res := tx.Model(&callRow{}).Where("id = ? AND state IN ?", row.ID, open).Select("*").Omit("id", "created_at").Updates(&row)
		if res.Error != nil || res.RowsAffected == 1 {
			return res.Error
		}
		var n int64
		if err := tx.Model(&callRow{}).Where("id = ?", row.ID).Count(&n).Error; err != nil {
			return err
		}
		if n > 0 {
			return protocol.ErrConflict.With(fmt.Sprintf("call %s has ended already", row.ID))
		}
		return tx.Create(&row).Error
	})
}

// FinishCall ends an open call. It returns false, and changes nothing, when the call had ended already.
func (s *Store) FinishCall(ctx context.Context, c Call) (bool, error) {
	row := rowOfCall(c)
	won := false
	err := s.write(ctx, "store result", func(tx *gorm.DB) error {
		res := tx.Model(&callRow{}).Where("id = ? AND state IN ?", row.ID, open).Select("state", "info", "result", "ended_at").Updates(&row)
		won = res.RowsAffected == 1
		return res.Error
	})
	return won && err == nil, err
}

// Call returns a call, or protocol.ErrNotFound.
func (s *Store) Call(ctx context.Context, id protocol.CallID) (Call, error) {
	list, err := s.calls(ctx, "id = ?", string(id))
	if err == nil && len(list) == 0 {
		err = protocol.ErrNotFound.With(fmt.Sprintf("No call has the id %s", id))
	}
	if err != nil {
		return Call{}, err
	}
	return list[0], nil
}

// CallsOfRun returns a run's calls in the order they were asked for.
func (s *Store) CallsOfRun(ctx context.Context, run protocol.RunID) ([]Call, error) {
	return s.calls(ctx, "run_id = ?", string(run))
}

// OpenCalls returns the calls that wait or run, or did when the gateway ended.
func (s *Store) OpenCalls(ctx context.Context) ([]Call, error) {
	return s.calls(ctx, "state IN ('waiting', 'running')")
}

func (s *Store) calls(ctx context.Context, where string, args ...any) ([]Call, error) {
	var rows []callRow
	err := s.read(ctx, "read calls", func(db *gorm.DB) error { return db.Where(where, args...).Order("created_at, id").Find(&rows).Error })
	if err != nil {
		return nil, err
	}
	list := make([]Call, len(rows))
	for i, r := range rows {
		var err error
		if list[i], err = r.call(); err != nil {
			return nil, err
		}
	}
	return list, nil
}
