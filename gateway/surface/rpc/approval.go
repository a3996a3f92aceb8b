package rpc

import (
	"context"
	"encoding/json"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// approvalMethods are the methods for approvals.
type approvalMethods struct{ approvals Approvals }

func (m approvalMethods) register(all methods) {
	handle(all, protocol.ApprovalList, func(ctx context.Context, _ *request, _ protocol.Empty) (protocol.ApprovalListResult, error) {
		open, err := m.approvals.Pending(ctx)
		return protocol.ApprovalListResult{Approvals: list(open)}, err
	})
	handle(all, protocol.ApprovalAnswer, func(ctx context.Context, r *request, p protocol.ApprovalAnswerParams) (protocol.ApprovalAnswerResult, error) {
		if err := checkEditScope(r.conn.principal(), p.Args); err != nil {
			return protocol.ApprovalAnswerResult{}, err
		}
		return m.approvals.Answer(ctx, r.conn.principal().String(), p)
	})
	handle(all, protocol.ApprovalShown, func(ctx context.Context, _ *request, p protocol.ApprovalShownParams) (protocol.OK, error) {
		return protocol.OK{OK: true}, m.approvals.Shown(ctx, p)
	})
	handle(all, protocol.ApprovalSnooze, func(ctx context.Context, _ *request, p protocol.ApprovalSnoozeParams) (protocol.OK, error) {
		return protocol.OK{OK: true}, m.approvals.Snooze(ctx, p)
	})
	handle(all, protocol.ApprovalAll, func(ctx context.Context, r *request, p protocol.ApprovalAnswerAllParams) (protocol.ApprovalAnswerAllResult, error) {
		if err := checkEditScope(r.conn.principal(), p.Args); err != nil {
			return protocol.ApprovalAnswerAllResult{}, err
		}
		return m.approvals.AnswerAll(ctx, r.conn.principal().String(), p)
	})
}

// checkEditScope refuses replaced arguments from a peer that could not run such a call directly:
// the edited call is a direct action of the person and needs no approval.
func checkEditScope(who auth.Principal, args json.RawMessage) error {
	if len(args) > 0 && !who.Has(protocol.ScopeInvoke) {
		return protocol.ErrForbidden.With("this device may answer questions, but run nothing itself: allow the call as it is, or deny it")
	}
	return nil
}
