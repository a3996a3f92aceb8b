package transfer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// startReady starts the queued transfers that can run, and ends the expired ones.
func (e *Engine) startReady() {
	now := time.Now()
	e.mu.Lock()
	running, busy := 0, make(map[protocol.NodeID]bool)
	var expired, ready []*job
	for _, j := range e.order {
		if j.cancel != nil && !j.needsApproval {
			running++
			busy[j.row.To] = true
		}
	}
	for _, j := range e.order {
		switch t := &j.row; {
		case j.cancel != nil || e.closed || t.State != protocol.TransferQueued && t.State != protocol.TransferWaiting:
		case j.isExpiredLocked(now):
			expired = append(expired, j)
		case (running < maxRunning || !busy[t.To]) && j.waitReason() == "":
			running++
			busy[t.To] = true
			ready = append(ready, j)
		}
	}
	for _, j := range ready {
		j.ownLocked(j.run)
	}
	for _, j := range expired {
		j.ownLocked(func(context.Context) (outcome, error) {
			return outcome{}, final("It expired: the machine did not come back in time")
		})
	}
	e.mu.Unlock()
}

// isExpiredLocked reports whether a job has waited for too long. It checks the wall clock, which
// advances while the machine sleeps or the gateway is off, and the monotonic clock, which nobody
// can set back. The caller must hold e.mu.
func (j *job) isExpiredLocked(now time.Time) bool {
	if j.row.ExpiresAt == 0 {
		return false
	}
	left := time.UnixMilli(j.row.ExpiresAt).Sub(now)
	if j.expiryOf != j.row.ExpiresAt {
		j.expiryOf, j.monotonicExpiry = j.row.ExpiresAt, now.Add(left)
	}
	return left <= 0 || !now.Before(j.monotonicExpiry)
}

// waitReason returns the reason for waiting, or "" if both ends are connected. The caller must hold
// e.mu.
func (j *job) waitReason() string {
	e := j.e
	for _, id := range []protocol.NodeID{j.row.From, j.row.To} {
		switch id {
		case protocol.NativePrefix:
		case protocol.Here:
			if !j.hasWindowLocked() {
				return windowText
			}
		default:
			if _, _, ok := e.machines.Link(id); !ok {
				return offlineText(id)
			}
		}
	}
	return ""
}

// hasWindowLocked reports whether the window or command line that is an end is connected. The
// caller must hold e.mu.
func (j *job) hasWindowLocked() bool {
	if j.here == nil {
		return false
	}
	select {
	case <-j.here.Gone():
		return false
	default:
		return true
	}
}

// ownLocked starts the goroutine that owns the job: it calls run and decides how the job continues.
// The caller must hold e.mu, and the job must have no owner.
func (j *job) ownLocked(run func(context.Context) (outcome, error)) {
	e := j.e
	ctx, cancel := context.WithCancelCause(e.ctx)
	stopped := make(chan struct{})
	j.cancel, j.stopped = cancel, stopped
	id, moved := j.row.ID, j.row.BytesDone
	e.wg.Go(func() {
		defer close(stopped)
		var out outcome
		err := crash.Call("transfer", func() (err error) {
			out, err = run(ctx)
			return err
		}, "transfer", id)
		cancel(nil)
		j.settle(out, err, moved)
	})
}

// run makes one attempt.
func (j *job) run(ctx context.Context) (out outcome, err error) {
	if err := j.checkRules(ctx); err != nil {
		return out, err
	}
	now := time.Now()
	err = j.change(func(row *store.Transfer) error {
		if row.State != protocol.TransferQueued && row.State != protocol.TransferWaiting {
			return errPaused // or cancelled
		}
		row.State, row.Error, row.Current = protocol.TransferRunning, "", ""
		if row.StartedAt == 0 {
			row.StartedAt = now.UnixMilli()
		}
		return nil
	})
	switch {
	case errors.Is(err, errPaused):
		return out, err
	case err != nil:
		return out, unstoredError{err}
	}
	return j.attempt(ctx)
}

// unstoredError is an error of the store. The transfer is tried again.
type unstoredError struct{ error }

// storeRetry is the time between attempts to store the end of a transfer.
const storeRetry = time.Second

// settle stores how a job continues after run. The job keeps its state, and its owner, until that is
// stored.
func (j *job) settle(out outcome, err error, moved int64) {
	e := j.e
	e.mu.Lock()
	j.speed = meter{}
	if errors.Is(err, errStall) && j.row.BytesDone <= moved {
		j.stalls++
	} else {
		j.stalls = 0
	}
	e.mu.Unlock()
	now := time.Now()
	next := func(row *store.Transfer) error {
		j.next(row, out, err, row.BytesDone > moved, now)
		return nil
	}
	for failed := j.change(next); failed != nil; failed = j.change(next) {
		slog.Error("Storing a transfer failed", "transfer", j.row.ID, "err", failed)
		j.update(func(t *protocol.Transfer) { t.Error = fmt.Sprintf("The result cannot be stored: %v", failed) })
		if _, stopped := wait(e.ctx, time.After(storeRetry)); stopped != nil {
			break
		}
	}
	e.mu.Lock()
	j.cancel = nil
	state := j.row.State
	j.leaveLocked()
	e.mu.Unlock()
	slog.Info("Transfer", "transfer", j.row.ID, "state", state, "err", err)
	e.Wake()
}

// next sets the state that follows an attempt, which ended with err and perhaps made progress. A
// request that was stored meanwhile is in the row already.
func (j *job) next(row *store.Transfer, out outcome, err error, progress bool, now time.Time) {
	setReplaced(&row.Transfer, out.done.Kept, now)
	row.Speed, row.ETA = 0, 0
	var away offlineError
	var unstored unstoredError
	var failed *finalError
	switch {
	case err == nil:
		complete(row, out, now)
	case row.State == protocol.TransferCancelled:
		end(row, protocol.TransferCancelled, "", now)
	case j.revoked != "":
		end(row, protocol.TransferFailed, j.revoked, now)
	case row.State == protocol.TransferPaused:
	case errors.Is(err, errPaused): // and resumed: it is queued again
	case errors.Is(err, errDirectLost):
		row.State, row.Error = protocol.TransferQueued, ""
	case errors.Is(err, errShutdown):
		row.State, row.Error = protocol.TransferWaiting, "The gateway was restarted"
	case errors.As(err, &unstored):
		row.State, row.Error = protocol.TransferWaiting, err.Error()
	case row.Simple && !errors.As(err, &failed):
		end(row, protocol.TransferFailed, err.Error(), now)
	case errors.As(err, &away), errors.Is(err, errStall) && j.stalls < maxStalls:
		// A transfer without progress must not wait for ever.
		if row.ExpiresAt == 0 || progress {
			row.ExpiresAt = expiry(row.Transfer, now)
		}
		row.State, row.Error = protocol.TransferWaiting, err.Error()
	default:
		end(row, protocol.TransferFailed, err.Error(), now)
	}
}

// maxStalls is the number of consecutive attempts without progress during which nothing is received
// although both nodes are connected. Disconnects do not count: a machine that goes to sleep is
// silent before its connection is given up.
const maxStalls = 3
