package transfer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// job is a transfer that has not ended.
type job struct {
	e      *Engine
	row    store.Transfer
	here   Window                  // that is an end; nil when none is, or it has not come
	end    context.CancelCauseFunc // of the attempt that runs
	over   chan struct{}           // closed at the end
	shown  time.Time               // when progress was published last
	speed  meter
	asks   bool // whoever may allow it is asked about it again; it takes no other one's turn meanwhile
	stalls int  // attempts in a row that ended with errStall and did not get on
	leave  bool // it was cancelled: no attempt begins any more
	ended  bool // nothing is changed any more
	// want is what was asked for while an attempt runs, and is done when that has ended: errPaused, or errAgain.
	want error
	// version counts the changes of row, stored is the last one that the database has; storing is closed when whoever stores has done so.
	version, stored int
	storing         chan struct{}
	told            Link // over which its destination was told to remove what is unfinished
	gone            bool // nothing unfinished is left of it
	// until is when a wait is over of which expires, as in row, says when that is on the wall.
	until   time.Time
	expires int64
}

// allowed asks again about a transfer that has waited while the rules changed.
func (e *Engine) allowed(ctx context.Context, j *job) error {
	now := e.policy()
	e.mu.Lock()
	changed := j.row.Policy != now
	t := j.row.Transfer
	j.asks = changed && e.again != nil
	e.mu.Unlock()
	if !changed {
		return nil
	}
	if e.again != nil {
		defer func() {
			e.mu.Lock()
			j.asks = false
			e.mu.Unlock()
		}()
		e.Wake() // it takes no turn
		e.update(j, func(t *protocol.Transfer) { t.Error = "The rules changed while it waited: it is asked about again" })
		if err := e.again(ctx, t); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return final("%s", err)
		}
	}
	e.mu.Lock()
	j.row.Policy = now
	e.mu.Unlock()
	return nil
}

// arrivedAllLocked ends a transfer whose files have arrived, but for those that could not. It is called under e.mu, which it lets go of.
func (e *Engine) arrivedAllLocked(j *job, out outcome) {
	state, text := protocol.TransferDone, ""
	d := out.done
	if d.Failed > 0 {
		state = protocol.TransferFailed
		text = protocol.Plural(d.Failed, "file") + " could not be moved"
		if len(d.Problems) > 0 {
			text += ": " + d.Problems[0].Path + ": " + d.Problems[0].Text
		}
	}
	t := &j.row.Transfer
	t.Failed, t.Skipped, t.Problems, t.Path = d.Failed, d.Skipped, d.Problems, d.Path
	keep(t, d.Kept)
	t.FilesDone = d.Files + d.Skipped
	switch written := d.BytesWritten; {
	case t.Simple:
		t.BytesDone = out.bytes
	case d.Failed > 0:
	case written == nil:
		t.BytesDone = t.Bytes
	default:
		if d.Skipped == 0 { // a file may have got another size while it was sent
			t.Bytes = *written
		}
		if t.BytesDone = t.Bytes; t.Attempts <= 1 { // else earlier attempts wrote some of what was there
			t.BytesDone = *written
		}
	}
	e.finishLocked(j, state, text)
}

// finish ends a job.
func (e *Engine) finish(j *job, state, text string) {
	e.mu.Lock()
	e.finishLocked(j, state, text)
}

// finishLocked is finish under e.mu, which it lets go of.
func (e *Engine) finishLocked(j *job, state, text string) {
	if j.ended { // somebody else does it
		e.mu.Unlock()
		<-j.over
		return
	}
	j.ended = true
	delete(e.jobs, j.row.ID)
	e.ending[j.row.ID] = j
	var l *left
	if state == protocol.TransferCancelled {
		l = e.keepLocked(j)
	}
	for i, o := range e.order {
		if o == j {
			e.order = append(e.order[:i:i], e.order[i+1:]...)
			break
		}
	}
	t := &j.row.Transfer
	t.State, t.Error, t.EndedAt, t.Speed, t.ETA = state, text, time.Now().UnixMilli(), 0, 0
	switch {
	case state == protocol.TransferDone, state == protocol.TransferCancelled && l == nil:
		t.Current = ""
	case state == protocol.TransferCancelled && t.Current == "":
		t.Current = "." // one that nobody knows
	}
	e.putLocked(j)
	if state == protocol.TransferCancelled {
		if l != nil {
			e.mu.Lock()
			l.row = j.row
			e.mu.Unlock()
		}
		e.Wake() // its machine may be back already
	}
	e.mu.Lock()
	delete(e.ending, j.row.ID)
	e.mu.Unlock()
	close(j.over)
}

// change changes a job that has not ended, stores it and tells everyone.
func (e *Engine) change(j *job, f func(*protocol.Transfer)) {
	e.mu.Lock()
	if j.ended {
		e.mu.Unlock()
		return
	}
	f(&j.row.Transfer)
	e.putLocked(j)
}

// putLocked stores a job that was changed and tells everyone. One at a time does, so that the last change is the last one that is stored. It is called
// under e.mu, which it lets go of.
func (e *Engine) putLocked(j *job) {
	j.version++
	mine := j.version
	for j.storing != nil {
		wait := j.storing
		e.mu.Unlock()
		<-wait
		e.mu.Lock()
	}
	if j.stored >= mine {
		e.mu.Unlock()
		return
	}
	done := make(chan struct{})
	row, version := j.row, j.version
	j.storing = done
	e.mu.Unlock()
	if err := e.store.PutTransfer(context.WithoutCancel(e.ctx), row); err != nil {
		slog.Error("A transfer could not be stored", "transfer", row.ID, "err", err)
	}
	e.publish(row.Transfer)
	e.mu.Lock()
	j.stored, j.storing = version, nil
	close(done)
	e.mu.Unlock()
}

// update is change for what need not survive a crash.
func (e *Engine) update(j *job, f func(*protocol.Transfer)) {
	e.mu.Lock()
	f(&j.row.Transfer)
	t := j.row.Transfer
	e.mu.Unlock()
	e.publish(t)
}

func (e *Engine) publish(t protocol.Transfer) {
	e.bus.Publish(protocol.Change{Kind: protocol.ChangeTransfer, SessionKey: t.Session, Transfer: &t})
}

// arrived takes what is at the destination by now.
func (e *Engine) arrived(j *job, p stream.Arrived) {
	now := time.Now()
	e.mu.Lock()
	t := &j.row.Transfer
	t.BytesDone, t.FilesDone, t.Current = p.Bytes, p.Files, p.Current
	t.Speed = j.speed.add(now, p.Bytes)
	if t.ETA = 0; t.Speed > 0 && t.Bytes > p.Bytes {
		t.ETA = (t.Bytes - p.Bytes) * 1000 / t.Speed
	}
	show := now.Sub(j.shown) >= progressEvery
	if show {
		j.shown = now
	}
	row := *t
	e.mu.Unlock()
	if show {
		e.publish(row)
	}
}

// view is a copy of the job's row.
func (j *job) view() protocol.Transfer {
	j.e.mu.Lock()
	defer j.e.mu.Unlock()
	return j.row.Transfer
}

// stop ends the attempt that runs, and reports whether there is one.
func (j *job) stop(cause error) bool {
	j.e.mu.Lock()
	defer j.e.mu.Unlock()
	return j.stopLocked(cause)
}

// stopLocked is stop under e.mu.
func (j *job) stopLocked(cause error) bool {
	j.leave = j.leave || errors.Is(cause, errCancelled)
	if j.end == nil {
		return false
	}
	if errors.Is(cause, errPaused) {
		j.want = errPaused
	}
	j.end(cause)
	return true
}
