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

// lastUnseen is the last escalation level: windows acknowledge by themselves, at 1 everyone who can
// notify the person does so, at 2 the channels are tried.
const lastUnseen = 2

// Shown records that a surface shows the approval. The first acknowledgement counts.
func (g *Gate) Shown(ctx context.Context, p protocol.ApprovalShownParams) error {
	if p.Surface == "" {
		p.Surface = protocol.SurfaceWindow
	}
	a, changed, err := g.store.ChangeApproval(ctx, p.ID, func(a *protocol.Approval) bool {
		if a.Shown {
			return false
		}
		a.Shown, a.SurfaceShown, a.ShownAt = true, p.Surface, time.Now().UnixMilli()
		return true
	})
	if changed {
		g.publish(a)
	}
	return err
}

// proveShown tries one surface after the other until one acknowledges that it shows the approval.
// It returns when ctx ends.
func (g *Gate) proveShown(ctx context.Context, id protocol.ApprovalID) {
	for range lastUnseen {
		select {
		case <-time.After(ShownWithin):
		case <-ctx.Done():
			return
		}
		a, changed, err := g.store.ChangeApproval(ctx, id, func(a *protocol.Approval) bool {
			if a.Shown || a.Unseen >= lastUnseen {
				return false
			}
			a.Unseen++
			return true
		})
		if err != nil {
			if ctx.Err() == nil {
				slog.Error("It could not be recorded that nobody has seen a question", "approval", id, "err", err)
			}
			return
		}
		if !changed {
			return
		}
		g.publish(a)
		if a.Unseen < lastUnseen || g.remind == nil {
			continue
		}
		if err := g.remind(ctx, a); err != nil && ctx.Err() == nil {
			slog.Warn("A question that nobody has seen could not be sent on", "approval", id, "err", err)
		}
	}
}
