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
	Attempt        int // from 1; one more for each start of the gateway that took up again what an earlier one had not begun
	ResultJSON     json.RawMessage
	Hash           string // of what was shown
	CreatedAt      int64
	Iteration      int   // the model step of its run, from 1; 0 outside runs
	Seq            int64 // of its machine; given by the first PutCall, read only
	InputSHA256    string
	InputBytes     int
	OutputSHA256   string
	OutputBytes    int
	Truncated      bool // ResultJSON is a part of the result
	// Process names the command that the call has left running on its machine; empty for none. FinishCall stores it, of calls that execute.
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

// rowWith is rowOfCall with what is kept as JSON.
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

// rest is what of a call has no column.
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
	if r.Effect != "" { // else it was written before there was such a column
		i.Effect = protocol.Effect(r.Effect)
	}
	return c, nil
}

// lasting reports whether a call's row must survive a loss of power: that something with an effect was begun must be known after it. That a
// file was read need not, so such calls do not wait for the disk. Nor does the end of any call: without it the call is known to have begun, and
// will be said to have an unknown outcome.
func (c Call) lasting() bool { return c.Info.Effect != protocol.EffectRead && !c.Info.Over() }

// PutSoon is [Store.PutCall] for a call that only reads, and never blocks. It reports false, and has done nothing, for one that must be written at once.
func (s *Store) PutSoon(c Call) bool { return s.out.late.put(c) }

// FinishSoon is [Store.FinishCall] for a call that only reads, and never blocks. ok is false, and nothing was done, when the database must be asked.
func (s *Store) FinishSoon(c Call) (won, ok bool) { return s.out.late.finish(c) }

// PutCall stores a call that is new, or moves an open one on, and appends lines to the audit log with it. A call that has ended never changes: that
// gives protocol.ErrConflict. The row of a call that only reads may be written a moment later, see [flushEvery].
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
		values[len(values)-1] = row.Node // of which the number is the next
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

// Every call passes through these. They are written out because reading a statement costs SQLite more than doing it.
var (
	newCall = "INSERT INTO calls (" + callNames + ") VALUES (" + strings.Repeat("?, ", len(callColumns)-1) +
		"(SELECT coalesce(max(seq), 0) + 1 FROM calls WHERE node = ?)) ON CONFLICT DO NOTHING"
	moveCall = `UPDATE calls SET info = ?, asked_by = ?, principal = ?, idem_key = ?, idempotent = ?, attempt = ?, result = ?, hash = ?, state = ?,
  ended_at = ?, run_id = ?, tool_call_id = ?, session_key = ?, node = ?, tool = ?, effect = ?, iteration = ?, input_sha256 = ?, input_bytes = ?,
  output_sha256 = ?, output_bytes = ?, truncated = ? WHERE id = ? AND state IN ('waiting', 'running')`
)

const finishCall = `UPDATE calls SET state = ?, info = ?, result = ?, ended_at = ?, output_sha256 = ?, output_bytes = ?, truncated = ?, process = ?
  WHERE id = ? AND state IN ('waiting', 'running')`

// FinishCall ends an open call and appends lines to the audit log with it. It returns false, and changes nothing, when the call had ended already.
// The end of this program loses nothing of it unless the call only reads; a loss of power may lose the last moments.
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

// SettleCall notes how a call ended whose outcome was unknown, and appends lines to the audit log with it. It returns false, and changes nothing, for
// any other call.
func (s *Store) SettleCall(ctx context.Context, c Call, lines ...protocol.AuditEntry) (bool, error) {
	return s.end(ctx, settleCall, c, lines)
}

// end moves a call on to its end by a statement, which may find that there is no such call.
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

// CallOfProcess returns the call that left a command running on its machine, or protocol.ErrNotFound. It is the first of those that name it: others
// have only looked at it since.
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

// CallsOnProcess returns the calls of the tool Process that a chat has made on a machine since a call there, oldest first; protocol.ErrNotFound when
// there is no such call.
func (s *Store) CallsOnProcess(ctx context.Context, chat protocol.SessionKey, since protocol.CallID) ([]Call, error) {
	first, err := s.Call(ctx, since)
	if err != nil {
		return nil, err
	}
	return s.calls(ctx, "node = ? AND seq > ? AND session_key = ? AND tool = 'Process'", string(first.Info.Node), first.Seq, string(chat))
}

// CallsOfRun returns a run's calls in the order they were asked for.
func (s *Store) CallsOfRun(ctx context.Context, run protocol.RunID) ([]Call, error) {
	return s.calls(ctx, "run_id = ? AND run_id <> ''", string(run))
}

// OpenCalls returns the calls that wait or run, or did when the gateway ended.
func (s *Store) OpenCalls(ctx context.Context) ([]Call, error) {
	return s.calls(ctx, "state IN ('waiting', 'running')")
}

// StoppedCalls gives those of a machine's calls that were stopped before they had ended.
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

// settle makes what PutCall and FinishCall have taken readable.
func (s *Store) settle(ctx context.Context) error { return s.explain("store calls", s.out.settle(ctx)) }

// Journal returns calls that q wants, newest first, and whether there are more.
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
