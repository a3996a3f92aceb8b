package approval

import (
	"context"

	"fairlead/gateway/protocol"
)

// Review looks at the open questions again after the rules have changed. Those that decided names as decided end as superseded, and who asked them
// decides anew.
func (g *Gate) Review(ctx context.Context, decided func(protocol.Approval) bool) error {
	list, err := g.store.PendingApprovals(ctx)
	if err != nil {
		return err
	}
	for _, a := range list {
		if a.Kind != protocol.AskCall || !decided(a) {
			continue
		}
		a.State, a.AnsweredBy = protocol.ApprovalSuperseded, "the rules"
		if _, _, err := g.resolve(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// Pending lists the open questions, oldest first.
func (g *Gate) Pending(ctx context.Context) ([]protocol.Approval, error) {
	return g.store.PendingApprovals(ctx)
}

// CancelOrphans ends the questions of earlier starts that no run asks any more.
func (g *Gate) CancelOrphans(ctx context.Context, keep func(protocol.Approval) bool) error {
	list, err := g.store.PendingApprovals(ctx)
	if err != nil {
		return err
	}
	for _, a := range list {
		if keep(a) {
			continue
		}
		a.State, a.AnsweredBy = protocol.ApprovalCancelled, "a restart"
		if _, _, err := g.resolve(ctx, a); err != nil {
			return err
		}
	}
	return nil
}
