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
		if close(me.finished); e.attempts[t] == me {
			delete(e.attempts, t)
		}
	}
	return wait, done
}

func (e *Ends) stop(p protocol.TransferStop) {
	cause := ErrDiscard
	if p.Keep {
		cause = errLost
	}
	found := false
	for _, source := range []bool{true, false} {
		if n := e.find(p.TransferID, source); n != nil {
			n.cancel(cause)
			n.in.Close(cause)
			found = true
		}
	}
	if found {
		return
	}
	if p.Keep || p.Stream == nil {
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

// discard removes the unfinished files of a transfer that was cancelled while it was not running.
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
