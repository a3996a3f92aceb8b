package transfer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// job is a transfer in the queue, or an ended one with which something is done. One goroutine owns
// it ([job.own]) and alone changes its state. What takes long, such as an attempt, is the job's
// work, in a goroutine of its own, which asks the owner for every change of state.
type job struct {
	services *services
	id       protocol.TransferID
	requests chan *request // for the owner
	wake     wake.Signal   // the queue's order has changed, or the transfer was revoked
	finished chan result   // of the work; has room for it
	done     chan struct{} // closed when the owner has ended
	callers  int           // of the queue's open; guarded by the queue

	// Only the owner uses these:
	end      *message         // how the attempt has ended, until that is stored
	retry    <-chan time.Time // when to try again to store it
	deferred []*request       // that wait until the work has ended
	undo     *request         // whose undo is the work
	stalls   int              // number of consecutive attempts that stalled without progress
	record   recorder

	live  *live
	mover *mover

	// live.mu guards these, too:
	cancel  context.CancelCauseFunc // cancels the work; nil without any
	stopped chan struct{}           // closed when the latest work has ended and its result is stored
	ordered eventKind               // what the queue has ordered; empty for nothing
	revoked string                  // why no further attempt may begin: a pairing or an app's access has ended
}

// request is a message to the owner of a job.
type request struct {
	message
	ctx   context.Context // of the caller
	reply chan answer     // has room for the answer
}

// answer is the transfer as the request has left it, or why it was refused.
type answer struct {
	transfer protocol.Transfer
	err      error
}

// newJob returns a job whose owner has not started. The owner reads a row without a state from the
// store. window may be nil.
func newJob(p *services, row store.Transfer, window Window) *job {
	stopped := make(chan struct{})
	close(stopped)
	v := &live{bus: p.bus, row: row, window: window}
	j := &job{
		services: p, id: row.ID, live: v, stopped: stopped, record: recorder{store: p.store, bus: p.bus},
		requests: make(chan *request), wake: wake.New(), finished: make(chan result, 1), done: make(chan struct{}),
	}
	j.mover = &mover{services: p, live: v, startup: make(map[string]bool), begin: func(ctx context.Context) error {
		_, err := j.ask(ctx, message{event: eventBegin})
		return err
	}}
	return j
}

// ask sends a message to the owner, and waits until it has stored the change or refused the
// message.
func (j *job) ask(ctx context.Context, m message) (protocol.Transfer, error) {
	m.now = time.Now()
	r := &request{message: m, ctx: ctx, reply: make(chan answer, 1)}
	select {
	case j.requests <- r:
	case <-j.done: // only while the gateway stops: the queue keeps a job that has callers
		return protocol.Transfer{}, errClosed
	case <-ctx.Done():
		return protocol.Transfer{}, context.Cause(ctx)
	}
	select {
	case a := <-r.reply:
		return a.transfer, a.err
	case <-ctx.Done():
		return protocol.Transfer{}, context.Cause(ctx)
	}
}

// own answers the requests until the job has nothing left to do. When the gateway stops, own stores
// how the work has ended.
func (j *job) own() {
	defer close(j.done)
	q := j.services.queue
	missing := j.load(q.workers.Context())
	for !j.isAtRest() || !q.leave(j) {
		select {
		case r := <-j.requests:
			if missing != nil {
				r.reply <- answer{err: missing}
			} else {
				j.serve(r)
			}
		case res := <-j.finished:
			j.finish(res)
		case <-j.retry:
			j.storeEnd()
		case <-j.wake:
			j.obey()
		case <-q.workers.Context().Done():
			j.shutDown()
			return
		}
	}
}

// load reads the row of a job that was opened by its ID.
func (j *job) load(ctx context.Context) error {
	if j.live.row.State != "" {
		return nil
	}
	row, err := j.services.store.Get(ctx, j.id)
	if err == nil {
		j.live.mu.Lock()
		j.live.row = row
		j.live.mu.Unlock()
	}
	return err
}

// isAtRest reports whether the job has nothing left to do.
func (j *job) isAtRest() bool {
	t := j.live.view()
	return !j.isBusy() && (t.Over() || t.State == "")
}

// isBusy reports whether work is in progress, or its result is not stored.
func (j *job) isBusy() bool {
	j.live.mu.Lock()
	defer j.live.mu.Unlock()
	return j.cancel != nil || j.end != nil // only the owner, which calls isBusy, uses end
}

