package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Call is a journal row: one tool call with its caller and its result.
type Call struct {
	Info           protocol.CallInfo `gorm:"serializer:json"`
	AskedBy        protocol.AskedBy  `gorm:"serializer:json"`
	Principal      string
	App            protocol.AppID // that called; empty for anybody else
	IdempotencyKey string         `gorm:"column:idem_key"`
	Idempotent     bool
	// from 1; incremented by each start of the gateway that resumes a call which had not started
	Attempt      int
	ResultJSON   json.RawMessage `gorm:"-"`
	Hash         string          // of the preview
	CreatedAt    int64           `gorm:"<-:create;autoCreateTime:false"`
	Iteration    int             // the model step of its run, from 1; 0 outside runs
	Seq          int64           `gorm:"<-:create"` // number on its node, in the order of storing; set by the store
	InputSHA256  string          `gorm:"column:input_sha256"`
	InputBytes   int
	OutputSHA256 string `gorm:"column:output_sha256"`
	OutputBytes  int
	Truncated    bool // ResultJSON is only a part of the result
	// Process is the ID of the command that the call has left running on its node, or empty.
	Process string
	// Continued counts what passed after the call. [Calls.Continue] and a [CallChange] alone change it.
	Continued protocol.Continuation `gorm:"<-:create;serializer:json"`
}

// Calls are the tool calls: the journal.
type Calls struct{ *conn }

// callRow is a call with the columns that queries use. Their values are in Info, too.
type callRow struct {
	Call
	ID         protocol.CallID `gorm:"primaryKey"`
	RunID      protocol.RunID
	ToolCallID string
	SessionKey protocol.SessionKey
	Node       protocol.NodeID
	Tool       string
	State      string
	Effect     protocol.Effect
	EndedAt    int64
	Result     string
}

func (callRow) TableName() string { return "calls" }

func rowOfCall(c Call) callRow {
	i := c.Info
	return callRow{c, i.CallID, i.RunID, i.ToolCallID, i.SessionKey, i.Node, i.Tool, i.State, i.Effect, i.EndedAt, string(c.ResultJSON)}
}

func (r callRow) call() Call {
	if r.Result != "" {
		r.ResultJSON = json.RawMessage(r.Result)
	}
	return r.Call
}

// isDurable reports whether a call's row must survive a power failure. The start of a call with an
// effect must; a read need not, so it does not wait for the disk. The end of a call need not
// either: without it the call's outcome is reported as unknown. Nor need the output of a running call.
func (c Call) isDurable() bool {
	onlyOutput := c.Info.State == protocol.CallRunning && c.Info.Tail != ""
	return c.Info.Effect != protocol.EffectRead && !c.Info.Over() && !onlyOutput
}

// Put stores a new call or updates an open one, and appends entries to the audit log in the
// same transaction. A finished call never changes: that fails with protocol.ErrConflict.
func (s *Calls) Put(ctx context.Context, c Call, lines ...protocol.AuditEntry) error {
	changed, err := s.put(ctx, "store call", c, lines)
	if err == nil && !changed {
		err = protocol.ErrConflict.With(fmt.Sprintf("call %s has ended already", c.Info.CallID))
	}
	return err
}

// Finish ends an open call and appends entries to the audit log in the same transaction. It
// returns false and changes nothing if the call had ended already. The end survives a crash of this
// program; a power failure may lose the last moments.
func (s *Calls) Finish(ctx context.Context, c Call, lines ...protocol.AuditEntry) (bool, error) {
	return s.put(ctx, "store result", c, lines)
}

// put writes a call unless its row has ended. It reports whether it did.
func (s *Calls) put(ctx context.Context, what string, c Call, lines []protocol.AuditEntry) (changed bool, err error) {
	err = s.change(ctx, what, c.isDurable(), func(tx *gorm.DB) error {
		if changed, err = upsertCall(tx, c); err != nil || !changed {
			return err
		}
		return appendAudit(tx, lines)
	})
	return changed && err == nil, err
}

// upsertCall writes a new call, with the next number on its node, or changes the row of an open one.
// It reports whether it wrote the row.
func upsertCall(tx *gorm.DB, c Call) (bool, error) {
	row := rowOfCall(c)
	var known int64
	if err := tx.Model(&callRow{}).Where("id = ?", row.ID).Count(&known).Error; err != nil {
		return false, err
	}
	if known > 0 {
		n, err := updateCall(tx, row, protocol.CallWaiting, protocol.CallRunning)
		return n == 1, err
	}
	err := tx.Raw("SELECT coalesce(max(seq), 0) + 1 FROM calls WHERE node = ?", row.Node).Scan(&row.Seq).Error
	if err != nil {
		return false, err
	}
	return true, tx.Create(&row).Error
}

// updateCall writes the row of a call if it has one of the states. It returns the number of rows.
func updateCall(tx *gorm.DB, row callRow, states ...string) (int64, error) {
	res := tx.Model(&row).Where("state IN ?", states).Select("*").Updates(&row)
	return res.RowsAffected, res.Error
}

// Correct stores the outcome of a call whose outcome was unknown, and appends entries to the
// audit log. For any other call it returns false and changes nothing.
func (s *Calls) Correct(ctx context.Context, c Call, lines ...protocol.AuditEntry) (changed bool, err error) {
	err = s.change(ctx, "store result", c.isDurable(), func(tx *gorm.DB) error {
		n, err := updateCall(tx, rowOfCall(c), protocol.CallUnknown)
		if changed = n == 1; err != nil || !changed {
			return err
		}
		return appendAudit(tx, lines)
	})
	return changed && err == nil, err
}

