package transfer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/stream"
	"fairlead/gateway/store"
)

// job is a transfer that has not ended.
type job struct {
	e     *Engine
	row   store.Transfer
	here  Link                    // of the window or command line that is an end
	end   context.CancelCauseFunc // of the attempt that runs
	over  chan struct{}           // closed at the end
	shown time.Time               // when progress was published last
	speed meter
	leave bool // it was cancelled: no attempt begins any more
	told  Link // over which its destination was told to remove what is unfinished
	gone  bool // nothing unfinished is left of it
}

// allowed asks again about a transfer that has waited while the rules changed.
func (e *Engine) allowed(ctx context.Context, j *job) error {
	now := e.policy()
	e.mu.Lock()
	changed := j.row.Policy != now
	t := j.row.Transfer
	e.mu.Unlock()
	if !changed {
		return nil
	}
	if e.again != nil {
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

// arrivedAll ends a transfer whose files have arrived, but for those that could not.
func (e *Engine) arrivedAll(j *job, out outcome) {
	state, text := protocol.TransferDone, ""
	d := out.done
	if d.Failed > 0 {
		state = protocol.TransferFailed
		text = plural(d.Failed, "file") + " could not be moved"
		if len(d.Problems) > 0 {
			text += ": " + d.Problems[0].Path + ": " + d.Problems[0].Text
		}
	}
	e.mu.Lock()
	t := &j.row.Transfer
	t.Failed, t.Skipped, t.Problems, t.Path = d.Failed, d.Skipped, d.Problems, d.Path
	keep(t, d.Kept)
	if t.Simple {
		t.FilesDone, t.BytesDone = 1, out.bytes
	} else {
		t.FilesDone = d.Files + d.Skipped
		if d.Failed == 0 {
			t.BytesDone = t.Bytes
		}
	}
	e.mu.Unlock()
	e.finish(j, state, text)
}

// finish ends a job.
func (e *Engine) finish(j *job, state, text string) {
	e.mu.Lock()
	select {
	case <-j.over:
		e.mu.Unlock()
		return
	default:
	}
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
	e.mu.Unlock()
	e.change(j, func(t *protocol.Transfer) {
		t.State, t.Error, t.EndedAt, t.Speed, t.ETA = state, text, time.Now().UnixMilli(), 0, 0
		switch {
		case state == protocol.TransferDone, state == protocol.TransferCancelled && l == nil:
			t.Current = ""
		case state == protocol.TransferCancelled && t.Current == "":
			t.Current = "." // one that nobody knows
		}
	})
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

// change changes a job, stores it and tells everyone.
func (e *Engine) change(j *job, f func(*protocol.Transfer)) protocol.Transfer {
	e.mu.Lock()
	f(&j.row.Transfer)
	row := j.row
	e.mu.Unlock()
	if err := e.store.PutTransfer(context.WithoutCancel(e.ctx), row); err != nil {
		slog.Error("A transfer could not be stored", "transfer", row.ID, "err", err)
	}
	e.publish(row.Transfer)
	return row.Transfer
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
	j.leave = j.leave || errors.Is(cause, errCancelled)
	if j.end == nil {
		return false
	}
	j.end(cause)
	return true
}
