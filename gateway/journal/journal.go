// Package journal records tool calls and the audit log. It is the journal stage of [tool.Pipeline],
// and answers questions about the calls of the past. A later decision about what a call has queued
// is added to the entry of that call.
//
// The record of a call is stored before the call runs, and closed after its result. After a crash,
// a call that was running is found by its record: its outcome is unknown, it is reported as such,
// and it is never repeated automatically. The arguments that hold the content of a file are stored
// as their checksum and size, and long results are cut.
package journal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// Store stores calls; *store.Calls implements it.
type Store interface {
	Put(ctx context.Context, c store.Call, lines ...protocol.AuditEntry) error
	Finish(ctx context.Context, c store.Call, lines ...protocol.AuditEntry) (bool, error)
	Correct(ctx context.Context, c store.Call, lines ...protocol.AuditEntry) (bool, error)
	Get(ctx context.Context, id protocol.CallID) (store.Call, error)
	Open(ctx context.Context) ([]store.Call, error)
}

// Steps adds to the entries of calls that have begun; *store.Calls implements it.
type Steps interface {
	Continue(ctx context.Context, id protocol.CallID, add func(protocol.Continuation) protocol.Continuation, lines ...protocol.AuditEntry) error
}

// Journal records calls. It implements [tool.Journal] and [tool.Steps].
type Journal struct {
	store Store
	steps Steps
}

// New returns a journal.
func New(s Store, steps Steps) *Journal { return &Journal{store: s, steps: steps} }

// Continue changes what is recorded about the steps after a call, which may have ended.
func (j *Journal) Continue(ctx context.Context, id protocol.CallID, add func(protocol.Continuation) protocol.Continuation) error {
	return j.steps.Continue(ctx, id, add)
}

// addJudgement adds a new decision about what an earlier call has queued to the entry of that call.
// Without such an entry, which may have been too old, the decision gets one of its own.
func (j *Journal) addJudgement(ctx context.Context, r *tool.Record) error {
	i, d := r.Info, r.Decision
	judgement := protocol.Judgement{At: i.EndedAt, Verdict: string(d.Verdict), Why: d.Reason, By: r.DecidedBy, ApprovalID: i.ApprovalID, Resumed: r.Resumed}
	addChecksums(r)
	err := j.steps.Continue(ctx, r.Of, func(c protocol.Continuation) protocol.Continuation { return c.Add(judgement) }, auditEntries(r)...)
	if !errors.Is(err, protocol.ErrNotFound) {
		return err
	}
	r.Of = ""
	return j.store.Put(ctx, storedForm(store.Call(r.Entry)), auditEntries(r)...)
}

// Start stores a new call, or the new state of an open one. A call that was refused starts and ends
// at once; it gets its entry in the audit log here.
func (j *Journal) Start(ctx context.Context, r *tool.Record) error {
	if r.Of != "" {
		if r.Info.Over() {
			return j.addJudgement(ctx, r)
		}
		return nil // it has not been decided yet
	}
	addChecksums(r)
	var lines []protocol.AuditEntry
	if r.Info.Over() {
		lines = auditEntries(r)
	}
	return j.store.Put(ctx, storedForm(store.Call(r.Entry)), lines...)
}

// Finish stores the end of an open call. It returns false if the call had ended before.
func (j *Journal) Finish(ctx context.Context, r *tool.Record) (bool, error) {
	if r.Of != "" {
		return true, j.addJudgement(ctx, r)
	}
	addChecksums(r)
	return j.store.Finish(ctx, storedForm(store.Call(r.Entry)), auditEntries(r)...)
}

// Correct stores the outcome of a call whose outcome was unknown. For any other call it returns
// false.
func (j *Journal) Correct(ctx context.Context, r *tool.Record) (bool, error) {
	addChecksums(r)
	return j.store.Correct(ctx, storedForm(store.Call(r.Entry)), auditEntries(r)...)
}

// Find returns a call, or protocol.ErrNotFound.
func (j *Journal) Find(ctx context.Context, id protocol.CallID) (tool.Record, error) {
	c, err := j.store.Get(ctx, id)
	return tool.Record{Entry: tool.Entry(c)}, err
}

// Open returns the calls that have not ended.
func (j *Journal) Open(ctx context.Context) ([]tool.Record, error) {
	calls, err := j.store.Open(ctx)
	list := make([]tool.Record, len(calls))
	for i, c := range calls {
		list[i].Entry = tool.Entry(c)
	}
	return list, err
}

// addChecksums sets the checksums of the arguments, unless they are from an earlier start and so no
// longer complete, and of the result.
func addChecksums(r *tool.Record) {
	if r.InputSHA256 == "" {
		r.InputSHA256, r.InputBytes = checksum(r.Info.Args)
	}
	r.OutputSHA256, r.OutputBytes = checksum(r.ResultJSON)
}

// checksum returns SHA-256 in hex and the size; for empty data, neither.
func checksum(data []byte) (string, int) {
	if len(data) == 0 {
		return "", 0
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), len(data)
}

// auditEntries returns the call's entry for the audit log. Reads that needed no approval have none.
func auditEntries(r *tool.Record) []protocol.AuditEntry {
	i, d := r.Info, r.Decision
	if r.DecidedBy == "" || i.Effect == protocol.EffectRead && d.Verdict == policy.Allow && d.Rule == "" && i.ApprovalID == "" {
		return nil
	}
	id := cmp.Or(r.Of, i.CallID)
	var asker *protocol.AskedBy
	if r.AskedBy.Kind != "" {
		asker = &r.AskedBy
	}
	return []protocol.AuditEntry{{
		At: i.EndedAt, Kind: protocol.AuditCall, By: r.DecidedBy, AskedBy: asker, Resumed: r.Resumed, Undo: i.Undo, Node: i.Node, SessionKey: i.SessionKey, RunID: i.RunID, CallID: id,
		Tool: i.Tool, What: summary(i.Args), Input: r.InputSHA256, Verdict: string(d.Verdict), Why: d.Reason, Rule: d.Rule,
		Approval: i.ApprovalID, State: auditState(r), ExitCode: i.ExitCode,
	}}
}
