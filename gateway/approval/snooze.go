package approval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/protocol"
)

// waiter is a caller that waits for its approval.
type waiter struct {
	ended chan protocol.Approval // capacity 1
	later chan int64             // capacity 1: the newest end of the snooze
}

// put publishes the end of the snooze. The caller holds the gate's mu, so it never blocks.
func (w *waiter) put(until int64) {
	select {
	case <-w.later: // outdated
	default:
	}
	w.later <- until
}

// Snooze postpones pending approvals, or ends their snooze. It publishes the change, and another
// when the time is over.
func (g *Gate) Snooze(ctx context.Context, p protocol.ApprovalSnoozeParams) error {
	switch {
	case len(p.IDs) == 0 || len(p.IDs) > protocol.MaxAnswers:
		return protocol.ErrBadRequest.With(fmt.Sprintf("between 1 and %d questions can be put off at once, not %d", protocol.MaxAnswers, len(p.IDs)))
	case p.For < 0 || p.For > protocol.MaxSnooze:
		return protocol.ErrBadRequest.With("a question can be put off for a day at most")
	}
	until := int64(0)
	if p.For > 0 {
		until = time.Now().UnixMilli() + p.For
	}
	var errs []error
	for _, id := range p.IDs {
		errs = append(errs, g.putOff(ctx, id, func(int64) int64 { return until }))
	}
	return errors.Join(errs...)
}

// putOff changes the end of an approval's snooze.
func (g *Gate) putOff(ctx context.Context, id protocol.ApprovalID, until func(was int64) int64) error {
	a, changed, err := g.store.ChangeApproval(ctx, id, func(a *protocol.Approval) bool {
		was := a.Later
		a.Later = until(was)
		return a.Later != was
	})
	if err != nil || !changed {
		return err
	}
	g.mu.Lock()
	if w := g.waiting[id]; w != nil {
		w.put(a.Later)
	}
	g.mu.Unlock()
	g.publish(a)
	return nil
}

// bringBack ends an approval's snooze when its time is over. It returns when ctx ends.
func (g *Gate) bringBack(ctx context.Context, id protocol.ApprovalID, later <-chan int64) {
	var due <-chan time.Time
	var until int64
	for {
		select {
		case until = <-later:
			if due = nil; until > 0 {
				due = time.After(time.Until(time.UnixMilli(until)))
			}
		case <-due:
			due = nil
			err := g.putOff(ctx, id, func(was int64) int64 {
				if was == until {
					return 0
				}
				return was // it was postponed again
			})
			if err != nil && ctx.Err() == nil {
				slog.Error("A question could not be brought back", "approval", id, "err", err)
			}
		case <-ctx.Done():
			return
		}
	}
}
