package stream

import "fairlead/gateway/protocol"

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
