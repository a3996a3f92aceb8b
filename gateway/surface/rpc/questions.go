package rpc

import (
	"context"
	"encoding/json"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// questions registers the methods for approvals.
func (s *Server) questions(all map[string]handler) {
	handle(all, protocol.ApprovalList, func(ctx context.Context, _ *Conn, _ protocol.Empty) (protocol.ApprovalListResult, error) {
		open, err := s.s.Approvals.Pending(ctx)
		return protocol.ApprovalListResult{Approvals: list(open)}, err
	})
	handle(all, protocol.ApprovalAnswer, func(ctx context.Context, c *Conn, p protocol.ApprovalAnswerParams) (protocol.ApprovalAnswerResult, error) {
		if err := mayEdit(c.who(), p.Args); err != nil {
			return protocol.ApprovalAnswerResult{}, err
		}
		return s.s.Approvals.Answer(ctx, c.who().String(), p)
	})
	handle(all, protocol.ApprovalShown, func(ctx context.Context, _ *Conn, p protocol.ApprovalShownParams) (protocol.OK, error) {
		return protocol.OK{OK: true}, s.s.Approvals.Shown(ctx, p)
	})
	handle(all, protocol.ApprovalSnooze, func(ctx context.Context, _ *Conn, p protocol.ApprovalSnoozeParams) (protocol.OK, error) {
		return protocol.OK{OK: true}, s.s.Approvals.Snooze(ctx, p)
	})
	handle(all, protocol.ApprovalAll, func(ctx context.Context, c *Conn, p protocol.ApprovalAnswerAllParams) (protocol.ApprovalAnswerAllResult, error) {
		if err := mayEdit(c.who(), p.Args); err != nil {
			return protocol.ApprovalAnswerAllResult{}, err
		}
		return s.s.Approvals.AnswerAll(ctx, c.who().String(), p)
	})
}

// mayEdit refuses replaced arguments from a peer that could not run such a call directly: the
// edited call is a direct action of the person and needs no approval.
func mayEdit(who auth.Principal, args json.RawMessage) error {
	if len(args) > 0 && !who.Has(protocol.ScopeInvoke) {
		return protocol.ErrForbidden.With("this device may answer questions, but run nothing itself: allow the call as it is, or deny it")
	}
	return nil
}
