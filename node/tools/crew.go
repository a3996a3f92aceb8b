package tools

import (
	"context"
	"runtime"
	"sync"

	"fairlead/gateway/peer/resident"
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

// crew runs tasks on a few goroutines. Each begins with the task that it pushed last: few folders are open at a time, and a search goes by the
// order of names as far as it can.
type crew struct {
	ctx context.Context
	// ordered makes a goroutine that has nothing to do take the task another would do next, so that the order is kept. Otherwise it takes the one
	// that would be last: that is the largest part of a tree, and the goroutines hardly meet.
	ordered bool
	// back ends a burst, see resident.Ease; nil when there were few tasks. The worker that has the last of the few writes it.
	back func()

	mu   sync.Mutex // guards what follows
	wake sync.Cond
	todo [][]task // by worker
	busy int
	idle int
	did  int // tasks that were begun
}

// many tasks make a search large: until it ends more garbage may gather than otherwise. Collecting it takes a tenth of the first Glob of a tree.
const many = 256

func newCrew(ctx context.Context, ordered bool) *crew {
	c := &crew{ctx: ctx, ordered: ordered, todo: make([][]task, workers())}
	c.wake.L = &c.mu
	return c
}

// push adds tasks of a worker; the last of them will be its first.
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

// runAll runs first, and what it and others push, and returns when nothing is left. When the context ends, what has not begun is dropped.
// The caller calls end.
func (c *crew) runAll(first task) {
	c.todo[0] = append(c.todo[0], first)
	var wg sync.WaitGroup
	for i := range c.todo {
		wg.Go(func() { c.work(i) })
	}
	wg.Wait()
}

// end is called when a search has its result: what was put off until then need not hold it up.
func (c *crew) end() {
	if c.back != nil {
		c.back()
	}
}

func (c *crew) work(worker int) {
	for did := false; ; did = true {
		t, large := c.next(worker, did)
		if t == nil {
			return
		}
		if large {
			c.back = resident.Ease()
		}
		if c.ctx.Err() != nil {
			t.drop()
		} else {
			t.run(worker)
		}
	}
}

// next waits for a task; nil means that there will be none. did says that the worker has finished one, and large that there were many.
func (c *crew) next(worker int, did bool) (t task, large bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if did {
		c.busy--
	}
	for {
		if t := c.take(worker); t != nil {
			c.busy++
			c.did++
			return t, c.did == many
		}
		if c.busy == 0 {
			c.wake.Broadcast()
			return nil, false
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
