package transfer

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/display"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// job is a transfer that has not ended.
type job struct {
	e             *Engine
	row           store.Transfer
	here          Window                  // the window that is an end; nil if there is none, or if it has not connected
	cancel        context.CancelCauseFunc // cancels the running attempt; nil if none runs
	stopped       <-chan struct{}         // closed when the latest attempt has stopped
	done          chan struct{}           // closed when the job has ended
	lastPublished time.Time               // time of the last published progress
	speed         meter
	needsApproval bool // waits for a renewed approval; does not count as running meanwhile
	stalls        int  // number of consecutive attempts that stalled without progress
	isCancelled   bool // cancelled: no further attempt may begin
	hasEnded      bool // the job must not change any more
	// requested is a request that takes effect when the running attempt ends: errPaused or
	// errAgain.
	requested error
	version   int // counts the changes of row
	// storing is held, without the engine's lock, during a write to the database. It guards stored,
	// the last version there.
	storing sync.Mutex
	stored  int
	// undone receives the destination's result of an undo in progress, which was requested on the
	// connection undoOn.
	undone chan protocol.TransferUndone
	undoOn Link
	// monotonicExpiry is row.ExpiresAt on the monotonic clock; expires is the value of
	// row.ExpiresAt from which it was computed.
	monotonicExpiry time.Time
	expiryOf        int64
}

