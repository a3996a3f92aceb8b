package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/approval"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func registerQuestions(all methods, s Services) {
	handle(all, protocol.QuestionList, query(func(ctx context.Context) (protocol.QuestionListResult, error) {
		open, err := s.Questions.Pending(ctx)
		return protocol.QuestionListResult{Questions: list(open)}, err
	}))
	handle(all, protocol.QuestionGet, plain(func(ctx context.Context, p protocol.QuestionParams) (protocol.Question, error) {
		return s.Questions.Get(ctx, p.ID)
	}))
	handle(all, protocol.QuestionAnswer, func(ctx context.Context, r *request, p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
		return s.Questions.Answer(ctx, r.conn.peer().principal, p)
	})
	handle(all, protocol.QuestionAll, func(ctx context.Context, r *request, p protocol.QuestionAnswerAllParams) (protocol.QuestionAnswerAllResult, error) {
		return s.Questions.AnswerAll(ctx, r.conn.peer().principal, p)
	})
	handle(all, protocol.QuestionShown, withAck(func(ctx context.Context, _ string, p protocol.QuestionShownParams) error {
		return s.Display.Shown(ctx, p)
	}))
	handle(all, protocol.QuestionSnooze, withAck(func(ctx context.Context, _ string, p protocol.QuestionSnoozeParams) error {
		return s.Display.Snooze(ctx, p)
	}))
}

func registerRules(all methods, s Services) {
	handle(all, protocol.RulesList, query(s.Rules.All))
	handle(all, protocol.QuestionUndo, withCaller(func(ctx context.Context, by string, p protocol.QuestionParams) (protocol.QuestionUndoResult, error) {
		return s.Rules.Undo(ctx, by, p.ID)
	}))
	handle(all, protocol.RulePut, withCaller(s.Rules.Put).requires("policy", func(p protocol.RulePutParams) string { return string(p.Policy) }))
	handle(all, protocol.RuleDelete, withAck(func(ctx context.Context, by string, p protocol.RuleParams) error {
		return s.Rules.Delete(ctx, by, p.ID)
	}))
	handle(all, protocol.RuleRestore, withAck(func(ctx context.Context, by string, p protocol.RuleParams) error {
		return s.Rules.Restore(ctx, by, p.ID)
	}))
	handle(all, protocol.RuleTry, plain(s.tryRule))
	handle(all, protocol.RulesSave, query(s.Rules.Export))
	handle(all, protocol.RulesImport, withCaller(s.Rules.Import).requires("file", func(p protocol.RulesImportParams) string { return string(p.File) }))
}

// maxTryCalls is the number of recent calls on which a rule is tried.
const maxTryCalls = 1000

func (s Services) tryRule(ctx context.Context, p protocol.RuleTryParams) (protocol.RuleTryResult, error) {
	if p.Approval != "" {
		raw, err := s.offeredRule(ctx, p)
		if err != nil {
			return protocol.RuleTryResult{}, err
		}
		p.Policy = raw
	}
	if len(p.Policy) == 0 {
		return protocol.RuleTryResult{}, protocol.ErrBadRequest.With("policy required")
	}
	calls, _, err := s.Journal.List(ctx, protocol.JournalListParams{Limit: maxTryCalls})
	if err != nil {
		return protocol.RuleTryResult{}, err
	}
	var entries []protocol.JournalEntry
	for _, c := range calls {
		entries = append(entries, journalEntry(c))
	}
	host := func(id protocol.NodeID) *protocol.HostInfo {
		n, _ := s.Nodes.Node(id)
		return n.Host
	}
	return s.Rules.Try(entries, host, p)
}

func (s Services) offeredRule(ctx context.Context, p protocol.RuleTryParams) (json.RawMessage, error) {
	open, err := s.Questions.Pending(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range open {
		if a.ID == p.Approval {
			rule, err := approval.OfferedRule(a, p.Offer, p.Scope)
			if err != nil {
				return nil, err
			}
			return protocol.Marshal(rule)
		}
	}
	return nil, protocol.ErrNotFound.With(fmt.Sprintf("No open question has the id %s", p.Approval))
}

// checkPage applies the limits and defaults of a page of the journal or the audit log.
func (s Services) checkPage(limit *int, key *protocol.SessionKey) {
	if *limit == 0 {
		*limit = protocol.DefaultJournal
	}
	*limit = min(*limit, protocol.MaxJournal)
	if *key != "" { // empty means every chat
		*key = s.Canonical(*key)
	}
}

func (s Services) listJournal(ctx context.Context, p protocol.JournalListParams) (protocol.JournalListResult, error) {
	if p.Limit < 0 || p.Offset < 0 {
		return protocol.JournalListResult{}, protocol.ErrBadRequest.With("limit and offset must not be negative")
	}
	s.checkPage(&p.Limit, &p.SessionKey)
	calls, more, err := s.Journal.List(ctx, p)
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

func journalEntry(c store.Call) protocol.JournalEntry {
	i := c.Info
	e := protocol.JournalEntry{
		CallID: i.CallID, RunID: i.RunID, SessionKey: i.SessionKey, Node: i.Node, Iteration: c.Iteration, Attempt: c.Attempt, Seq: c.Seq,
		Tool: i.Tool, ToolCallID: i.ToolCallID, Effect: i.Effect, Idempotent: c.Idempotent, IdempotencyKey: c.IdempotencyKey,
		Input: journalInput(i.Args), InputSHA256: c.InputSHA256, InputBytes: c.InputBytes,
		Output: c.ResultJSON, OutputSHA256: c.OutputSHA256, OutputBytes: c.OutputBytes, Truncated: c.Truncated,
		RequestedAt: c.CreatedAt, StartedAt: i.StartedAt, EndedAt: i.EndedAt, Status: i.State,
		Error:     strings.ToValidUTF8(i.Error[:min(len(i.Error), maxInput)], ""),
		ExitCode:  i.ExitCode,
		Principal: c.Principal, App: c.App, AskedBy: c.AskedBy, ApprovalID: i.ApprovalID, Direct: i.Direct, Preview: i.Preview,
	}
	if c.Continued.Steps > 0 || len(c.Continued.Judged) > 0 {
		e.Continued = &c.Continued
	}
	return e
}

func (s Services) listAudit(ctx context.Context, p protocol.AuditListParams) (protocol.AuditListResult, error) {
	if p.Limit < 0 {
		return protocol.AuditListResult{}, protocol.ErrBadRequest.With("limit must not be negative")
	}
	s.checkPage(&p.Limit, &p.SessionKey)
	lines, more, err := s.Audit.List(ctx, p)
	return protocol.AuditListResult{Entries: list(lines), More: more}, err
}
