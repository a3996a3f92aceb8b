package stream

import "fairlead/gateway/protocol"

// turn is what one at a time has: an attempt of a transfer begins when the one before has let go of
// its files, and what that left is removed.
type turn struct {
	id     protocol.TransferID
	source bool
}

// waiting is who has a turn, or waits for it.
type waiting struct {
	n    *end          // nil when it ends by itself
	over chan struct{} // closed then
}

// turnLocked takes the next turn, and ends whoever has one: mine waits for that, pass lets the one
// after have it. It is called under e.mu.
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
