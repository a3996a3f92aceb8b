package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Call is a journal row: one tool call with its caller and its result.
type Call struct {
	Info           protocol.CallInfo
	AskedBy        protocol.AskedBy
	Principal      string
	IdempotencyKey string
	Idempotent     bool
	// from 1; incremented by each start of the gateway that resumes a call which had not started
	Attempt      int
	ResultJSON   json.RawMessage
	Hash         string // of the preview
	CreatedAt    int64
	Iteration    int   // the model step of its run, from 1; 0 outside runs
	Seq          int64 // sequence number on its node; set by the first PutCall, read-only
	InputSHA256  string
	InputBytes   int
	OutputSHA256 string
	OutputBytes  int
	Truncated    bool // ResultJSON is only a part of the result
	// Process is the ID of the command that the call has left running on its node, or empty.
	// FinishCall stores it for calls with the effect exec.
	Process string
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

	Effect       string
	Iteration    int
	Seq          int64
	InputSha256  string
	InputBytes   int
	OutputSha256 string
	OutputBytes  int
	Truncated    bool
	Process      string
}

func (callRow) TableName() string { return "calls" }

func rowOfCall(c Call) callRow { return rowWith(c, text(rest(c.Info)), text(c.AskedBy)) }

// rowWith is rowOfCall with the parts that are stored as JSON.
func rowWith(c Call, info, askedBy string) callRow {
	return callRow{
		ID: string(c.Info.CallID), RunID: string(c.Info.RunID), ToolCallID: c.Info.ToolCallID,
		SessionKey: string(c.Info.SessionKey), Node: string(c.Info.Node), Tool: c.Info.Tool, State: c.Info.State, Info: info,
		AskedBy: askedBy, Principal: c.Principal, IdemKey: c.IdempotencyKey, Idempotent: c.Idempotent, Attempt: c.Attempt,
		Result: string(c.ResultJSON), Hash: c.Hash, CreatedAt: c.CreatedAt, EndedAt: c.Info.EndedAt,
		Effect: string(c.Info.Effect), Iteration: c.Iteration, InputSha256: c.InputSHA256, InputBytes: c.InputBytes,
		OutputSha256: c.OutputSHA256, OutputBytes: c.OutputBytes, Truncated: c.Truncated, Process: c.Process,
	}
}

// rest returns the fields of a call that have no column.
func rest(i protocol.CallInfo) protocol.CallInfo {
	i.CallID, i.RunID, i.ToolCallID, i.SessionKey, i.Node, i.Tool, i.State, i.Effect, i.EndedAt = "", "", "", "", "", "", "", "", 0
	return i
}

func (r callRow) call() (Call, error) {
	c := Call{
		Principal: r.Principal, IdempotencyKey: r.IdemKey, Idempotent: r.Idempotent, Attempt: r.Attempt, Hash: r.Hash, CreatedAt: r.CreatedAt,
		Iteration: r.Iteration, Seq: r.Seq, InputSHA256: r.InputSha256, InputBytes: r.InputBytes, OutputSHA256: r.OutputSha256, OutputBytes: r.OutputBytes,
		Truncated: r.Truncated, Process: r.Process,
	}
	if r.Result != "" {
		c.ResultJSON = json.RawMessage(r.Result)
	}
	if err := errors.Join(json.Unmarshal([]byte(r.Info), &c.Info), json.Unmarshal([]byte(r.AskedBy), &c.AskedBy)); err != nil {
		return Call{}, fmt.Errorf("read call %s: %w", r.ID, err)
	}
	i := &c.Info
	i.CallID, i.RunID, i.ToolCallID, i.SessionKey = protocol.CallID(r.ID), protocol.RunID(r.RunID), r.ToolCallID, protocol.SessionKey(r.SessionKey)
	i.Node, i.Tool, i.State, i.EndedAt = protocol.NodeID(r.Node), r.Tool, r.State, r.EndedAt
	if r.Effect != "" { // empty in rows from before the column existed
		i.Effect = protocol.Effect(r.Effect)
	}
	return c, nil
}

