package store

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// callColumns are the columns of a call, in the order in which values gives them.
var callColumns = []string{
	"id", "run_id", "tool_call_id", "session_key", "node", "tool", "state", "info", "asked_by", "principal", "idem_key", "idempotent",
	"attempt", "result", "hash", "created_at", "ended_at", "effect", "iteration", "input_sha256", "input_bytes", "output_sha256", "output_bytes", "truncated", "seq",
}

func (r callRow) values(seq int64) []any {
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return []any{
		r.ID, r.RunID, r.ToolCallID, r.SessionKey, r.Node, r.Tool, r.State, r.Info, r.AskedBy, r.Principal, r.IdemKey, flag(r.Idempotent),
		r.Attempt, r.Result, r.Hash, r.CreatedAt, r.EndedAt, r.Effect, r.Iteration, r.InputSha256, r.InputBytes, r.OutputSha256, r.OutputBytes, flag(r.Truncated), seq,
	}
}

// upsertCalls writes many calls with one statement, because the driver compiles it each time: once for all costs a third of once for each. They come as
// one JSON list of lists, without the columns that are the same for all, which are most of them when one program calls one tool again and again.
func upsertCalls(rows [][]any) (statement string, args []any, err error) {
	values := make([]string, len(callColumns))
	lists := make([][]any, len(rows))
	for i := range callColumns {
		if !slices.ContainsFunc(rows, func(r []any) bool { return r[i] != rows[0][i] }) {
			values[i] = "?"
			args = append(args, rows[0][i])
			continue
		}
		values[i] = fmt.Sprintf("value->>%d", len(lists[0]))
		for n, r := range rows {
			lists[n] = append(lists[n], r[i])
		}
	}
	raw, err := protocol.Marshal(lists)
	return "INSERT INTO calls (" + strings.Join(callColumns, ", ") + ") SELECT " + strings.Join(values, ", ") + " FROM json_each(?) WHERE true" + moveOpen,
		append(args, string(raw)), err
}

// moveOpen has an insert move the call on when it is there and open.
var moveOpen = func() string {
	updates := []string{}
	for _, name := range callColumns {
		if name != "id" && name != "created_at" && name != "seq" {
			updates = append(updates, name+" = excluded."+name)
		}
	}
	return " ON CONFLICT (id) DO UPDATE SET " + strings.Join(updates, ", ") + " WHERE state IN ('waiting', 'running')"
}()

func writeCalls(tx *gorm.DB, list []behindCall) error {
	last := map[protocol.NodeID]int64{}
	rows := make([][]any, len(list))
	for i, e := range list {
		seq := int64(0)
		if node := e.call.Info.Node; !e.stored {
			if _, known := last[node]; !known {
				var err error
				if last[node], err = readNumber(tx, "SELECT coalesce(max(seq), 0) FROM calls WHERE node = ?", string(node)); err != nil {
					return err
				}
			}
			last[node]++
			seq = last[node]
		}
		rows[i] = rowOfCall(e.call).values(seq)
	}
	err := upsert(tx, rows)
	if code(err)&0xff != codeConstraint {
		return err
	}
	// One that no table takes must not keep the others out.
	for _, row := range rows {
		if err := upsert(tx, [][]any{row}); code(err)&0xff == codeConstraint {
			slog.Error("A call could not be stored", "call", row[0], "err", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func upsert(tx *gorm.DB, rows [][]any) error {
	statement, args, err := upsertCalls(rows)
	if err == nil {
		_, err = run(tx, statement, args...)
	}
	return err
}

// run executes a statement past GORM, which costs a small one as much as SQLite does, and returns how many rows it changed.
func run(tx *gorm.DB, statement string, args ...any) (int64, error) {
	res, err := tx.Statement.ConnPool.ExecContext(context.Background(), statement, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// readNumber reads one number.
func readNumber(tx *gorm.DB, query string, args ...any) (n int64, err error) {
	err = tx.Statement.ConnPool.QueryRowContext(context.Background(), query, args...).Scan(&n)
	return n, err
}
