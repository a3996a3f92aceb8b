package rpc

import (
	"context"
	"encoding/json"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// recordMethods are the methods for the journal, the audit log and the usage of models.
type recordMethods struct {
	Records
	canonical func(protocol.SessionKey) protocol.SessionKey
}

func (m recordMethods) register(all methods) {
	handle(all, protocol.JournalList, plain(m.listJournal))
	handle(all, protocol.AuditList, plain(m.listAudit))
	handle(all, protocol.AuditVerify, query(m.Audit.Verify))
	handle(all, protocol.UsageReport, plain(m.Usage))
}

// checkPage applies the limits and defaults of a page of the journal or the audit log.
func (m recordMethods) checkPage(limit *int, key *protocol.SessionKey) {
	if *limit == 0 {
		*limit = protocol.DefaultJournal
	}
	*limit = min(*limit, protocol.MaxJournal)
	if *key != "" { // empty means every chat
		*key = m.canonical(*key)
	}
}

func (m recordMethods) listJournal(ctx context.Context, p protocol.JournalListParams) (protocol.JournalListResult, error) {
	if p.Limit < 0 || p.Offset < 0 {
		return protocol.JournalListResult{}, protocol.ErrBadRequest.With("limit and offset must not be negative")
	}
	m.checkPage(&p.Limit, &p.SessionKey)
	calls, more, err := m.Journal.List(ctx, p)
	if err != nil {
		return protocol.JournalListResult{}, err
	}
	out := protocol.JournalListResult{Calls: []protocol.JournalEntry{}, More: more}
	size := 0
	for _, c := range calls {
		e := journalEntry(c)
		if size += len(e.Input) + len(e.Output) + len(e.Error); size > maxPage && len(out.Calls) > 0 {
			out.More = true
			break
		}
		out.Calls = append(out.Calls, e)
	}
	return out, nil
}

// Limits of one journal response, in bytes. A call's arguments may be as large as a frame, and must
// not crowd out all other calls.
const (
	maxPage  = protocol.MaxWriteFrame / 2
	maxInput = 200_000
	maxHead  = 2_000
)

// journalInput returns the arguments as the journal shows them. Very long ones are cut, as results
// are.
func journalInput(args json.RawMessage) json.RawMessage {
	if len(args) <= maxInput {
		return args
	}
	part, err := protocol.Marshal(map[string]any{"truncated": true, "bytes": len(args), "preview": format.Head(string(args), maxHead)})
	if err != nil {
		return nil
	}
	return part
}

func journalEntry(c store.Call) protocol.JournalEntry {
	i := c.Info
	e := protocol.JournalEntry{
		CallID: i.CallID, RunID: i.RunID, SessionKey: i.SessionKey, Node: i.Node, Iteration: c.Iteration, Attempt: c.Attempt, Seq: c.Seq,
		Tool: i.Tool, ToolCallID: i.ToolCallID, Effect: i.Effect, Idempotent: c.Idempotent, IdempotencyKey: c.IdempotencyKey,
		Input: journalInput(i.Args), InputSHA256: c.InputSHA256, InputBytes: c.InputBytes,
		Output: c.ResultJSON, OutputSHA256: c.OutputSHA256, OutputBytes: c.OutputBytes, Truncated: c.Truncated,
		RequestedAt: c.CreatedAt, StartedAt: i.StartedAt, EndedAt: i.EndedAt, Status: i.State,
		Error:     format.Head(i.Error, maxInput),
		ExitCode:  i.ExitCode,
		Principal: c.Principal, App: c.App, AskedBy: c.AskedBy, ApprovalID: i.ApprovalID, Direct: i.Direct, Undo: i.Undo, Preview: i.Preview,
	}
	if !c.Continued.IsEmpty() {
		e.Continued = &c.Continued
	}
	return e
}

func (m recordMethods) listAudit(ctx context.Context, p protocol.AuditListParams) (protocol.AuditListResult, error) {
	if p.Limit < 0 {
		return protocol.AuditListResult{}, protocol.ErrBadRequest.With("limit must not be negative")
	}
	m.checkPage(&p.Limit, &p.SessionKey)
	lines, more, err := m.Audit.List(ctx, p)
	return protocol.AuditListResult{Entries: list(lines), More: more}, err
}
