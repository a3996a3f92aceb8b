package stream

import "fairlead/gateway/protocol"

// turn identifies what only one attempt at a time may use: an attempt of a transfer starts when the
// previous one has closed its files, and its unfinished files are removed if necessary.
type turn struct {
	id     protocol.TransferID
	source bool
}

// waiting is an attempt that has the turn or waits for it.
type waiting struct {
	n    *end          // nil if it ends by itself
	over chan struct{} // closed when it has ended
}

// turnLocked takes the next turn and cancels the attempt that has the current one. mine waits for
// that; pass starts the next turn. The caller holds e.mu.
func (e *Ends) turnLocked(t turn, n *end) (mine, pass func()) {
	before, me := e.turns[t], &waiting{n, make(chan struct{})}
	e.turns[t] = me
	if before != nil && before.n != nil {
		before.n.cancel(errLost)
		before.n.in.Close(errLost)
	}
	mine = func() {
		if before != nil {
			<-before.over
		}
	}
	pass = func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if close(me.over); e.turns[t] == me {
			delete(e.turns, t)
		}
	}
	return mine, pass
}