// Continue changes what is recorded about the steps after a call, which may have ended, and appends
// entries to the audit log. The error is protocol.ErrNotFound if the call does not exist.
func (s *Calls) Continue(ctx context.Context, id protocol.CallID, add func(protocol.Continuation) protocol.Continuation, lines ...protocol.AuditEntry) error {
	missing := false
	err := s.change(ctx, "store step", len(lines) > 0, func(tx *gorm.DB) error {
		var rows []callRow
		missing = true
		if err := tx.Select("id", "continued").Where("id = ?", string(id)).Find(&rows).Error; err != nil || len(rows) == 0 {
			return err
		}
		missing = false
		if err := setContinued(tx, id, add(rows[0].Continued)); err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
	if err == nil && missing {
		err = protocol.ErrNotFound.With(fmt.Sprintf("No call has the id %s", id))
	}
	return err
}

// Get returns a call, or protocol.ErrNotFound.
func (s *Calls) Get(ctx context.Context, id protocol.CallID) (Call, error) {
	return s.first(ctx, fmt.Sprintf("No call has the id %s", id), "id = ?", string(id))
}

// OfProcess returns the last call that left a command running on its node, or protocol.ErrNotFound.
// A node may use an ID again. A call that names the command in its arguments only asked about it.
// It is the first call that names the command: later ones have only inspected it.
func (s *Calls) OfProcess(ctx context.Context, node protocol.NodeID, process string) (Call, error) {
	missing := fmt.Sprintf("No call has left the command %s running on %s", process, node)
	list, err := s.find(ctx, "node = ? AND process = ? AND process <> ''", string(node), process)
	if err != nil {
		return Call{}, err
	}
	for _, c := range slices.Backward(list) {
		if !strings.Contains(string(c.Info.Args), `"`+process+`"`) {
			return c, nil
		}
	}
	return Call{}, protocol.ErrNotFound.With(missing)
}

// OnProcess returns the calls of the tool Process that a chat has made on a node since a given
// call there, oldest first; protocol.ErrNotFound if that call does not exist.
func (s *Calls) OnProcess(ctx context.Context, chat protocol.SessionKey, since protocol.CallID) ([]Call, error) {
	first, err := s.Get(ctx, since)
	if err != nil {
		return nil, err
	}
	return s.find(ctx, "node = ? AND seq > ? AND session_key = ? AND tool = 'Process'", string(first.Info.Node), first.Seq, string(chat))
}

// OfRun returns a run's calls in the order of their requests.
func (s *Calls) OfRun(ctx context.Context, run protocol.RunID) ([]Call, error) {
	return s.find(ctx, "run_id = ? AND run_id <> ''", string(run))
}

// DeniedCounts returns the numbers of denied calls of those runs that have any.
func (s *Calls) DeniedCounts(ctx context.Context, runs []protocol.RunID) (map[protocol.RunID]int, error) {
	var rows []struct {
		RunID protocol.RunID
		N     int
	}
	err := s.read(ctx, "count denied calls", func(db *gorm.DB) error {
		return db.Raw("SELECT run_id, count(*) AS n FROM calls WHERE state = ? AND run_id <> '' AND run_id IN ? GROUP BY run_id", protocol.CallDenied, runs).Scan(&rows).Error
	})
	counts := make(map[protocol.RunID]int)
	for _, r := range rows {
		counts[r.RunID] = r.N
	}
	return counts, err
}

// Open returns the calls that wait or run, or did when the gateway stopped.
func (s *Calls) Open(ctx context.Context) ([]Call, error) {
	return s.find(ctx, "state IN ('waiting', 'running')")
}

// first returns the oldest call of a query. Without one, it fails with protocol.ErrNotFound
// and the text missing.
func (s *Calls) first(ctx context.Context, missing, where string, args ...any) (Call, error) {
	list, err := s.find(ctx, where, args...)
	switch {
	case err != nil:
		return Call{}, err
	case len(list) == 0:
		return Call{}, protocol.ErrNotFound.With(missing)
	}
	return list[0], nil
}

func (s *Calls) find(ctx context.Context, where string, args ...any) ([]Call, error) {
	rows, err := find[callRow](ctx, s.conn, "read calls", func(db *gorm.DB) *gorm.DB { return db.Where(where, args...).Order("created_at, id") })
	return convert(rows, callRow.call), err
}

// List returns the calls that match q, newest first, and whether there are more.
func (s *Calls) List(ctx context.Context, q protocol.JournalListParams) (list []Call, more bool, err error) {
	var rows []callRow
	err = s.read(ctx, "read journal", func(db *gorm.DB) error {
		for column, value := range map[string]string{
			"id": string(q.CallID), "node": string(q.Node), "session_key": string(q.SessionKey), "run_id": string(q.RunID), "tool": q.Tool,
			"app":   string(q.App),
			"state": q.State, "effect": string(q.Effect),
		} {
			if value != "" {
				db = db.Where(column+" = ?", value)
			}
		}
		if q.Before > 0 {
			db = db.Where("created_at < ?", q.Before)
		}
		if q.After > 0 {
			db = db.Where("created_at >= ?", q.After)
		}
		return db.Order("created_at DESC, seq DESC, id").Limit(q.Limit + 1).Offset(q.Offset).Find(&rows).Error
	})
	if err != nil {
		return nil, false, err
	}
	rows, more = page(rows, q.Limit)
	return convert(rows, callRow.call), more, nil
}
