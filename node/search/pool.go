package search

import (
	"context"
	"runtime"
	"sync"

	"fairlead/gateway/peer/toolkit"
)

// slots bounds the searches that run at the same time; further ones wait. Each has a few open
// folders and buffers.
var slots = make(chan struct{}, 8)

// acquire waits until a search may start. If there is no error, the caller must call release.
func acquire(ctx context.Context) (release func(), err error) {
	if ctx.Err() == nil {
		select {
		case slots <- struct{}{}:
			return func() { <-slots }, nil
		case <-ctx.Done():
		}
	}
	return nil, toolkit.Failf("cancelled")
}

// workers returns the number of goroutines that search files at the same time.
func workers() int { return max(2, min(runtime.GOMAXPROCS(0), 8)) }

// task is a folder to search, or a part of one. Either run or drop is called, once.
type task interface {
	run(worker int)
	discard()
}

// pool is a worker pool that runs tasks on a few goroutines. Each worker starts with the task that
// it pushed last, so that few folders are open at a time and a search follows the order of names as
// far as possible.
type pool struct {
	ctx context.Context
	// ordered makes an idle worker take the task that another worker would run next, which
	// preserves the order. Otherwise it takes the one that would run last: that is the largest part
	// of a tree, and workers rarely compete.
	ordered bool

	mu     sync.Mutex // guards the fields below
	wake   sync.Cond
	queues [][]task // queue of each worker
	busy   int
	idle   int
}

func newPool(ctx context.Context, ordered bool) *pool {
	c := &pool{ctx: ctx, ordered: ordered, queues: make([][]task, workers())}
	c.wake.L = &c.mu
	return c
}

// push queues tasks of a worker, who runs the last of them first.
func (c *pool) push(worker int, tasks ...task) {
	if len(tasks) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queues[worker] = append(c.queues[worker], tasks...)
	if c.idle > 0 {
		c.wake.Broadcast()
	}
}

// runAll runs first and all tasks that follow from it, and returns when none remain. When the
// context ends, tasks that have not started are dropped.
func (c *pool) runAll(first task) {
	c.queues[0] = append(c.queues[0], first)
	var wg sync.WaitGroup
	for i := range c.queues {
		wg.Go(func() { c.work(i) })
	}
	wg.Wait()
}

func (c *pool) work(worker int) {
	for did := false; ; did = true {
		t := c.next(worker, did)
		if t == nil {
			return
		}
		if c.ctx.Err() != nil {
			t.discard()
		} else {
			t.run(worker)
		}
	}
}

// next waits for a task; nil means that no more will come. did says that the worker has finished a
// task.
func (c *pool) next(worker int, did bool) task {
	c.mu.Lock()
	defer c.mu.Unlock()
	if did {
		c.busy--
	}
	for {
		if t := c.take(worker); t != nil {
			c.busy++
			return t
		}
		if c.busy == 0 {
			c.wake.Broadcast()
			return nil
		}
		c.idle++
		c.wake.Wait()
		c.idle--
	}
}

func (c *pool) take(worker int) task {
	for i := range c.queues {
		from := (worker + i) % len(c.queues)
		list := c.queues[from]
		if len(list) == 0 {
			continue
		}
		at, rest := len(list)-1, list[:len(list)-1]
		if i > 0 && !c.ordered {
			at, rest = 0, list[1:]
		}
		t := list[at]
		list[at], c.queues[from] = nil, rest
		return t
	}
	return nil
}
