package cron

import (
	"context"
	"sync"

	"fairlead/gateway/protocol"
)

// loop passes functions to the goroutine that owns all state.
type loop struct {
	inbox chan func()
	ended chan struct{} // closed when the goroutine ends

	ctx context.Context // of the goroutine; set before the first function runs
	wg  sync.WaitGroup  // what the goroutine has started
}

var errStopping = protocol.ErrUnavailable.With("the gateway is stopping")

// do runs f on the loop's goroutine and waits for its result.
func (l *loop) do(ctx context.Context, f func() error) error {
	result := make(chan error, 1)
	select {
	case l.inbox <- func() { result <- f() }:
		return <-result
	case <-l.ended:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// report passes f to the loop from another goroutine. f is dropped when the loop has ended.
func (l *loop) report(f func()) {
	select {
	case l.inbox <- f:
	case <-l.ctx.Done():
	}
}
