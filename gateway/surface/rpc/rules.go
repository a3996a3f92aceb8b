package rpc

import (
	"context"
	"encoding/json"
	"fmt"

	"fairlead/gateway/approval"
	"fairlead/gateway/protocol"
)

// Rules manages the person's rules about calls.
type Rules interface {
	All(ctx context.Context) (protocol.RulesResult, error)
	Undo(ctx context.Context, by string, id protocol.ApprovalID) (protocol.ApprovalUndoResult, error)
	Put(ctx context.Context, by string, in protocol.RulePutParams) (protocol.Rule, error)
	Delete(ctx context.Context, by, id string) error
	Restore(ctx context.Context, by, id string) error
	Try(calls []protocol.JournalEntry, host func(protocol.NodeID) *protocol.HostInfo, in protocol.RuleTryParams) (protocol.RuleTryResult, error)
	Export(context.Context) (protocol.RulesExport, error)
	Import(ctx context.Context, by string, in protocol.RulesImportParams) (protocol.RulesImportResult, error)
}

// Audit is the audit log.
type Audit interface {
	List(ctx context.Context, q protocol.AuditListParams) (list []protocol.AuditEntry, more bool, err error)
	Verify(ctx context.Context) (protocol.AuditVerifyResult, error)
	Append(ctx context.Context, lines ...protocol.AuditEntry) error
}

func (s *Server) rules(all map[string]handler) {
	handle(all, protocol.RulesList, func(ctx context.Context, _ *Conn, _ protocol.Empty) (protocol.RulesResult, error) {
		return s.s.Rules.All(ctx)
	})
	handle(all, protocol.ApprovalUndo, func(ctx context.Context, c *Conn, p protocol.ApprovalParams) (protocol.ApprovalUndoResult, error) {
		return s.s.Rules.Undo(ctx, c.who().String(), p.ID)
	})
	handle(all, protocol.RulePut, func(ctx context.Context, c *Conn, p protocol.RulePutParams) (protocol.Rule, error) {
		if len(p.Policy) == 0 {
			return protocol.Rule{}, protocol.ErrBadRequest.With("policy required")
		}
		return s.s.Rules.Put(ctx, c.who().String(), p)
	})
	handle(all, protocol.RuleDelete, func(ctx context.Context, c *Conn, p protocol.RuleParams) (protocol.OK, error) {
		err := s.s.Rules.Delete(ctx, c.who().String(), p.ID)
		return protocol.OK{OK: err == nil}, err
	})
	handle(all, protocol.RuleRestore, func(ctx context.Context, c *Conn, p protocol.RuleParams) (protocol.OK, error) {
		err := s.s.Rules.Restore(ctx, c.who().String(), p.ID)
		return protocol.OK{OK: err == nil}, err
	})
	handle(all, protocol.RuleTry, s.tryRule)
	handle(all, protocol.RulesSave, func(ctx context.Context, _ *Conn, _ protocol.Empty) (protocol.RulesExport, error) {
		return s.s.Rules.Export(ctx)
	})
	handle(all, protocol.RulesImport, func(ctx context.Context, c *Conn, p protocol.RulesImportParams) (protocol.RulesImportResult, error) {
		if len(p.File) == 0 {
			return protocol.RulesImportResult{}, protocol.ErrBadRequest.With("file required")
		}
		return s.s.Rules.Import(ctx, c.who().String(), p)
	})
	handle(all, protocol.AuditList, s.auditList)
	handle(all, protocol.AuditVerify, func(ctx context.Context, _ *Conn, _ protocol.Empty) (protocol.AuditVerifyResult, error) {
		return s.s.Audit.Verify(ctx)
	})
}

// tried is the number of recent calls on which a rule is tried.
const tried = 1000

func (s *Server) tryRule(ctx context.Context, _ *Conn, p protocol.RuleTryParams) (protocol.RuleTryResult, error) {
	if p.Approval != "" {
		raw, err := s.offered(ctx, p)
		if err != nil {
			return protocol.RuleTryResult{}, err
		}
		p.Policy = raw
	}
	if len(p.Policy) == 0 {
		return protocol.RuleTryResult{}, protocol.ErrBadRequest.With("policy required")
	}
	calls, _, err := s.s.Journal.Journal(ctx, protocol.JournalListParams{Limit: tried})
	if err != nil {
		return protocol.RuleTryResult{}, err
	}
	var entries []protocol.JournalEntry
	for _, c := range calls {
		entries = append(entries, entry(c))
	}
	hosts := map[protocol.NodeID]*protocol.HostInfo{}
	for _, n := range s.s.Nodes.Nodes() {
		hosts[n.ID] = n.Host
	}
	return s.s.Rules.Try(entries, func(id protocol.NodeID) *protocol.HostInfo { return hosts[id] }, p)
}

// offered returns the rule that an answer to a pending approval would save.
func (s *Server) offered(ctx context.Context, p protocol.RuleTryParams) (json.RawMessage, error) {
	open, err := s.s.Approvals.Pending(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range open {
		if a.ID == p.Approval {
			rule, err := approval.Offered(a, p.Offer, p.Scope)
			if err != nil {
				return nil, err
			}
			return protocol.Marshal(rule)
		}
	}
	return nil, protocol.ErrNotFound.With(fmt.Sprintf("No open question has the id %s", p.Approval))
}

func (s *Server) auditList(ctx context.Context, _ *Conn, p protocol.AuditListParams) (protocol.AuditListResult, error) {
	if p.Limit < 0 {
		return protocol.AuditListResult{}, protocol.ErrBadRequest.With("limit must not be negative")
	}
	if p.Limit == 0 {
		p.Limit = protocol.DefaultJournal
	}
	p.Limit, p.SessionKey = min(p.Limit, protocol.MaxJournal), s.chatOf(p.SessionKey)
	lines, more, err := s.s.Audit.List(ctx, p)
	return protocol.AuditListResult{Entries: list(lines), More: more}, err
}
