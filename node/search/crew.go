package search

import (
	"context"
	"runtime"
	"sync"

	"fairlead/gateway/peer/toolkit"
)

// searching bounds the searches that run at the same time; further ones wait. Each has a few open
// folders and buffers.
var searching = make(chan struct{}, 8)

// enter waits until a search may start. If there is no error, the caller must call leave.
func enter(ctx context.Context) (leave func(), err error) {
	if ctx.Err() == nil {
		select {
		case searching <- struct{}{}:
			return func() { <-searching }, nil
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
	drop()
}

// crew is a worker pool that runs tasks on a few goroutines. Each worker starts with the task that
// it pushed last, so that few folders are open at a time and a search follows the order of names as
// far as possible.
type crew struct {
	ctx context.Context
	// ordered makes an idle worker take the task that another worker would run next, which
	// preserves the order. Otherwise it takes the one that would run last: that is the largest part
	// of a tree, and workers rarely compete.
	ordered bool

	mu   sync.Mutex // guards the fields below
	wake sync.Cond
	todo [][]task // queue of each worker
	busy int
	idle int
}

func newCrew(ctx context.Context, ordered bool) *crew {
	c := &crew{ctx: ctx, ordered: ordered, todo: make([][]task, workers())}
	c.wake.L = &c.mu
	return c
}

// push queues tasks of a worker, who runs the last of them first.
func (c *crew) push(worker int, tasks ...task) {
	if len(tasks) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.todo[worker] = append(c.todo[worker], tasks...)
	if c.idle > 0 {
		c.wake.Broadcast()
	}
}

// runAll runs first and all tasks that follow from it, and returns when none remain. When the
// context ends, tasks that have not started are dropped.
func (c *crew) runAll(first task) {
	c.todo[0] = append(c.todo[0], first)
	var wg sync.WaitGroup
	for i := range c.todo {
		wg.Go(func() { c.work(i) })
	}
	wg.Wait()
}

func (c *crew) work(worker int) {
	for did := false; ; did = true {
		t := c.next(worker, did)
		if t == nil {
			return
		}
		if c.ctx.Err() != nil {
			t.drop()
		} else {
			t.run(worker)
		}
	}
}

// next waits for a task; nil means that no more will come. did says that the worker has finished a
// task.
func (c *crew) next(worker int, did bool) task {
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

func (c *crew) take(worker int) task {
	for i := range c.todo {
		from := (worker + i) % len(c.todo)
		list := c.todo[from]
		if len(list) == 0 {
			continue
		}
		at, rest := len(list)-1, list[:len(list)-1]
		if i > 0 && !c.ordered {
			at, rest = 0, list[1:]
		}
		t := list[at]
		list[at], c.todo[from] = nil, rest
		return t
	}
	return nil
}
