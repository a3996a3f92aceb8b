package store

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// callColumn is a column of a call: text or a number.
type callColumn struct {
	name   string
	text   func(*callRow) string
	number func(*callRow) int64
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// callColumns are the columns that the first write of a call sets, in order.
var callColumns = []callColumn{
	{name: "id", text: func(r *callRow) string { return r.ID }},
	{name: "run_id", text: func(r *callRow) string { return r.RunID }},
	{name: "tool_call_id", text: func(r *callRow) string { return r.ToolCallID }},
	{name: "session_key", text: func(r *callRow) string { return r.SessionKey }},
	{name: "node", text: func(r *callRow) string { return r.Node }},
	{name: "tool", text: func(r *callRow) string { return r.Tool }},
	{name: "state", text: func(r *callRow) string { return r.State }},
	{name: "info", text: func(r *callRow) string { return r.Info }},
	{name: "asked_by", text: func(r *callRow) string { return r.AskedBy }},
	{name: "principal", text: func(r *callRow) string { return r.Principal }},
	{name: "idem_key", text: func(r *callRow) string { return r.IdemKey }},
	{name: "idempotent", number: func(r *callRow) int64 { return flag(r.Idempotent) }},
	{name: "attempt", number: func(r *callRow) int64 { return int64(r.Attempt) }},
	{name: "result", text: func(r *callRow) string { return r.Result }},
	{name: "hash", text: func(r *callRow) string { return r.Hash }},
	{name: "created_at", number: func(r *callRow) int64 { return r.CreatedAt }},
	{name: "ended_at", number: func(r *callRow) int64 { return r.EndedAt }},
	{name: "effect", text: func(r *callRow) string { return r.Effect }},
	{name: "iteration", number: func(r *callRow) int64 { return int64(r.Iteration) }},
	{name: "input_sha256", text: func(r *callRow) string { return r.InputSha256 }},
	{name: "input_bytes", number: func(r *callRow) int64 { return int64(r.InputBytes) }},
	{name: "output_sha256", text: func(r *callRow) string { return r.OutputSha256 }},
	{name: "output_bytes", number: func(r *callRow) int64 { return int64(r.OutputBytes) }},
	{name: "truncated", number: func(r *callRow) int64 { return flag(r.Truncated) }},
	{name: "seq", number: func(r *callRow) int64 { return r.Seq }},
}

var callNames = func() string {
	var names []string
	for _, c := range callColumns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}()

func (c callColumn) value(r *callRow) any {
	if c.text != nil {
		return c.text(r)
	}
	return c.number(r)
}

func (c callColumn) append(b []byte, r *callRow) []byte {
	if c.text != nil {
		return append(b, c.text(r)...)
	}
	return strconv.AppendInt(b, c.number(r), 10)
}

// same reports whether all rows have the same value, as most columns do when one program repeats
// calls of one tool.
func (c callColumn) same(rows []callRow) bool {
	for i := range rows[1:] {
		if c.text != nil && c.text(&rows[0]) != c.text(&rows[i+1]) || c.text == nil && c.number(&rows[0]) != c.number(&rows[i+1]) {
			return false
		}
	}
	return true
}

// maxUpsert is the number of calls in one statement. Their values stay far below the 100 MB that
// eight digits can express.
const maxUpsert = 256

// statement returns one statement that writes many calls, because the driver compiles each
// statement anew. The differing values are passed as one blob with all of them concatenated, and
// another with the offset and the length of each, of eight digits each: parsing JSON takes SQLite
// as long as the insert.
func (u *upserts) statement(rows []callRow) (statement string, args []any) {
	exprs := make([]string, len(callColumns))
	var differ []callColumn
	args = []any{nil, nil, len(rows)}
	for i, c := range callColumns {
		if c.same(rows) {
			args = append(args, c.value(&rows[0]))
			exprs[i] = fmt.Sprintf("?%d", len(args))
			continue
		}
		kind := "TEXT"
		if c.text == nil {
			kind = "INTEGER"
		}
		exprs[i] = fmt.Sprintf("CAST(substr(?1, substr(?2, i * %%[1]d + %d, 8), substr(?2, i * %%[1]d + %d, 8)) AS %s)", len(differ)*16+1, len(differ)*16+9, kind)
		differ = append(differ, c)
	}
	data, index := u.data[:0], u.index[:0]
	for i := range rows {
		for _, c := range differ {
			from := len(data)
			data = c.append(data, &rows[i])
			index = digits(digits(index, from+1), len(data)-from)
		}
	}
	args[0], args[1] = data, index // the driver copies them
	u.data, u.index = data, index
	statement = "WITH RECURSIVE rows(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM rows WHERE i + 1 < ?3) INSERT INTO calls (" + callNames + ") SELECT " +
		strings.ReplaceAll(strings.Join(exprs, ", "), "%[1]d", strconv.Itoa(len(differ)*16)) + " FROM rows WHERE true" + moveOpen
	return statement, args
}

// digits appends a number with eight digits.
func digits(b []byte, n int) []byte {
	b = append(b, "00000000"...)
	for i := len(b) - 1; n > 0; i, n = i-1, n/10 {
		b[i] += byte(n % 10)
	}
	return b
}

// moveOpen makes an insert update the call if it exists and is open.
var moveOpen = func() string {
	updates := []string{}
	for _, c := range callColumns {
		if c.name != "id" && c.name != "created_at" && c.name != "seq" {
			updates = append(updates, c.name+" = excluded."+c.name)
		}
	}
	return " ON CONFLICT (id) DO UPDATE SET " + strings.Join(updates, ", ") + " WHERE state IN ('waiting', 'running')"
}()

// upserts holds the buffers in which calls are prepared for writing.
type upserts struct {
	rows        []callRow
	data, index []byte
	info        protocol.CallInfo
	askedBy     protocol.AskedBy
	asked       string // cached askedBy as JSON: most calls at one time share it
}

// row is [rowOfCall] with fewer allocations.
func (u *upserts) row(c Call) callRow {
	if u.asked == "" || c.AskedBy != u.askedBy {
		u.askedBy, u.asked = c.AskedBy, text(c.AskedBy)
	}
	u.info = rest(c.Info)
	return rowWith(c, text(&u.info), u.asked)
}

// keepUpserts is the largest buffer for values that is reused, in bytes.
const keepUpserts = 256 << 10

// write writes calls in their order.
func (u *upserts) write(tx *gorm.DB, list []*behindCall) error {
	last := map[protocol.NodeID]int64{}
	for part := range slices.Chunk(list, maxUpsert) {
		rows := u.rows[:0]
		for _, e := range part {
			row := u.row(e.call)
			if node := e.call.Info.Node; !e.stored {
				if _, known := last[node]; !known {
					var err error
					if last[node], err = readNumber(tx, "SELECT coalesce(max(seq), 0) FROM calls WHERE node = ?", string(node)); err != nil {
						return err
					}
				}
				last[node]++
				row.Seq = last[node]
			}
			rows = append(rows, row)
		}
		err := u.upsert(tx, rows)
		clear(rows)
		u.info = protocol.CallInfo{}
		if u.rows = rows; cap(u.data) > keepUpserts {
			u.data = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// upsert writes calls. If one of them cannot be written, the others still are.
func (u *upserts) upsert(tx *gorm.DB, rows []callRow) error {
	statement, args := u.statement(rows)
	_, err := run(tx, statement, args...)
	switch {
	case code(err)&0xff != codeConstraint:
		return err
	case len(rows) == 1:
		slog.Error("A call could not be stored", "call", rows[0].ID, "err", err)
		return nil
	}
	for i := range rows {
		if err := u.upsert(tx, rows[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// run executes a statement without GORM, whose overhead for a small one is as large as SQLite's
// work, and returns the number of changed rows.
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
