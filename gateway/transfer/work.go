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

// work is what a job does in a goroutine of its own, one at a time.
type work int

const (
	workAttempt work = iota // move the files
	workDiscard             // ask the destination to remove unfinished files
	workUndo                // ask the destination to restore the replaced files
)

// result is how work has ended.
type result struct {
	work   work
	out    outcome
	err    error
	undone protocol.TransferUndone
	moved  int64 // the amount before the work
}

// startWork starts work. Only the owner calls it, while there is no other work.
func (j *job) startWork(w work, run func(context.Context, *result) error) {
	q := j.services.queue
	ctx, cancel := context.WithCancelCause(q.workers.Context())
	j.live.mu.Lock()
	j.cancel, j.stopped = cancel, make(chan struct{})
	res := result{work: w, moved: j.live.row.BytesDone}
	if j.revoked != "" && w == workAttempt { // in this moment
		cancel(final("%s", j.revoked))
	}
	j.live.mu.Unlock()
	q.workers.Go(func() {
		res.err = crash.Call("transfer", func() error { return run(ctx, &res) }, "transfer", j.id)
		cancel(nil)
		j.finished <- res
	})
}

// stop cancels the work in progress and reports whether there is any.
func (j *job) stop(cause error) bool {
	j.live.mu.Lock()
	defer j.live.mu.Unlock()
	if j.cancel == nil {
		return false
	}
	j.cancel(cause)
	return true
}

// waitFor waits some seconds for the work to end, or for the job.
func (j *job) waitFor(ctx context.Context, end <-chan struct{}) protocol.Transfer {
	select {
	case <-end:
	case <-ctx.Done():
	case <-time.After(2 * stopLimit):
	}
	return j.live.view()
}

// workEnd returns a channel that is closed when the latest work has ended and its result is stored.
func (j *job) workEnd() <-chan struct{} {
	j.live.mu.Lock()
	defer j.live.mu.Unlock()
	return j.stopped
}

// finish handles the end of work.
func (j *job) finish(res result) {
	switch res.work {
	case workAttempt:
		j.live.mu.Lock()
		j.live.speed = meter{}
		if errors.Is(res.err, errStall) && j.live.row.BytesDone <= res.moved {
			j.stalls++
		} else {
			j.stalls = 0
		}
		m := message{out: res.out, progress: j.live.row.BytesDone > res.moved, now: time.Now()}
		if res.err != nil {
			m.text = res.err.Error()
		}
		m.event = j.endLocked(res)
		switch m.event {
		case eventRevoked:
			m.text = j.revoked
		case eventIndirect:
			m.text = ""
		case eventShutdown:
			m.text = "The gateway was restarted"
		}
		j.live.mu.Unlock()
		j.end = &m
		j.storeEnd()
	case workUndo:
		err := res.err
		if err == nil {
			_, err = j.change(message{event: eventUndone, undone: res.undone, now: time.Now()})
		}
		if err == nil && res.undone.Back == 0 && len(res.undone.Problems) == 0 {
			err = protocol.ErrConflict.With("The replaced files are no longer available")
		}
		j.leaveWork()
		j.undo.reply <- answer{j.live.view(), err}
		j.serveDeferred()
	default:
		j.leaveWork()
		j.serveDeferred()
	}
}

// endLocked returns the event for the end of an attempt. The caller must hold j.live.mu.
func (j *job) endLocked(res result) eventKind {
	var away offlineError
	var unstored unstoredError
	var failed *finalError
	switch err := res.err; {
	case err == nil && res.out.done.Failed > 0:
		return eventIncomplete
	case err == nil:
		return eventArrived
	case j.revoked != "":
		return eventRevoked
	case errors.Is(err, errPaused), errors.Is(err, errCancelled):
		return eventStopped
	case errors.Is(err, errDirectLost):
		return eventIndirect
	case errors.Is(err, errShutdown):
		return eventShutdown
	case errors.As(err, &unstored):
		return eventUnstored
	case j.live.row.Simple && !errors.As(err, &failed):
		return eventFailed
	case errors.As(err, &away), errors.Is(err, errStall) && j.stalls < maxStalls:
		return eventOffline
	}
	return eventFailed
}

// maxStalls is the number of consecutive attempts without progress during which nothing is received
// although both nodes are connected. Disconnects do not count: a machine that goes to sleep is
// silent before its connection is given up.
const maxStalls = 3

// unstoredError is an error of the store. The transfer is tried again.
type unstoredError struct{ error }

// storeRetry is the time between attempts to store the end of a transfer.
const storeRetry = time.Second

// storeEnd stores how the attempt has ended. The transfer keeps its state, and counts as running,
// until that is stored.
func (j *job) storeEnd() {
	t, err := j.change(*j.end)
	j.retry = nil
	stopping := j.services.queue.isClosed()
	if err != nil && !errors.Is(err, errLate) {
		slog.Error("Storing a transfer failed", "transfer", j.id, "err", err)
		j.live.update(func(row *store.Transfer) { row.Error = fmt.Sprintf("The result cannot be stored: %v", err) })
		if !stopping {
			j.retry = time.After(storeRetry)
			return
		}
	}
	slog.Info("Transfer", "transfer", j.id, "state", j.live.view().State, "err", j.end.text)
	j.end = nil
	j.leaveWork()
	if !stopping {
		j.perform(t.do, nil)
	}
	j.serveDeferred()
}

// leaveWork says that there is no work any more.
func (j *job) leaveWork() {
	j.live.mu.Lock()
	if j.cancel != nil {
		j.cancel = nil
		close(j.stopped)
	}
	j.live.mu.Unlock()
	j.services.queue.Wake()
}

// serveDeferred answers the requests that have waited for the end of the work, unless the gateway
// stops.
func (j *job) serveDeferred() {
	if j.services.queue.isClosed() {
		return // shutDown refuses them
	}
	list := j.deferred
	j.deferred = nil
	for _, r := range list {
		j.serve(r)
	}
}
