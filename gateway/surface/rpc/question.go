package rpc

import (
	"context"
	"encoding/json"
	"fmt"

	"fairlead/gateway/approval"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
)

func (s Questions) register(all methods) {
	handle(all, protocol.QuestionList, query(func(ctx context.Context) (protocol.QuestionListResult, error) {
		open, err := s.Queue.Pending(ctx)
		return protocol.QuestionListResult{Questions: list(open)}, err
	}))
	handle(all, protocol.QuestionGet, plain(func(ctx context.Context, p protocol.QuestionParams) (protocol.Question, error) {
		return s.Queue.Get(ctx, p.ID)
	}))
	handle(all, protocol.QuestionAnswer, func(ctx context.Context, r *request, p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
		return s.Queue.Answer(ctx, r.conn.peer().principal, p)
	})
	handle(all, protocol.QuestionAll, func(ctx context.Context, r *request, p protocol.QuestionAnswerAllParams) (protocol.QuestionAnswerAllResult, error) {
		return s.Queue.AnswerAll(ctx, r.conn.peer().principal, p)
	})
	handle(all, protocol.QuestionShown, withAck(func(ctx context.Context, _ string, p protocol.QuestionShownParams) error {
		return s.Display.Shown(ctx, p)
	}))
	handle(all, protocol.QuestionSnooze, withAck(func(ctx context.Context, _ string, p protocol.QuestionSnoozeParams) error {
		return s.Display.Snooze(ctx, p)
	}))
}

// ruleMethods are the methods for rules, which are tried on the calls of the past.
type ruleMethods struct {
	rules     *approval.Rules
	questions Queue
	journal   Journal
	nodes     *nodes.Hub
}

func (s ruleMethods) register(all methods) {
	handle(all, protocol.RulesList, query(s.rules.All))
	handle(all, protocol.QuestionUndo, withCaller(func(ctx context.Context, by string, p protocol.QuestionParams) (protocol.QuestionUndoResult, error) {
		return s.rules.Undo(ctx, by, p.ID)
	}))
	handle(all, protocol.RulePut, withCaller(s.rules.Put).requires("policy", func(p protocol.RulePutParams) string { return string(p.Policy) }))
	handle(all, protocol.RuleDelete, withAck(func(ctx context.Context, by string, p protocol.RuleParams) error {
		return s.rules.Delete(ctx, by, p.ID)
	}))
	handle(all, protocol.RuleRestore, withAck(func(ctx context.Context, by string, p protocol.RuleParams) error {
		return s.rules.Restore(ctx, by, p.ID)
	}))
	handle(all, protocol.RuleTry, plain(s.tryRule))
	handle(all, protocol.RulesSave, query(s.rules.Export))
	handle(all, protocol.RulesImport, withCaller(s.rules.Import).requires("file", func(p protocol.RulesImportParams) string { return string(p.File) }))
}

// maxTryCalls is the number of recent calls on which a rule is tried.
const maxTryCalls = 1000

func (s ruleMethods) tryRule(ctx context.Context, p protocol.RuleTryParams) (protocol.RuleTryResult, error) {
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
	calls, _, err := s.journal.List(ctx, protocol.JournalListParams{Limit: maxTryCalls})
	if err != nil {
		return protocol.RuleTryResult{}, err
	}
	var entries []protocol.JournalEntry
	for _, c := range calls {
		entries = append(entries, journalEntry(c))
	}
	host := func(id protocol.NodeID) *protocol.HostInfo {
		n, _ := s.nodes.Node(id)
		return n.Host
	}
	return s.rules.Try(entries, host, p)
}

func (s ruleMethods) offeredRule(ctx context.Context, p protocol.RuleTryParams) (json.RawMessage, error) {
	open, err := s.questions.Pending(ctx)
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