// lasting reports whether a call's row must survive a power failure. The start of a call with an
// effect must; a read need not, so it does not wait for the disk. The end of a call need not
// either: without it the call's outcome is reported as unknown.
func (c Call) lasting() bool { return c.Info.Effect != protocol.EffectRead && !c.Info.Over() }

// PutSoon is [Store.PutCall] for a read-only call, and never blocks. If the call must be written
// immediately, it does nothing and returns false.
func (s *Store) PutSoon(c Call) bool { return s.out.late.put(c) }

// FinishSoon is [Store.FinishCall] for a read-only call, and never blocks. If the database must be
// queried, it does nothing and ok is false.
func (s *Store) FinishSoon(c Call) (won, ok bool) { return s.out.late.finish(c) }

// PutCall stores a new call or updates an open one, and appends entries to the audit log in the
// same transaction. A finished call never changes: that fails with protocol.ErrConflict. The row of
// a read-only call may be written a moment later, see [flushEvery].
func (s *Store) PutCall(ctx context.Context, c Call, lines ...protocol.AuditEntry) error {
	if len(lines) == 0 && ctx.Err() == nil && s.out.late.put(c) {
		return nil
	}
	row := rowOfCall(c)
	err := s.change(ctx, "store call", c.lasting(), func(tx *gorm.DB) error {
		values := make([]any, len(callColumns))
		for i, c := range callColumns {
			values[i] = c.value(&row)
		}
		// its column is the sequence number, the next one of the node
		values[len(values)-1] = row.Node
		n, err := run(tx, newCall, values...)
		if err == nil && n == 0 {
			n, err = run(tx, moveCall, row.Info, row.AskedBy, row.Principal, row.IdemKey, row.Idempotent, row.Attempt, row.Result, row.Hash, row.State,
				row.EndedAt, row.RunID, row.ToolCallID, row.SessionKey, row.Node, row.Tool, row.Effect, row.Iteration, row.InputSha256, row.InputBytes,
				row.OutputSha256, row.OutputBytes, row.Truncated, row.ID)
			if err == nil && n == 0 {
				return protocol.ErrConflict.With(fmt.Sprintf("call %s has ended already", row.ID))
			}
		}
		if err != nil {
			return err
		}
		return appendAudit(tx, lines)
	})
	if err == nil {
		s.out.late.forget(c.Info.CallID)
	}
	return err
}

// Every call uses these statements. They are written by hand because SQLite takes longer to parse a
// statement than to execute it.
var (
	newCall = "INSERT INTO calls (" + callNames + ") VALUES (" + strings.Repeat("?, ", len(callColumns)-1) +
		"(SELECT coalesce(max(seq), 0) + 1 FROM calls WHERE node = ?)) ON CONFLICT DO NOTHING"
	moveCall = `UPDATE calls SET info = ?, asked_by = ?, principal = ?, idem_key = ?, idempotent = ?, attempt = ?, result = ?, hash = ?, state = ?,
  ended_at = ?, run_id = ?, tool_call_id = ?, session_key = ?, node = ?, tool = ?, effect = ?, iteration = ?, input_sha256 = ?, input_bytes = ?,
  output_sha256 = ?, output_bytes = ?, truncated = ? WHERE id = ? AND state IN ('waiting', 'running')`
)

const finishCall = `UPDATE calls SET state = ?, info = ?, result = ?, ended_at = ?, output_sha256 = ?, output_bytes = ?, truncated = ?, process = ?
  WHERE id = ? AND state IN ('waiting', 'running')`

// FinishCall ends an open call and appends entries to the audit log in the same transaction. It
// returns false and changes nothing if the call had ended already. The end survives a crash of this
// program, unless the call is read-only; a power failure may lose the last moments.
func (s *Store) FinishCall(ctx context.Context, c Call, lines ...protocol.AuditEntry) (bool, error) {
	if len(lines) == 0 && ctx.Err() == nil {
		if won, known := s.out.late.finish(c); known {
			return won, nil
		}
	}
	won, err := s.end(ctx, finishCall, c, lines)
	if err == nil {
		s.out.late.forget(c.Info.CallID)
	}
	return won, err
}

const settleCall = `UPDATE calls SET state = ?, info = ?, result = ?, ended_at = ?, output_sha256 = ?, output_bytes = ?, truncated = ?, process = ?
  WHERE id = ? AND state = 'unknown'`

