// Package approval holds the pending approvals, and the rules and grants that the person has saved.
// Package policy decides which calls need an approval.
//
// An approval is a database row. It stays pending until exactly one thing closes it: an answer (the
// first one wins, from whichever window), its expiry, or the end of its run. It survives a restart:
// its run asks again under the same ID. The preview is hashed, an answer must carry that hash, and
// the call that runs is compared with it. See docs/protocol.md#questions.
//
// An unattended run (of a schedule, or of a stranger on a channel) waits for one approval only.
// After one of its approvals has expired, its later ones expire immediately.
package approval

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// Store saves approvals. Change changes a pending approval in one transaction.
type Store interface {
	Put(ctx context.Context, a protocol.Question, grant *store.Grant) error
	Change(ctx context.Context, id protocol.QuestionID, change func(*protocol.Question) bool, rules ...store.RuleChange) (a protocol.Question, changed bool, err error)
	Get(ctx context.Context, id protocol.QuestionID) (protocol.Question, error)
	Pending(ctx context.Context) ([]protocol.Question, error)
	Unanswered(ctx context.Context, run protocol.RunID) (bool, error)
}

// Manager holds the pending approvals. It is safe for concurrent use.
type Manager struct {
	store Store
	rules *Rules
	bus   *event.Bus
	// notify shows an approval outside the windows; may be nil.
	notify func(ctx context.Context, a protocol.Question) error

	mu      sync.Mutex // guards waiting
	waiting map[protocol.QuestionID]*waiter
}

// New returns a manager. An answer saves the rules that it chose in rules. notify shows an approval
// that nobody has seen in any window outside of them, for example on a channel; it may block, and is
// nil when there is no such way.
func New(s Store, rules *Rules, bus *event.Bus, notify func(ctx context.Context, a protocol.Question) error) *Manager {
	return &Manager{store: s, rules: rules, bus: bus, notify: notify, waiting: make(map[protocol.QuestionID]*waiter)}
}

// Ask requests an approval and waits until it is closed in any way; see the result's State. limit
// is the time until it expires, 0 means never. A preset ID resumes an approval of an earlier start:
// its time starts anew, and if it has been answered meanwhile, Ask returns that answer at once.
// When ctx ends, the approval is cancelled, unless the cause is [tool.ErrSuspended]; then it stays
// pending and the error is ctx's cause. put, if not nil, is called once the approval is stored and
// published; it is not called if the approval was answered before or expires at once, see
// expireUnattended.
func (m *Manager) Ask(ctx context.Context, a protocol.Question, limit time.Duration, put func()) (protocol.Question, error) {
	return m.AskWith(ctx, a, nil, limit, put)
}

// AskWith is Ask for an approval that can be allowed for its chat, which saves grant.
func (m *Manager) AskWith(ctx context.Context, a protocol.Question, grant *store.Grant, limit time.Duration, put func()) (protocol.Question, error) {
	now := time.Now()
	a.ID = cmp.Or(a.ID, protocol.QuestionID(protocol.NewID()))
	a.State = protocol.QuestionPending
	a.CreatedAt = cmp.Or(a.CreatedAt, now.UnixMilli())
	var expired <-chan time.Time
	if limit > 0 {
		a.ExpiresAt = now.Add(limit).UnixMilli()
		timer := time.NewTimer(limit)
		defer timer.Stop()
		expired = timer.C
	}
	var err error
	if a.Hash, err = hashOf(a); err != nil {
		return a, err
	}
	w := &waiter{answers: make(chan protocol.Question, 1)}
	m.mu.Lock()
	m.waiting[a.ID] = w // before the row is read: from here on an answer reaches us
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.waiting, a.ID)
		w.stopSnooze()
	}()
	old, err := m.store.Get(ctx, a.ID)
	switch {
	case err != nil:
		if gone, err := m.expireUnattended(ctx, &a); gone || err != nil {
			return a, err
		}
	case old.State != protocol.QuestionPending:
		return old, nil
	case old.Later > now.UnixMilli():
		a.Later = old.Later // a restart does not shorten a snooze
		m.scheduleEnd(a.ID, a.Later)
	}
	if err := m.store.Put(ctx, a, grant); err != nil {
		return a, err
	}
	m.publish(a)
	if put != nil {
		put()
	}
	watch, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg crash.Group
	defer wg.Wait()
	defer stop()
	wg.Go(func() { m.escalate(watch, a.ID) })
	return m.await(ctx, a, w, expired)
}

// await waits until an approval is answered or expires, or ctx ends, and closes it.
func (m *Manager) await(ctx context.Context, a protocol.Question, w *waiter, expired <-chan time.Time) (protocol.Question, error) {
	end := a
	select {
	case end := <-w.answers:
		return end, nil
	case <-expired:
		end.State, end.AnsweredBy = protocol.QuestionExpired, answeredByNobody
	case <-ctx.Done():
		cause := context.Cause(ctx)
		if errors.Is(cause, tool.ErrSuspended) {
			return a, cause
		}
		end.State, end.AnsweredBy = protocol.QuestionCancelled, "its run"
	}
	// Someone may have answered at the same moment: the first to close the row wins.
	end, _, err := m.resolve(context.WithoutCancel(ctx), end)
	return end, err
}

