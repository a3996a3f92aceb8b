package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// waiter is a caller that waits for its approval.
type waiter struct {
	answers chan protocol.Question // capacity 1
	snooze  *time.Timer            // ends the snooze; nil if there was none; guarded by Manager.mu
}

// Snooze postpones pending approvals, or ends their snooze, and publishes both ends.
func (m *Manager) Snooze(ctx context.Context, p protocol.QuestionSnoozeParams) error {
	switch {
	case len(p.IDs) == 0 || len(p.IDs) > protocol.MaxAnswers:
		return protocol.ErrBadRequest.With(fmt.Sprintf("between 1 and %d approvals can be postponed at once, not %d", protocol.MaxAnswers, len(p.IDs)))
	case p.For < 0 || p.For > protocol.MaxSnooze:
		return protocol.ErrBadRequest.With("an approval can be postponed by at most one day")
	}
	until := int64(0)
	if p.For > 0 {
		until = time.Now().UnixMilli() + p.For
	}
	var errs []error
	for _, id := range p.IDs {
		errs = append(errs, m.setSnooze(ctx, id, func(int64) int64 { return until }))
	}
	return errors.Join(errs...)
}

// setSnooze changes the end of an approval's snooze.
func (m *Manager) setSnooze(ctx context.Context, id protocol.QuestionID, until func(was int64) int64) error {
	a, changed, err := m.store.Change(ctx, id, func(a *protocol.Question) bool {
		was := a.Later
		a.Later = until(was)
		return a.Later != was
	})
	if err != nil || !changed {
		return err
	}
	m.scheduleEnd(id, a.Later)
	m.publish(a)
	return nil
}

// scheduleEnd ends an approval's snooze at the given time instead of an earlier one; 0 means never.
func (m *Manager) scheduleEnd(id protocol.QuestionID, until int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.waiting[id]
	if w == nil {
		return
	}
	w.stopSnooze()
	if until == 0 {
		return
	}
	w.snooze = crash.AfterFunc(time.Until(time.UnixMilli(until)), func() {
		err := m.setSnooze(context.Background(), id, func(was int64) int64 {
			if was == until {
				return 0
			}
			return was // it was postponed again
		})
		if err != nil {
			slog.Error("Ending a snooze failed", "approval", id, "err", err)
		}
	})
}

func (w *waiter) stopSnooze() {
	if w.snooze != nil {
		w.snooze.Stop()
	}
}

// ShownWithin is the time in which a surface must acknowledge that it shows an approval. After it,
// the next surface is tried. See approval.shown in docs/protocol.md#questions.
const ShownWithin = 3 * time.Second

// maxUnseen is the last escalation level: windows acknowledge by themselves, at 1 everyone who can
// notify the person does so, at 2 the channels are tried.
const maxUnseen = 2

// Shown records that a surface shows the approval. The first acknowledgement counts.
func (m *Manager) Shown(ctx context.Context, p protocol.QuestionShownParams) error {
	p.Surface = cmp.Or(p.Surface, protocol.SurfaceWindow)
	a, changed, err := m.store.Change(ctx, p.ID, func(a *protocol.Question) bool {
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

// escalate tries the surfaces one by one until one shows the approval, or ctx ends.
func (m *Manager) escalate(ctx context.Context, id protocol.QuestionID) {
	for range maxUnseen {
		select {
		case <-time.After(ShownWithin):
		case <-ctx.Done():
			return
		}
		a, changed, err := m.store.Change(ctx, id, func(a *protocol.Question) bool {
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
