package stream

import (
	"context"
	"path"
	"time"

	"fairlead/gateway/protocol"
)

// attemptID identifies what only one attempt at a time may use: an attempt of a transfer starts
// when the previous one has closed its files, and its unfinished files are removed if necessary.
type attemptID struct {
	id     protocol.TransferID
	source bool
}

// queuedAttempt is an attempt that runs or waits for the previous one.
type queuedAttempt struct {
	end      *end          // nil if it ends by itself
	finished chan struct{} // closed when it has ended
}

// enqueueLocked queues an attempt and cancels the current one. wait waits until that has ended;
// done starts the next attempt. The caller holds e.mu.
func (e *Ends) enqueueLocked(t attemptID, n *end) (wait, done func()) {
	before, me := e.attempts[t], &queuedAttempt{n, make(chan struct{})}
	e.attempts[t] = me
	if before != nil && before.end != nil {
		before.end.cancel(errLost)
		before.end.in.Close(errLost)
	}
	wait = func() {
		if before != nil {
			<-before.finished
		}
	}
	done = func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		close(me.finished)
		if e.attempts[t] == me {
			delete(e.attempts, t)
		}
	}
	return wait, done
}

// stop stops the running end of a transfer. If the transfer was cancelled, its destination also
// removes the unfinished files of all attempts, and confirms that, once the current attempt has
// ended, which may have failed by itself just before.
func (e *Ends) stop(p protocol.TransferStop) {
	cause := errDiscard
	if p.Keep {
		cause = errLost
	}
	source := e.find(p.TransferID, true)
	for _, n := range []*end{source, e.find(p.TransferID, false)} {
		if n != nil {
			n.cancel(cause)
			n.in.Close(cause)
		}
	}
	if p.Keep || p.Stream == nil || source != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		wait, done := e.enqueueLocked(attemptID{id: p.Stream.ID}, nil)
		e.wg.Go(func() {
			defer done()
			wait()
			e.discard(p)
		})
	}
}

// discard removes the unfinished files of a cancelled transfer without a running attempt.
func (e *Ends) discard(p protocol.TransferStop) {
	mark := partPrefixOf(p.Stream.ID)
	removed := e.options.Unfinished.removeFiles(e.options.Files, mark, time.Time{})
	t, err := e.options.Files.Target(p.Path, p.Stream.Into, false)
	if err == nil {
		defer t.Root.Close()
	}
	if err == nil && p.Current != "" {
		if t.Root.Remove(partName(p.Stream.ID, path.Clean(p.Current))) == nil {
			removed++
		}
	}
	if removed > 0 {
		e.options.Log.Info("Unfinished files removed", "transfer", p.Stream.ID, "files", removed)
	}
	e.confirmDiscarded(p.TransferID, p.Stream.ID)
}

// confirmDiscarded confirms that a transfer left nothing unfinished. A gateway that does not
// receive it asks again.
func (e *Ends) confirmDiscarded(number uint32, id protocol.TransferID) {
	ctx, cancel := context.WithTimeout(context.Background(), confirmLimit)
	defer cancel()
	e.options.Peer.Report(ctx, protocol.TransferFinish.Name, protocol.TransferDoneParams{TransferID: &number, Discarded: id}, false)
}

// confirmLimit is the time limit for sending a confirmation.
const confirmLimit = 5 * time.Second