// resolve closes an approval, together with the rules that its answer saves. It returns the closed
// one, and whether end is what closed it.
func (m *Manager) resolve(ctx context.Context, end protocol.Question, rules ...store.RuleChange) (protocol.Question, bool, error) {
	end.AnsweredAt, end.Later = time.Now().UnixMilli(), 0
	_, won, err := m.store.Change(ctx, end.ID, func(a *protocol.Question) bool {
		end.Shown, end.SurfaceShown, end.ShownAt, end.Unseen = a.Shown, a.SurfaceShown, a.ShownAt, a.Unseen
		*a = end
		return true
	}, rules...)
	if err != nil {
		return end, false, err
	}
	if !won {
		now, err := m.store.Get(ctx, end.ID)
		return now, false, err
	}
	m.mu.Lock()
	w := m.waiting[end.ID]
	delete(m.waiting, end.ID)
	m.mu.Unlock()
	if w != nil {
		w.answers <- end // capacity 1, and only the winner sends
	}
	m.publish(end)
	return end, true, nil
}

func (m *Manager) publish(a protocol.Question) {
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeQuestion, SessionKey: a.SessionKey, Question: &a})
}

// Review checks the pending approvals again after the rules have changed. Those for which decided
// returns true are closed as superseded, and their callers decide again.
func (m *Manager) Review(ctx context.Context, decided func(protocol.Question) bool) error {
	return m.closePending(ctx, protocol.QuestionSuperseded, "the rules", func(a protocol.Question) bool {
		return a.Kind == protocol.AskCall && decided(a)
	})
}

// Withdraw closes an approval that is no longer needed, if it is still pending.
func (m *Manager) Withdraw(ctx context.Context, id protocol.QuestionID) error {
	a, err := m.store.Get(ctx, id)
	if err != nil || a.State != protocol.QuestionPending {
		return err
	}
	a.State, a.AnsweredBy = protocol.QuestionCancelled, "its call"
	_, _, err = m.resolve(ctx, a)
	return err
}

// Pending returns the pending approvals, oldest first.
func (m *Manager) Pending(ctx context.Context) ([]protocol.Question, error) {
	return m.store.Pending(ctx)
}

// CancelOrphans cancels the approvals of earlier starts that no run is waiting for.
func (m *Manager) CancelOrphans(ctx context.Context, keep func(protocol.Question) bool) error {
	isOrphan := func(a protocol.Question) bool { return !keep(a) }
	return m.closePending(ctx, protocol.QuestionCancelled, "a restart", isOrphan)
}

// closePending closes the pending approvals for which chosen returns true.
func (m *Manager) closePending(ctx context.Context, state, by string, chosen func(protocol.Question) bool) error {
	list, err := m.store.Pending(ctx)
	if err != nil {
		return err
	}
	for _, a := range slices.DeleteFunc(list, func(a protocol.Question) bool { return !chosen(a) }) {
		a.State, a.AnsweredBy = state, by
		if _, _, err := m.resolve(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// hashOf returns the hash of everything that identifies the call, see protocol.CallHash.
func hashOf(a protocol.Question) (string, error) {
	return protocol.CallHash(a.Kind, a.Node, a.Tool, a.Args, a.Preview, a.Policy)
}

// answeredByNobody is the AnsweredBy of an expired approval.
const answeredByNobody = "nobody"

// reasonUnattended is the reason of an approval that expired at once, as the one before had.
const reasonUnattended = "nobody answered the question before"

// expireUnattended closes an approval that need not be shown, and stores it. A run that nobody may
// be there to answer waits at its first approval until that is answered or expires. After an
// expiry, its later approvals expire immediately; otherwise each step of the run would wait as long
// again and block its job and its chat for hours. The run continues, because it can still do what
// needs no approval and report the rest. An answer in between shows that somebody is there.
func (m *Manager) expireUnattended(ctx context.Context, a *protocol.Question) (bool, error) {
	if a.RunID == "" || !a.AskedBy.IsUnattended() {
		return false, nil
	}
	gone, err := m.store.Unanswered(ctx, a.RunID)
	if err != nil || !gone {
		return false, err
	}
	a.State, a.AnsweredBy, a.Reason = protocol.QuestionExpired, answeredByNobody, reasonUnattended
	a.ExpiresAt, a.AnsweredAt = a.CreatedAt, a.CreatedAt
	if err := m.store.Put(context.WithoutCancel(ctx), *a, nil); err != nil {
		return true, err
	}
	m.publish(*a)
	return true, nil
}
