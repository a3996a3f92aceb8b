package rpc

import (
	"sync"
	"time"
)

// idleLimit is how long a member of the crew waits for its next request.
const idleLimit = 5 * time.Second

// crew runs requests on goroutines that wait for the next one: their stacks have grown already, which costs a new goroutine a tenth of a small
// request. There is no bound and no queue; a request that finds nobody waiting gets a goroutine of its own.
type crew struct {
	next chan func()
	stop chan struct{}
	wg   sync.WaitGroup
}

func newCrew() *crew { return &crew{next: make(chan func()), stop: make(chan struct{})} }

// do runs f beside its caller. It may not be called during or after close.
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

// close waits for what runs.
func (c *crew) close() {
	close(c.stop)
	c.wg.Wait()
}