// SettleCall stores the outcome of a call whose outcome was unknown, and appends entries to the
// audit log. For any other call it returns false and changes nothing.
func (s *Store) SettleCall(ctx context.Context, c Call, lines ...protocol.AuditEntry) (bool, error) {
	return s.end(ctx, settleCall, c, lines)
}

// end ends a call with a statement that may find no such call.
func (s *Store) end(ctx context.Context, statement string, c Call, lines []protocol.AuditEntry) (bool, error) {
	row := rowOfCall(c)
	won := false
	err := s.change(ctx, "store result", c.lasting(), func(tx *gorm.DB) error {
		n, err := run(tx, statement, row.State, row.Info, row.Result, row.EndedAt, row.OutputSha256, row.OutputBytes, row.Truncated, row.Process, row.ID)
		if won = n == 1; err != nil || !won {
			return err
		}
		return appendAudit(tx, lines)
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

// CallOfProcess returns the call that left a command running on its node, or protocol.ErrNotFound.
// It is the first call that names the command: later ones have only inspected it.
func (s *Store) CallOfProcess(ctx context.Context, node protocol.NodeID, process string) (Call, error) {
	list, err := s.calls(ctx, "node = ? AND process = ? AND process <> ''", string(node), process)
	if err == nil && len(list) == 0 {
		err = protocol.ErrNotFound.With(fmt.Sprintf("No call has left the command %s running on %s", process, node))
	}
	if err != nil {
		return Call{}, err
	}
	return list[0], nil
}

// CallsOnProcess returns the calls of the tool Process that a chat has made on a node since a given
// call there, oldest first; protocol.ErrNotFound if that call does not exist.
func (s *Store) CallsOnProcess(ctx context.Context, chat protocol.SessionKey, since protocol.CallID) ([]Call, error) {
	first, err := s.Call(ctx, since)
	if err != nil {
		return nil, err
	}
	return s.calls(ctx, "node = ? AND seq > ? AND session_key = ? AND tool = 'Process'", string(first.Info.Node), first.Seq, string(chat))
}

// CallsOfRun returns a run's calls in the order of their requests.
func (s *Store) CallsOfRun(ctx context.Context, run protocol.RunID) ([]Call, error) {
	return s.calls(ctx, "run_id = ? AND run_id <> ''", string(run))
}

// OpenCalls returns the calls that wait or run, or did when the gateway stopped.
func (s *Store) OpenCalls(ctx context.Context) ([]Call, error) {
	return s.calls(ctx, "state IN ('waiting', 'running')")
}

// StoppedCalls returns those of a node's calls that were cancelled before they had ended.
func (s *Store) StoppedCalls(ctx context.Context, node protocol.NodeID, calls []protocol.CallID) (stopped []protocol.CallID, err error) {
	for part := range slices.Chunk(calls, 500) {
		list, err := s.calls(ctx, "id IN ? AND node = ? AND state = 'cancelled'", part, string(node))
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			stopped = append(stopped, c.Info.CallID)
		}
	}
	return stopped, nil
}

func (s *Store) calls(ctx context.Context, where string, args ...any) ([]Call, error) {
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
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

// settle makes the calls readable that PutCall and FinishCall have taken.
func (s *Store) settle(ctx context.Context) error { return s.explain("store calls", s.out.settle(ctx)) }

// Journal returns the calls that match q, newest first, and whether there are more.
func (s *Store) Journal(ctx context.Context, q protocol.JournalListParams) (list []Call, more bool, err error) {
	if err := s.settle(ctx); err != nil {
		return nil, false, err
	}
	var rows []callRow
	err = s.read(ctx, "read journal", func(db *gorm.DB) error {
		for column, value := range map[string]string{
			"node": string(q.Node), "session_key": string(q.SessionKey), "run_id": string(q.RunID), "tool": q.Tool,
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
	if more = len(rows) > q.Limit; more {
		rows = rows[:q.Limit]
	}
	list = make([]Call, len(rows))
	for i, r := range rows {
		if list[i], err = r.call(); err != nil {
			return nil, false, err
		}
	}
	return list, more, nil
}
