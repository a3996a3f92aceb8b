package rpc

import (
	"context"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Journal is the record of calls.
type Journal interface {
	Journal(ctx context.Context, q protocol.JournalListParams) (list []store.Call, more bool, err error)
}

func (s *Server) journalList(ctx context.Context, _ *Conn, p protocol.JournalListParams) (protocol.JournalListResult, error) {
	if p.Limit < 0 || p.Offset < 0 {
		return protocol.JournalListResult{}, protocol.ErrBadRequest.With("limit and offset must not be negative")
	}
	if p.Limit == 0 {
		p.Limit = protocol.DefaultJournal
	}
	p.Limit, p.SessionKey = min(p.Limit, protocol.MaxJournal), s.chatOf(p.SessionKey)
	calls, more, err := s.s.Journal.Journal(ctx, p)
	if err != nil {
		return protocol.JournalListResult{}, err
	}
	out := protocol.JournalListResult{Calls: []protocol.JournalEntry{}, More: more}
	for _, c := range calls {
		out.Calls = append(out.Calls, entry(c))
	}
	return out, nil
}

// chatOf is the chat that a filter names in whatever spelling; empty is every chat.
func (s *Server) chatOf(key protocol.SessionKey) protocol.SessionKey {
	if key == "" {
		return ""
	}
	return s.s.Canonical(key)
}

func entry(c store.Call) protocol.JournalEntry {
	i := c.Info
	return protocol.JournalEntry{
		CallID: i.CallID, RunID: i.RunID, SessionKey: i.SessionKey, Node: i.Node, Iteration: c.Iteration, Attempt: c.Attempt, Seq: c.Seq,
		Tool: i.Tool, ToolCallID: i.ToolCallID, Effect: i.Effect, Idempotent: c.Idempotent, IdempotencyKey: c.IdempotencyKey,
		Input: i.Args, InputSHA256: c.InputSHA256, InputBytes: c.InputBytes,
		Output: c.ResultJSON, OutputSHA256: c.OutputSHA256, OutputBytes: c.OutputBytes, Truncated: c.Truncated,
		RequestedAt: c.CreatedAt, StartedAt: i.StartedAt, EndedAt: i.EndedAt, Status: i.State, Error: i.Error, ExitCode: i.ExitCode,
		Principal: c.Principal, AskedBy: c.AskedBy, ApprovalID: i.ApprovalID, Direct: i.Direct, Preview: i.Preview,
	}
}
