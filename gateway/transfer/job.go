package transfer

import (
	"context"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// job is a transfer that has not ended. While cancel is set, one goroutine owns it ([job.ownLocked])
// and alone decides how it continues; a request is stored ([job.request]) and stops that goroutine,
// which then sees it in the row.
type job struct {
	e             *Engine
	row           store.Transfer
	here          Window                  // the window that is an end; nil if none exists, or if it has not connected
	cancel        context.CancelCauseFunc // cancels what the owner does; nil if there is no owner
	stopped       <-chan struct{}         // closed when the latest owner has stopped
	done          chan struct{}           // closed when the job has ended
	lastPublished time.Time               // time of the last published progress
	speed         meter
	needsApproval bool   // waits for a renewed approval; does not count as running meanwhile
	stalls        int    // number of consecutive attempts that stalled without progress
	isContinued   bool   // it ran before the gateway was restarted, which the journal does not say yet
	revoked       string // why no further attempt may begin: a pairing or an app's access has ended
	// storing is held, without the engine's lock, during a change of the row, including the write
	// to the database.
	storing sync.Mutex
	// startupAllowed are start-up files that may arrive. Only the owner uses it.
	startupAllowed map[string]bool
	// undone receives the destination's result of an undo in progress, which was requested on the
	// connection undoOn.
	undone chan protocol.TransferUndone
	undoOn Link
	// monotonicExpiry is row.ExpiresAt on the monotonic clock; expires is the value of
	// row.ExpiresAt from which it was computed.
	monotonicExpiry time.Time
	expiryOf        int64
}

// newJob returns a job without an owner. here may be nil.
func newJob(e *Engine, row store.Transfer, here Window) *job {
	stopped := make(chan struct{})
	close(stopped)
	return &job{e: e, row: row, here: here, stopped: stopped, done: make(chan struct{}), startupAllowed: make(map[string]bool)}
}

// checkRules asks for permission again if the rules changed while the transfer waited. That a
// person's transfer continues after a restart is recorded in the same way.
func (j *job) checkRules(ctx context.Context) error {
	e := j.e
	now := e.policy()
	e.mu.Lock()
	defer e.mu.Unlock()
	continued := j.isContinued && isPersonal(j.row.Transfer)
	j.isContinued = false
	if j.row.Policy == now && !continued {
		return nil
	}
	j.needsApproval = true
	e.mu.Unlock()
	e.Wake() // it no longer counts as running
	if !continued {
		j.update(func(t *protocol.Transfer) { t.Error = "The rules changed while it waited: it needs approval again" })
	}
	t := j.view()
	call, err := authorizeAgain(ctx, e.authorizer, principalOf(t), t, t.CreatedAt < e.startedAt)
	e.mu.Lock()
	j.needsApproval = false
	switch {
	case err == nil:
		j.row.Policy, j.row.Allowed = now, call
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case protocol.ErrStorage.Is(err):
		return unstoredError{err}
	}
	return final("%s", err)
}

// complete ends a transfer that has moved its files, except for those that failed.
func complete(row *store.Transfer, out outcome, now time.Time) {
	state, text := protocol.TransferDone, ""
	d := out.done
	if d.Failed > 0 {
		state = protocol.TransferFailed
		text = format.Plural(d.Failed, "file") + " could not be transferred"
		if len(d.Problems) > 0 {
			text += ": " + d.Problems[0].Path + ": " + d.Problems[0].Text
		}
	}
	t := &row.Transfer
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
	end(row, state, text, now)
}

// end sets the fields of a transfer that has ended.
func end(row *store.Transfer, state, text string, now time.Time) {
	t := &row.Transfer
	t.State, t.Error, t.EndedAt, t.Speed, t.ETA = state, text, now.UnixMilli(), 0, 0
	switch {
	case state == protocol.TransferDone, state == protocol.TransferCancelled && !mayHaveUnfinished(*t):
		t.Current = ""
	case state == protocol.TransferCancelled && t.Current == "":
		t.Current = "." // an unknown file
	}
}

// change stores a change of the row, then makes it visible and publishes it: a change that cannot
// be stored does not happen. f changes the stored row and the job's in turn, so it must have no other
// effect; its error prevents the change.
func (j *job) change(f func(*store.Transfer) error) error {
	e := j.e
	j.storing.Lock()
	defer j.storing.Unlock()
	e.mu.Lock()
	row := j.row
	e.mu.Unlock()
	if err := f(&row); err != nil {
		return err
	}
	if err := e.store.Put(context.WithoutCancel(e.ctx), row); err != nil {
		return err
	}
	e.mu.Lock()
	f(&j.row)
	t := j.row.Transfer
	e.mu.Unlock()
	publish(e.bus, t)
	return nil
}

// isOver reports whether the transfer has ended, after a change in progress.
func (j *job) isOver() bool {
	j.storing.Lock()
	defer j.storing.Unlock()
	return j.view().Over()
}

// leaveLocked removes a job from the queue if it has ended and no goroutine owns it. The caller must
// hold e.mu.
func (j *job) leaveLocked() {
	e := j.e
	if j.cancel != nil || !j.row.Over() || e.jobs[j.row.ID] != j {
		return
	}
	delete(e.jobs, j.row.ID)
	e.order = slices.DeleteFunc(e.order, func(o *job) bool { return o == j })
	close(j.done)
	if needsCleanup(j.row.Transfer) && !e.closed {
		id := j.row.ID
		e.wg.Go(func() { whileCancelled(e.ctx, e, id, func(again *job) { again.discard(e.ctx) }) })
	}
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
	t.Speed, t.ETA = 0, 0
	if t.State == protocol.TransferRunning { // otherwise the attempt is about to stop
		t.Speed = j.speed.add(now, p.Bytes)
	}
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

// stop cancels the attempt that runs, if any. The returned channel is closed when it has stopped.
func (j *job) stop(cause error) (stopped <-chan struct{}) {
	j.e.mu.Lock()
	defer j.e.mu.Unlock()
	if j.cancel != nil {
		j.cancel(cause)
	}
	return j.stopped
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
