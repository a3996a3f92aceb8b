package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

const (
	// ackLimit is how long the gateway may take to confirm something; a large result on a slow line needs its time.
	ackLimit = 2 * time.Minute
	retryMin = time.Second
	retryMax = time.Minute
)

// outbox holds what the gateway must get even when the connection breaks, in order, until it has confirmed it.
type outbox struct {
	wake chan struct{}

	mu    sync.Mutex // guards items
	items []item
}

// item is one thing to deliver. send is called again after every failure that is worth it.
type item struct {
	call protocol.CallID // of a result; empty for anything else
	send func(context.Context) error
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// put adds an item.
func (o *outbox) put(i item) {
	o.mu.Lock()
	o.items = append(o.items, i)
	o.mu.Unlock()
	o.nudge()
}

// holds reports whether a call's result waits for confirmation.
func (o *outbox) holds(call protocol.CallID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, i := range o.items {
		if i.call == call {
			return true
		}
	}
	return false
}

// nudge has the deliverer look again, as after a reconnect.
func (o *outbox) nudge() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) first() (item, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.items) == 0 {
		return item{}, false
	}
	return o.items[0], true
}

func (o *outbox) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.items[0] = item{} // let go of the result
	o.items = o.items[1:]
}

// deliver sends items until ctx ends.
func (o *outbox) deliver(ctx context.Context, lost func(protocol.CallID, error)) {
	wait := retryMin
	for {
		i, ok := o.first()
		var again <-chan time.Time
		if ok {
			sending, cancel := context.WithTimeout(ctx, ackLimit)
			err := i.send(sending)
			cancel()
			switch {
			case ctx.Err() != nil:
				return
			case err == nil:
				o.drop()
				wait = retryMin
				continue
			case !worthRetry(err):
				o.drop()
				lost(i.call, err)
				continue
			}
			again = time.After(wait)
			wait = min(wait*2, retryMax)
		}
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		case <-again:
		}
	}
}

// worthRetry reports whether sending again may help: the gateway was not reached or could not store it. What it refused, such as the result of
// a call that it has forgotten, stays refused.
func worthRetry(err error) bool {
	var e *protocol.Error
	if !errors.As(err, &e) {
		return true
	}
	switch e.Code {
	case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeStorage, protocol.CodeInternal, protocol.CodeNotConnected:
		return true
	}
	return e.Retryable
}
