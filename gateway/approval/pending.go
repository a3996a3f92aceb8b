package approval

import (
	"context"

	"fairlead/gateway/protocol"
)

// Review checks the pending approvals again after the rules have changed. Those for which decided
// returns true are closed as superseded, and their callers decide again.
func (m *Manager) Review(ctx context.Context, decided func(protocol.Approval) bool) error {
	list, err := m.store.Pending(ctx)
	if err != nil {
		return err
	}
	for _, a := range list {
		if a.Kind != protocol.AskCall || !decided(a) {
			continue
		}
		a.State, a.AnsweredBy = protocol.ApprovalSuperseded, "the rules"
		if _, _, err := m.resolve(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// Withdraw closes an approval that is no longer needed, if it is still pending.
func (m *Manager) Withdraw(ctx context.Context, id protocol.ApprovalID) error {
	a, err := m.store.Get(ctx, id)
	if err != nil || a.State != protocol.ApprovalPending {
		return err
	}
	a.State, a.AnsweredBy = protocol.ApprovalCancelled, "its call"
	_, _, err = m.resolve(ctx, a)
	return err
}

// Pending returns the pending approvals, oldest first.
func (m *Manager) Pending(ctx context.Context) ([]protocol.Approval, error) {
	return m.store.Pending(ctx)
}

// CancelOrphans cancels the approvals of earlier starts that no run is waiting for.
func (m *Manager) CancelOrphans(ctx context.Context, keep func(protocol.Approval) bool) error {
	list, err := m.store.Pending(ctx)
	if err != nil {
		return err
	}
	for _, a := range list {
		if keep(a) {
			continue
		}
		a.State, a.AnsweredBy = protocol.ApprovalCancelled, "a restart"
		if _, _, err := m.resolve(ctx, a); err != nil {
			return err
		}
	}
	return nil
}
