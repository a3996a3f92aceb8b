package question

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// Display records where and when the questions are shown, and brings those back that the person has
// snoozed. It is safe for concurrent use.
type Display struct {
	store Store
	bus   *event.Bus

	mu      sync.Mutex // guards snoozed
	snoozed map[protocol.QuestionID]*time.Timer
}

// Snooze postpones pending questions, or ends their snooze, and publishes both ends.
func (d *Display) Snooze(ctx context.Context, p protocol.QuestionSnoozeParams) error {
	switch {
	case len(p.IDs) == 0 || len(p.IDs) > protocol.MaxAnswers:
		return protocol.ErrBadRequest.With(fmt.Sprintf("between 1 and %d questions can be postponed at once, not %d", protocol.MaxAnswers, len(p.IDs)))
	case p.For < 0 || p.For > protocol.MaxSnooze:
		return protocol.ErrBadRequest.With("a question can be postponed by at most one day")
	}
	until := int64(0)
	if p.For > 0 {
		until = time.Now().UnixMilli() + p.For
	}
	var errs []error
	for _, id := range p.IDs {
		errs = append(errs, d.setSnooze(ctx, id, func(int64) int64 { return until }))
	}
	return errors.Join(errs...)
}

// setSnooze changes the end of a question's snooze.
func (d *Display) setSnooze(ctx context.Context, id protocol.QuestionID, until func(was int64) int64) error {
	q, changed, err := d.store.Change(ctx, id, func(q *protocol.Question) bool {
		was := q.Later
		q.Later = until(was)
		return q.Later != was
	})
	if err != nil || !changed {
		return err
	}
	d.scheduleEnd(id, q.Later)
	d.publish(q)
	return nil
}

// scheduleEnd ends a question's snooze at the given time instead of an earlier one; 0 means never.
func (d *Display) scheduleEnd(id protocol.QuestionID, until int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopLocked(id)
	if until == 0 {
		return
	}
	d.snoozed[id] = crash.AfterFunc(time.Until(time.UnixMilli(until)), func() {
		err := d.setSnooze(context.Background(), id, func(was int64) int64 {
			if was == until {
				return 0
			}
			return was // it was postponed again
		})
		if err != nil {
			slog.Error("Ending a snooze failed", "question", id, "err", err)
		}
	})
}

// forget ends what is known of a question that is closed.
func (d *Display) forget(id protocol.QuestionID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopLocked(id)
}

func (d *Display) stopLocked(id protocol.QuestionID) {
	if t := d.snoozed[id]; t != nil {
		t.Stop()
		delete(d.snoozed, id)
	}
}

func (d *Display) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.snoozed {
		d.stopLocked(id)
	}
}

func (d *Display) publish(q protocol.Question) {
	d.bus.Publish(protocol.Change{Kind: protocol.ChangeQuestion, SessionKey: q.SessionKey, Question: &q})
}

// ShownWithin is the time in which a surface must acknowledge that it shows a question. After it,
// the next surface is tried. See question.shown in docs/protocol.md#questions.
const ShownWithin = 3 * time.Second

// Shown records that a surface shows the question. The first acknowledgement counts.
func (d *Display) Shown(ctx context.Context, p protocol.QuestionShownParams) error {
	p.Surface = cmp.Or(p.Surface, protocol.SurfaceWindow)
	q, changed, err := d.store.Change(ctx, p.ID, func(q *protocol.Question) bool {
		if q.Shown {
			return false
		}
		q.Shown, q.SurfaceShown, q.ShownAt = true, p.Surface, time.Now().UnixMilli()
		return true
	})
	if changed {
		d.publish(q)
	}
	return err
}

// escalate publishes each time that no surface has shown the question in time, so that the next ones
// are tried, until one shows it or ctx ends.
func (d *Display) escalate(ctx context.Context, id protocol.QuestionID) {
	for range protocol.MaxUnseen {
		select {
		case <-time.After(ShownWithin):
		case <-ctx.Done():
			return
		}
		q, changed, err := d.store.Change(ctx, id, func(q *protocol.Question) bool {
			if q.Shown || q.Unseen >= protocol.MaxUnseen {
				return false
			}
			q.Unseen++
			return true
		})
		if err != nil {
			if ctx.Err() == nil {
				slog.Error("Recording an unseen question failed", "question", id, "err", err)
			}
			return
		}
		if !changed {
			return
		}
		d.publish(q)
	}
}
