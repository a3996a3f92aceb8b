package rpc

import (
	"context"
	"encoding/json"
	"fmt"

	"fairlead/gateway/approval"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
)

// ruleMethods are the methods for the rules about calls.
type ruleMethods struct {
	rules     *approval.Rules
	approvals Approvals
	journal   Journal
	nodes     *nodes.Hub
}

func (m ruleMethods) register(all methods) {
	handle(all, protocol.RulesList, func(ctx context.Context, _ *request, _ protocol.Empty) (protocol.RulesResult, error) {
		return m.rules.All(ctx)
	})
	handle(all, protocol.ApprovalUndo, func(ctx context.Context, r *request, p protocol.ApprovalParams) (protocol.ApprovalUndoResult, error) {
		return m.rules.Undo(ctx, r.conn.principal().String(), p.ID)
	})
	handle(all, protocol.RulePut, func(ctx context.Context, r *request, p protocol.RulePutParams) (protocol.Rule, error) {
		if len(p.Policy) == 0 {
			return protocol.Rule{}, protocol.ErrBadRequest.With("policy required")
		}
		return m.rules.Put(ctx, r.conn.principal().String(), p)
	})
	handle(all, protocol.RuleDelete, func(ctx context.Context, r *request, p protocol.RuleParams) (protocol.OK, error) {
		return ok(m.rules.Delete(ctx, r.conn.principal().String(), p.ID))
	})
	handle(all, protocol.RuleRestore, func(ctx context.Context, r *request, p protocol.RuleParams) (protocol.OK, error) {
		return ok(m.rules.Restore(ctx, r.conn.principal().String(), p.ID))
	})
	handle(all, protocol.RuleTry, m.try)
	handle(all, protocol.RulesSave, func(ctx context.Context, _ *request, _ protocol.Empty) (protocol.RulesExport, error) {
		return m.rules.Export(ctx)
	})
	handle(all, protocol.RulesImport, func(ctx context.Context, r *request, p protocol.RulesImportParams) (protocol.RulesImportResult, error) {
		if len(p.File) == 0 {
			return protocol.RulesImportResult{}, protocol.ErrBadRequest.With("file required")
		}
		return m.rules.Import(ctx, r.conn.principal().String(), p)
	})
}

// auditMethods are the methods for the audit log.
type auditMethods struct {
	audit     Audit
	canonical func(protocol.SessionKey) protocol.SessionKey
}

func (m auditMethods) register(all methods) {
	handle(all, protocol.AuditList, m.list)
	handle(all, protocol.AuditVerify, func(ctx context.Context, _ *request, _ protocol.Empty) (protocol.AuditVerifyResult, error) {
		return m.audit.Verify(ctx)
	})
}

// maxTryCalls is the number of recent calls on which a rule is tried.
const maxTryCalls = 1000

func (m ruleMethods) try(ctx context.Context, _ *request, p protocol.RuleTryParams) (protocol.RuleTryResult, error) {
	if p.Approval != "" {
		raw, err := m.offeredRule(ctx, p)
		if err != nil {
			return protocol.RuleTryResult{}, err
		}
		p.Policy = raw
	}
	if len(p.Policy) == 0 {
		return protocol.RuleTryResult{}, protocol.ErrBadRequest.With("policy required")
	}
	calls, _, err := m.journal.Journal(ctx, protocol.JournalListParams{Limit: maxTryCalls})
	if err != nil {
		return protocol.RuleTryResult{}, err
	}
	var entries []protocol.JournalEntry
	for _, c := range calls {
		entries = append(entries, journalEntry(c))
	}
	hosts := map[protocol.NodeID]*protocol.HostInfo{}
	for _, n := range m.nodes.Nodes() {
		hosts[n.ID] = n.Host
	}
	return m.rules.Try(entries, func(id protocol.NodeID) *protocol.HostInfo { return hosts[id] }, p)
}

// offeredRule returns the rule that an answer to a pending approval would save.
func (m ruleMethods) offeredRule(ctx context.Context, p protocol.RuleTryParams) (json.RawMessage, error) {
	open, err := m.approvals.Pending(ctx)
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

func (m auditMethods) list(ctx context.Context, _ *request, p protocol.AuditListParams) (protocol.AuditListResult, error) {
	if p.Limit < 0 {
		return protocol.AuditListResult{}, protocol.ErrBadRequest.With("limit must not be negative")
	}
	if p.Limit == 0 {
		p.Limit = protocol.DefaultJournal
	}
	p.Limit, p.SessionKey = min(p.Limit, protocol.MaxJournal), canonicalFilter(m.canonical, p.SessionKey)
	lines, more, err := m.audit.List(ctx, p)
	return protocol.AuditListResult{Entries: list(lines), More: more}, err
}
