package store

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Calls that only read are stored behind their caller's back: nothing is lost with such a row but the knowledge that something was looked at. They are
// in the database after flushEvery at the latest, sooner when flushRows or flushBytes wait, with every other write, and before anyone reads calls.
const (
	flushEvery = 50 * time.Millisecond
	flushRows  = 128
	flushBytes = 1 << 20
	// flushAgain is the pause after a disk has refused.
	flushAgain = time.Second
)

// behind holds the calls that are not written yet, and those of its calls that are under way.
type behind struct {
	wake chan struct{} // holds a token when something waits
	full chan struct{} // holds a token when it should not wait any longer

	mu     sync.Mutex // guards what follows
	calls  map[protocol.CallID]*behindCall
	queue  []*behindCall // to be written, in the order of their first PutCall since the last flush
	bytes  int
	failed bool // the last flush did not succeed
	closed bool
}

type behindCall struct {
	call    Call
	version int  // counts its changes
	queued  bool // it differs from what the database has
	stored  bool // the database has a row of it
}

func newBehind() *behind {
	return &behind{wake: make(chan struct{}, 1), full: make(chan struct{}, 1), calls: make(map[protocol.CallID]*behindCall)}
}

// may reports whether c need not be written before its caller goes on. What belongs to a question, or is large, is not worth the risk and the memory.
func (c Call) may() bool {
	return c.Info.Effect == protocol.EffectRead && c.Info.ApprovalID == "" && len(c.ResultJSON) <= maxBehind &&
		(c.Info.State == protocol.CallRunning || c.Info.State == protocol.CallWaiting || c.Info.Over())
}

// maxBehind is the largest result of a call that is written later, in bytes.
const maxBehind = 64 << 10

// put takes a call that is new or open. It reports false when the call must be written at once instead.
func (b *behind) put(c Call) bool {
	if !c.may() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.calls[c.Info.CallID]
	if b.failed || b.closed || e != nil && e.call.Info.Over() {
		return false
	}
	if e == nil {
		e = &behindCall{}
		b.calls[c.Info.CallID] = e
	} else {
		c.CreatedAt = e.call.CreatedAt
	}
	b.change(e, c)
	return true
}

// finish ends a call. known is false when the database must be asked; won says whether it was open.
func (b *behind) finish(c Call) (won, known bool) {
	if !c.may() {
		return false, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.calls[c.Info.CallID]
	if e == nil || b.failed || b.closed {
		return false, false
	}
	if e.call.Info.Over() {
		return false, true
	}
	now := e.call
	now.Info, now.ResultJSON, now.OutputSHA256, now.OutputBytes, now.Truncated = c.Info, c.ResultJSON, c.OutputSHA256, c.OutputBytes, c.Truncated
	b.change(e, now)
	return true, true
}

// change notes the newest state of a call, with b.mu held.
func (b *behind) change(e *behindCall, c Call) {
	e.call = c
	e.version++
	b.bytes += len(c.ResultJSON) + len(c.Info.Args)
	if !e.queued {
		e.queued = true
		b.queue = append(b.queue, e)
	}
	signal(b.wake)
	if len(b.queue) >= flushRows || b.bytes >= flushBytes {
		signal(b.full)
	}
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// close has everything be written at once from now on.
func (b *behind) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}

// forget drops a call that was written past b.
func (b *behind) forget(id protocol.CallID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.calls[id]; e != nil {
		delete(b.calls, id)
		b.queue = slices.DeleteFunc(b.queue, func(q *behindCall) bool { return q == e })
	}
}

func (b *behind) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) == 0
}

// flush is the write of all that waits, or nil.
func (b *behind) flush() *change {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return nil
	}
	part := make([]behindCall, len(b.queue))
	for i, e := range b.queue {
		part[i] = *e
	}
	return &change{
		run:  func(tx *gorm.DB) error { return writeCalls(tx, part) },
		done: make(chan struct{}),
		ended: func(err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.failed = err != nil; err == nil {
				b.written(part)
			}
		},
	}
}

// written notes that the database has what part says, with b.mu held.
func (b *behind) written(part []behindCall) {
	for _, p := range part {
		e := b.calls[p.call.Info.CallID]
		if e == nil {
			continue
		}
		e.stored = true
		if e.version != p.version {
			continue
		}
		e.queued = false
		if e.call.Info.Over() {
			delete(b.calls, e.call.Info.CallID)
		}
	}
	b.bytes = 0
	b.queue = slices.DeleteFunc(b.queue, func(e *behindCall) bool {
		if e.queued {
			b.bytes += len(e.call.ResultJSON) + len(e.call.Info.Args)
		}
		return !e.queued
	})
}

// loop writes what waits for too long, until stop is closed.
func (b *behind) loop(w *writer, stop <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		select {
		case <-stop:
			return
		case <-b.wake:
		}
		timer.Reset(flushEvery)
		select {
		case <-stop:
			return
		case <-b.full:
			timer.Stop()
		case <-timer.C:
		}
		if w.settle(context.Background()) == nil {
			continue
		}
		signal(b.wake)
		timer.Reset(flushAgain)
		select {
		case <-stop:
			return
		case <-timer.C:
		}
	}
}

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