// checkRules asks for permission again if the rules changed while the transfer waited.
func (j *job) checkRules(ctx context.Context) error {
	e := j.e
	now := e.policy()
	e.mu.Lock()
	defer e.mu.Unlock()
	if j.row.Policy == now {
		return nil
	}
	j.needsApproval = true
	e.mu.Unlock()
	e.Wake() // it no longer counts as running
	j.update(func(t *protocol.Transfer) { t.Error = "The rules changed while it waited: it needs approval again" })
	t := j.view()
	who := auth.Owner(t.AskedBy.Name)
	if t.Session != "" {
		who = auth.Agent(t.Session, "")
	}
	err := authorizeAgain(ctx, e.authorizer, who, t)
	e.mu.Lock()
	j.needsApproval = false
	switch {
	case err == nil:
		j.row.Policy = now
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return final("%s", err)
}

// completeLocked ends a transfer that has moved its files, except for those that failed. It
// requires e.mu and unlocks it.
func (j *job) completeLocked(out outcome) {
	state, text := protocol.TransferDone, ""
	d := out.done
	if d.Failed > 0 {
		state = protocol.TransferFailed
		text = display.Plural(d.Failed, "file") + " could not be transferred"
		if len(d.Problems) > 0 {
			text += ": " + d.Problems[0].Path + ": " + d.Problems[0].Text
		}
	}
	t := &j.row.Transfer
	t.Failed, t.Skipped, t.Problems, t.Path = d.Failed, d.Skipped, d.Problems, d.Path
	t.FilesDone = d.Files + d.Skipped
	switch written := d.BytesWritten; {
	case t.Simple:
		t.BytesDone = out.bytes
	case d.Failed > 0:
	case written == nil:
		t.BytesDone = t.Bytes
	default:
		if d.Skipped == 0 { // a file's size may have changed while it was sent
			t.Bytes = *written
		}
		t.BytesDone = t.Bytes
		if t.Attempts <= 1 { // otherwise earlier attempts wrote a part of the data
			t.BytesDone = *written
		}
	}
	j.finishLocked(state, text)
}

// finish ends a job.
func (j *job) finish(state, text string) {
	e := j.e
	e.mu.Lock()
	j.finishLocked(state, text)
}

// finishLocked ends a job. It requires e.mu and unlocks it.
func (j *job) finishLocked(state, text string) {
	e := j.e
	if j.hasEnded { // another goroutine ends it
		e.mu.Unlock()
		<-j.done
		return
	}
	j.hasEnded = true
	delete(e.jobs, j.row.ID)
	e.inTransition[j.row.ID] = j
	e.order = slices.DeleteFunc(e.order, func(o *job) bool { return o == j })
	t := &j.row.Transfer
	t.State, t.Error, t.EndedAt, t.Speed, t.ETA = state, text, time.Now().UnixMilli(), 0, 0
	switch {
	case state == protocol.TransferDone, state == protocol.TransferCancelled && !mayHaveUnfinished(*t):
		t.Current = ""
	case state == protocol.TransferCancelled && t.Current == "":
		t.Current = "." // an unknown file
	}
	j.putLocked()
	e.mu.Lock()
	defer e.mu.Unlock()
	j.releaseLocked()
	if needsCleanup(*t) && !e.closed {
		e.wg.Go(func() { whileCancelled(e.ctx, e, j.row.ID, func(again *job) { again.discard(e.ctx) }) })
	}
}

// store changes a job that has not ended, stores it and publishes it.
func (j *job) store(f func(*protocol.Transfer)) {
	e := j.e
	e.mu.Lock()
	if j.hasEnded {
		e.mu.Unlock()
		return
	}
	f(&j.row.Transfer)
	j.putLocked()
}

// putLocked stores a changed job and publishes it. Writes are serialized, so that the last change
// is the last one stored. It requires e.mu and unlocks it.
func (j *job) putLocked() {
	e := j.e
	j.version++
	mine := j.version
	e.mu.Unlock()
	j.storing.Lock()
	defer j.storing.Unlock()
	if j.stored >= mine {
		return // a later change was stored with this one
	}
	e.mu.Lock()
	row := j.row
	j.stored = j.version
	e.mu.Unlock()
	if err := e.store.Put(context.WithoutCancel(e.ctx), row); err != nil {
		slog.Error("Storing a transfer failed", "transfer", row.ID, "err", err)
	}
	publish(e.bus, row.Transfer)
}

// update changes and publishes a job without storing it, for changes that may be lost in a crash.
func (j *job) update(f func(*protocol.Transfer)) {
	e := j.e
	e.mu.Lock()
	f(&j.row.Transfer)
	t := j.row.Transfer
	e.mu.Unlock()
	publish(e.bus, t)
}

// publish publishes a change of a transfer.
func publish(bus *event.Bus, t protocol.Transfer) {
	bus.Publish(protocol.Change{Kind: protocol.ChangeTransfer, SessionKey: t.Session, Transfer: &t})
}

// setProgress records the destination's progress.
func (j *job) setProgress(p stream.ProgressReport) {
	e := j.e
	now := time.Now()
	e.mu.Lock()
	t := &j.row.Transfer
	if p.Current == "" && p.Bytes < t.BytesDone {
		// a later attempt counts again what it finds at the destination: the earlier count stays meanwhile
		e.mu.Unlock()
		return
	}
	t.BytesDone, t.FilesDone, t.Current = p.Bytes, p.Files, p.Current
	t.Speed = j.speed.add(now, p.Bytes)
	t.ETA = 0
	if t.Speed > 0 && t.Bytes > p.Bytes {
		t.ETA = (t.Bytes - p.Bytes) * 1000 / t.Speed
	}
	show := now.Sub(j.lastPublished) >= progressEvery
	if show {
		j.lastPublished = now
	}
	row := *t
	e.mu.Unlock()
	if show {
		publish(e.bus, row)
	}
}

// view returns a copy of the job's row.
func (j *job) view() protocol.Transfer {
	j.e.mu.Lock()
	defer j.e.mu.Unlock()
	return j.row.Transfer
}

// stop cancels the running attempt, and reports whether there is one.
func (j *job) stop(cause error) bool {
	j.e.mu.Lock()
	defer j.e.mu.Unlock()
	return j.stopLocked(cause)
}

// stopLocked is stop for a caller that holds e.mu.
func (j *job) stopLocked(cause error) bool {
	j.isCancelled = j.isCancelled || errors.Is(cause, errCancelled)
	if j.cancel == nil {
		return false
	}
	if errors.Is(cause, errPaused) {
		j.requested = errPaused
	}
	j.cancel(cause)
	return true
}

// meter computes the speed, averaged over the last seconds. The first progress of an attempt may be
// data from earlier ones, so it does not count.
type meter struct {
	at    time.Time
	bytes int64
	speed float64 // bytes per second
}

const (
	meterSpan = 3 * time.Second
	meterStep = 250 * time.Millisecond
)

func (m *meter) add(now time.Time, bytes int64) int64 {
	span := now.Sub(m.at)
	switch {
	case m.at.IsZero():
	case span < meterStep:
		return int64(m.speed)
	default:
		speed := float64(bytes-m.bytes) / span.Seconds()
		if m.speed == 0 {
			m.speed = speed
		}
		m.speed += (speed - m.speed) * min(1, span.Seconds()/meterSpan.Seconds())
	}
	m.at, m.bytes = now, bytes
	return int64(max(m.speed, 0))
}