// serve answers a request, or defers it until the work has ended.
func (j *job) serve(r *request) {
	if r.event.needsRest() && j.live.view().Over() && j.isBusy() {
		j.deferred = append(j.deferred, r)
		return
	}
	var now protocol.Transfer
	err := crash.Call("transfer", func() error {
		j.useWindow(&r.message)
		t, err := j.change(r.message)
		if err == nil {
			now = j.live.view()
			j.perform(t.do, r)
		}
		return err
	}, "transfer", j.id)
	if err != nil || r.event != eventUndo { // an undo is answered when it has ended
		r.reply <- answer{now, err}
	}
}

// change makes the transition of a message: it is stored, then visible and published. What cannot
// be stored does not happen.
func (j *job) change(m message) (transition, error) {
	j.live.mu.Lock()
	before := j.live.row
	j.live.mu.Unlock()
	row := before
	t, ok := transitions[m.event][row.State]
	if !ok {
		return t, m.event.refusal(row.State)
	}
	if t.check != nil {
		if err := t.check(row, m, j.services.machines); err != nil {
			return t, err
		}
	}
	if t.set == nil {
		return t, nil
	}
	set := func(row *store.Transfer) {
		setReplaced(&row.Transfer, m.out.done.Kept, m.now)
		row.State, row.Speed, row.ETA = t.to, 0, 0
		t.set(row, m)
	}
	set(&row)
	if err := j.record.put(context.WithoutCancel(j.services.queue.workers.Context()), before, row); err != nil {
		return t, err
	}
	j.live.update(set)
	return t, nil
}

// perform does what follows a transition.
func (j *job) perform(do action, r *request) {
	t := j.live.view()
	switch do {
	case doAttempt:
		j.startWork(workAttempt, j.mover.runAttempt)
	case doStop:
		j.stop(errPaused)
	case doDiscard:
		if !j.stop(errCancelled) && mayDiscard(t) {
			j.startWork(workDiscard, j.mover.discard)
		}
	case doCleanUp:
		if needsCleanup(t) {
			j.startWork(workDiscard, j.mover.discard)
		}
	case doUndo:
		j.undo = r
		j.startWork(workUndo, func(ctx context.Context, res *result) error { return j.mover.restore(ctx, r.ctx, res) })
	case doDetach:
		j.record.isAwaited = false
	case doEnqueue:
		j.stalls, j.mover.startup = 0, make(map[string]bool)
		j.live.mu.Lock()
		j.revoked, j.live.isContinued = "", false
		j.live.mu.Unlock()
		j.services.queue.enqueue(j)
	}
}

// obey does what the queue has ordered, and ends a transfer that was revoked.
func (j *job) obey() {
	j.live.mu.Lock()
	ordered, revoked, now := j.ordered, j.revoked, time.Now()
	j.live.mu.Unlock()
	switch {
	case j.isBusy(): // its end, which the revocation has caused, comes first
	case revoked != "" && !j.live.view().Over():
		j.end = &message{event: eventRevoked, text: revoked, now: now}
		j.storeEnd()
	case ordered != "":
		err := crash.Call("transfer", func() error {
			t, err := j.change(message{event: ordered, text: expiredText, now: now})
			if err == nil {
				j.perform(t.do, nil)
			}
			return err
		}, "transfer", j.id)
		if err != nil && !errors.Is(err, errLate) {
			slog.Error("Storing a transfer failed", "transfer", j.id, "err", err) // the queue orders it again
		}
	}
	j.live.mu.Lock()
	j.ordered = ""
	j.live.mu.Unlock()
}

// shutDown stores how the work has ended, if that is possible.
func (j *job) shutDown() {
	if j.isBusy() && j.end == nil {
		j.finish(<-j.finished)
	}
	for _, r := range j.deferred {
		r.reply <- answer{err: errClosed}
	}
}

// useWindow makes the window of a person who continues the transfer its end, if it is on the
// computer that the transfer means. A resume waits while an end is offline.
func (j *job) useWindow(m *message) {
	j.live.mu.Lock()
	defer j.live.mu.Unlock()
	if t := j.live.row.Transfer; m.window != nil && atWindow(t) && m.window.Device() == t.Device {
		j.live.window = m.window // a running attempt uses the old one, and ends with it
	}
	if m.event == eventResume {
		if m.text = j.services.ends.waitReason(j.live.row.Transfer, j.live.window); m.text != "" {
			m.event = eventAwait
		}
	}
}
