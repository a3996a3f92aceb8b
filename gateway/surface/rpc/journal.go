package rpc

import (
	"context"
	"encoding/json"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// journalMethods are the methods for the journal.
type journalMethods struct {
	journal   Journal
	canonical func(protocol.SessionKey) protocol.SessionKey
}

func (m journalMethods) register(all methods) {
	handle(all, protocol.JournalList, m.list)
}

func (m journalMethods) list(ctx context.Context, _ *request, p protocol.JournalListParams) (protocol.JournalListResult, error) {
	if p.Limit < 0 || p.Offset < 0 {
		return protocol.JournalListResult{}, protocol.ErrBadRequest.With("limit and offset must not be negative")
	}
	if p.Limit == 0 {
		p.Limit = protocol.DefaultJournal
	}
	p.Limit, p.SessionKey = min(p.Limit, protocol.MaxJournal), canonicalFilter(m.canonical, p.SessionKey)
	calls, more, err := m.journal.Journal(ctx, p)
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
	part, err := protocol.Marshal(map[string]any{"truncated": true, "bytes": len(args), "preview": strings.ToValidUTF8(string(args[:maxHead]), "")})
	if err != nil {
		return nil
	}
	return part
}

// canonicalFilter returns the canonical key of the chat in a filter; empty means every chat.
func canonicalFilter(canonical func(protocol.SessionKey) protocol.SessionKey, key protocol.SessionKey) protocol.SessionKey {
	if key == "" {
		return ""
	}
	return canonical(key)
}

func journalEntry(c store.Call) protocol.JournalEntry {
	i := c.Info
	return protocol.JournalEntry{
		CallID: i.CallID, RunID: i.RunID, SessionKey: i.SessionKey, Node: i.Node, Iteration: c.Iteration, Attempt: c.Attempt, Seq: c.Seq,
		Tool: i.Tool, ToolCallID: i.ToolCallID, Effect: i.Effect, Idempotent: c.Idempotent, IdempotencyKey: c.IdempotencyKey,
		Input: journalInput(i.Args), InputSHA256: c.InputSHA256, InputBytes: c.InputBytes,
		Output: c.ResultJSON, OutputSHA256: c.OutputSHA256, OutputBytes: c.OutputBytes, Truncated: c.Truncated,
		RequestedAt: c.CreatedAt, StartedAt: i.StartedAt, EndedAt: i.EndedAt, Status: i.State,
		Error:     strings.ToValidUTF8(i.Error[:min(len(i.Error), maxInput)], ""),
		ExitCode:  i.ExitCode,
		Principal: c.Principal, AskedBy: c.AskedBy, ApprovalID: i.ApprovalID, Direct: i.Direct, Preview: i.Preview,
	}
}
