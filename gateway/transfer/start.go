package transfer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/gateway/protocol"
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
		switch t := j.row; {
		case j.cancel != nil || j.isCancelled || t.Over() || t.State != protocol.TransferQueued && t.State != protocol.TransferWaiting:
		case j.isExpiredLocked(now):
			expired = append(expired, j)
		case (running < maxRunning || !busy[t.To]) && !e.closed && j.waitReason() == "":
			running++
			busy[t.To] = true
			ready = append(ready, j)
		}
	}
	for _, j := range ready {
		var ctx context.Context
		ctx, j.cancel = context.WithCancelCause(e.ctx)
		stopped := make(chan struct{})
		j.stopped = stopped
		e.wg.Go(func() {
			defer close(stopped)
			j.runAttempt(ctx)
		})
	}
	e.mu.Unlock()
	for _, j := range expired {
		j.finish(protocol.TransferFailed, "It expired: the machine did not come back in time")
	}
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

// runAttempt runs one attempt of a job and sets its next state.
func (j *job) runAttempt(ctx context.Context) {
	e := j.e
	var out outcome
	moved := j.view().BytesDone
	err := j.checkRules(ctx)
	if err == nil {
		j.store(func(t *protocol.Transfer) {
			t.State, t.Error, t.Current = protocol.TransferRunning, "", ""
			if t.StartedAt == 0 {
				t.StartedAt = time.Now().UnixMilli()
			}
		})
		out, err = j.attempt(ctx)
	}
	// The next state is set under the lock at the end of the attempt: requests before that are
	// honoured here, and requests after that see a transfer that rests or has ended.
	e.mu.Lock()
	j.cancel(nil)
	want := j.requested
	j.cancel, j.requested, j.speed = nil, nil, meter{}
	rests := func(state, text string) {
		j.row.State, j.row.Error, j.row.Speed, j.row.ETA = state, text, 0, 0
		j.putLocked()
	}
	if errors.Is(err, errStall) && j.row.BytesDone <= moved {
		j.stalls++
	} else {
		j.stalls = 0
	}
	setReplaced(&j.row.Transfer, out.done.Kept)
	var away offlineError
	var failed *finalError
	switch paused := errors.Is(err, errPaused) || want != nil && errors.As(err, &away); {
	case err == nil:
		j.completeLocked(out)
	case errors.Is(err, errCancelled), j.isCancelled: // even if a node disconnected at the same moment
		j.finishLocked(protocol.TransferCancelled, "")
	case paused && errors.Is(want, errResumed):
		rests(protocol.TransferQueued, "")
	case paused:
		rests(protocol.TransferPaused, "")
	case errors.Is(err, errDirectLost):
		rests(protocol.TransferQueued, "")
	case errors.Is(err, errShutdown):
		rests(protocol.TransferWaiting, "The gateway was restarted")
	case j.row.Simple && !errors.As(err, &failed):
		j.finishLocked(protocol.TransferFailed, err.Error())
	case errors.As(err, &away), errors.Is(err, errStall) && j.stalls < maxStalls:
		// A transfer without progress must not wait for ever.
		if j.row.ExpiresAt == 0 || j.row.BytesDone > moved {
			j.row.ExpiresAt = expiry(j.row.Transfer, time.Now())
		}
		rests(protocol.TransferWaiting, err.Error())
	default:
		j.finishLocked(protocol.TransferFailed, err.Error())
	}
	slog.Info("Transfer", "transfer", j.row.ID, "state", j.view().State, "err", err)
	e.Wake()
}

// maxStalls is the number of consecutive attempts without progress during which nothing is received
// although both nodes are connected. Disconnects do not count: a machine that goes to sleep is
// silent before its connection is given up.
const maxStalls = 3
