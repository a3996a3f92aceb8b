package rpc

import (
	"sync"
	"time"
)

// idleLimit is the time that an idle worker waits for its next request.
const idleLimit = 5 * time.Second

// crew is a pool of worker goroutines for requests. Idle workers are reused because their stacks
// have already grown; growing a new stack costs a tenth of a small request. The pool has no limit
// and no queue: a request without an idle worker starts a new one.
type crew struct {
	next chan func()
	stop chan struct{}
	wg   sync.WaitGroup
}

func newCrew() *crew { return &crew{next: make(chan func()), stop: make(chan struct{})} }

// do runs f on a worker. It must not be called during or after close.
func (c *crew) do(f func()) {
	select {
	case c.next <- f:
	default:
		c.wg.Go(func() { c.work(f) })
	}
}

func (c *crew) work(f func()) {
	idle := time.NewTimer(idleLimit)
	defer idle.Stop()
	for {
		f()
		idle.Reset(idleLimit)
		select {
		case f = <-c.next:
		case <-idle.C:
			return
		case <-c.stop:
			return
		}
	}
}

// close waits for the running requests.
func (c *crew) close() {
	close(c.stop)
	c.wg.Wait()
}
