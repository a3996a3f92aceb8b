package transfer

import (
	"context"
	"errors"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// mover does the work of a job, one at a time: it moves the files, and asks the destination to
// restore or remove some.
type mover struct {
	services *services
	live     *live
	begin    func(context.Context) error // asks the owner of the job to store that an attempt runs
	startup  map[string]bool             // start-up files that may arrive
}

// runAttempt makes one attempt, if the rules allow it.
func (m *mover) runAttempt(ctx context.Context, res *result) error {
	if err := m.checkRules(ctx); err != nil {
		return err
	}
	switch err := m.begin(ctx); {
	case errors.Is(err, errPaused), err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		return unstoredError{err}
	}
	out, err := m.attempt(ctx)
	res.out = out
	return err
}

// checkRules asks for permission again if the rules changed while the transfer waited. That a
// person's transfer continues after a restart is recorded in the same way. Both are added to the
// journal entry of the call that has allowed it.
func (m *mover) checkRules(ctx context.Context) error {
	judge := m.services.judge
	now := judge.version()
	m.live.mu.Lock()
	continued := m.live.isContinued && isPersonal(m.live.row.Transfer)
	m.live.isContinued = false
	t := m.live.row
	m.live.needsApproval = t.Policy != now || continued
	needed := m.live.needsApproval
	m.live.mu.Unlock()
	if !needed {
		return nil
	}
	m.services.queue.Wake() // it does not count as running now
	if !continued {
		m.live.update(func(row *store.Transfer) { row.Error = "The rules changed while it waited: it needs approval again" })
	}
	call, err := judge.again(ctx, principalOf(t.Transfer), t.Transfer, t.CreatedAt < judge.startedAt, t.Allowed)
	m.live.mu.Lock()
	defer m.live.mu.Unlock()
	m.live.needsApproval = false
	switch {
	case err == nil:
		m.live.row.Policy, m.live.row.Allowed = now, call
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case protocol.ErrStorage.Is(err):
		return unstoredError{err}
	}
	return final("%s", err)
}

// discard asks the destination of a transfer that has ended to remove unfinished files, if the
// destination is connected.
func (m *mover) discard(ctx context.Context, _ *result) error {
	m.live.mu.Lock()
	row, window := m.live.row, m.live.window
	m.live.mu.Unlock()
	m.services.ends.discard(ctx, row, window)
	return nil
}

// restore asks the destination to restore the replaced files, until the caller of the undo leaves.
func (m *mover) restore(ctx, caller context.Context, res *result) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer crash.WhenDone(caller, func() { cancel(context.Cause(caller)) })()
	m.live.mu.Lock()
	row, window := m.live.row, m.live.window
	m.live.mu.Unlock()
	res.undone, err = m.services.ends.undo(ctx, row, window)
	return err
}

// attempt moves the files once. Errors: offlineError for an end that is offline, *finalError,
// errStall, or ctx's cause.
func (m *mover) attempt(ctx context.Context) (out outcome, err error) {
	m.live.mu.Lock()
	row, window := m.live.row, m.live.window
	m.live.mu.Unlock()
	src, releaseSrc, err := m.services.ends.connect(row.From, "Source", row, window)
	if err != nil {
		return out, err
	}
	defer releaseSrc()
	dst, releaseDst, err := m.services.ends.connect(row.To, "Destination", row, window)
	if err != nil {
		return out, err
	}
	defer releaseDst()
	simple := !src.isFairlead || !dst.isFairlead
	m.live.update(func(row *store.Transfer) { row.Simple, row.Attempts = simple, row.Attempts+1 })
	if simple {
		s := &basicTransfer{mover: m, src: src, dst: dst, t: m.live.view(), written: make(map[string]bool)}
		return s.run(ctx)
	}
	a := newAttempt(m, src, dst)
	return a.exchange(ctx, a.run)
}
