package approval

import (
	"context"
	"log/slog"
	"time"

	"fairlead/gateway/protocol"
)

// ShownWithin is the time in which a surface must acknowledge that it shows an approval. After it,
// the next surface is tried. See approval.shown in docs/protocol.md#approvals.
const ShownWithin = 3 * time.Second

// maxUnseen is the last escalation level: windows acknowledge by themselves, at 1 everyone who can
// notify the person does so, at 2 the channels are tried.
const maxUnseen = 2

// Shown records that a surface shows the approval. The first acknowledgement counts.
func (m *Manager) Shown(ctx context.Context, p protocol.ApprovalShownParams) error {
	if p.Surface == "" {
		p.Surface = protocol.SurfaceWindow
	}
	a, changed, err := m.store.Change(ctx, p.ID, func(a *protocol.Approval) bool {
		if a.Shown {
			return false
		}
		a.Shown, a.SurfaceShown, a.ShownAt = true, p.Surface, time.Now().UnixMilli()
		return true
	})
	if changed {
		m.publish(a)
	}
	return err
}

// escalate tries one surface after the other until one acknowledges that it shows the approval.
// It returns when ctx ends.
func (m *Manager) escalate(ctx context.Context, id protocol.ApprovalID) {
	for range maxUnseen {
		select {
		case <-time.After(ShownWithin):
		case <-ctx.Done():
			return
		}
		a, changed, err := m.store.Change(ctx, id, func(a *protocol.Approval) bool {
			if a.Shown || a.Unseen >= maxUnseen {
				return false
			}
			a.Unseen++
			return true
		})
		if err != nil {
			if ctx.Err() == nil {
				slog.Error("Recording an unseen approval failed", "approval", id, "err", err)
			}
			return
		}
		if !changed {
			return
		}
		m.publish(a)
		if a.Unseen < maxUnseen || m.notify == nil {
			continue
		}
		if err := m.notify(ctx, a); err != nil && ctx.Err() == nil {
			slog.Warn("Sending an unseen approval to a channel failed", "approval", id, "err", err)
		}
	}
}
