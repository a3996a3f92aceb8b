package tools

import (
	"context"
	"runtime"
	"sync"
)

// searching bounds how many searches run at once: the others wait. Each has a few open folders and a few buffers.
var searching = make(chan struct{}, 8)

// enter waits for a turn to search. The caller calls leave when there is no error.
func enter(ctx context.Context) (leave func(), err error) {
	if ctx.Err() == nil {
		select {
		case searching <- struct{}{}:
			return func() { <-searching }, nil
		case <-ctx.Done():
		}
	}
	return nil, failf("cancelled")
}

// workers is how many goroutines look at files at once.
func workers() int { return max(2, min(runtime.GOMAXPROCS(0), 8)) }

// task is a folder to look at, or a part of one. Either run or drop is called, once.
type task interface {
	run(worker int)
	drop()
}

// crew runs tasks on a few goroutines, the one that was pushed last first: few folders are open at a time, and a search goes by the order
// of names as far as it can.
type crew struct {
	ctx  context.Context
	mu   sync.Mutex // guards what follows
	wake sync.Cond
	todo []task
	busy int
}

// push adds tasks; the last of them will be the first.
func (c *crew) push(tasks ...task) {
	if len(tasks) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.todo = append(c.todo, tasks...)
	if len(tasks) == 1 {
		c.wake.Signal()
	} else {
		c.wake.Broadcast()
	}
}

// runAll runs first, and what it and others push, and returns when nothing is left. When the context ends, what has not begun is dropped.
func (c *crew) runAll(first task) {
	c.wake.L = &c.mu
	c.todo = append(c.todo, first)
	var wg sync.WaitGroup
	for i := range workers() {
		wg.Go(func() { c.work(i) })
	}
	wg.Wait()
}

func (c *crew) work(worker int) {
	for {
		t := c.take()
		if t == nil {
			return
		}
		if c.ctx.Err() != nil {
			t.drop()
		} else {
			t.run(worker)
		}
		c.mu.Lock()
		c.busy--
		if c.busy == 0 && len(c.todo) == 0 {
			c.wake.Broadcast()
		}
		c.mu.Unlock()
	}
}

// take waits for a task; nil means that there will be none.
func (c *crew) take() task {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.todo) == 0 && c.busy > 0 {
		c.wake.Wait()
	}
	if len(c.todo) == 0 {
		return nil
	}
	last := len(c.todo) - 1
	t := c.todo[last]
	c.todo[last] = nil
	c.todo = c.todo[:last]
	c.busy++
	return t
}
