package state

import (
	"context"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
)

// actionTimeout is the timeout of an action.
const actionTimeout = 30 * time.Second

// tasks are the actions that run in the background.
type tasks struct {
	ctx    context.Context
	cancel context.CancelFunc
	notify func(error)
	wg     crash.Group // counts those that run

	mu     sync.Mutex // guards the field below
	closed bool
}

// newTasks creates an empty list. notify shows the failure of an action.
func newTasks(notify func(error)) *tasks {
	t := &tasks{notify: notify}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// close cancels the actions and waits for them. No action starts afterwards.
func (t *tasks) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.cancel()
	t.wg.Wait()
}

// start runs f on a goroutine that close waits for.
func (t *tasks) start(f func(context.Context)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.wg.Go(func() { f(t.ctx) })
	}
}

// startRequest is start with the timeout of an action.
func (t *tasks) startRequest(f func(context.Context)) {
	t.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, actionTimeout)
		defer cancel()
		f(ctx)
	})
}

// do carries out an action with its timeout. A failure becomes a notice.
func (t *tasks) do(f func(context.Context) error) {
	t.startRequest(func(ctx context.Context) {
		if err := f(ctx); err != nil {
			t.fail(err)
		}
	})
}

// fail shows the failure of an action, unless the program is exiting.
func (t *tasks) fail(err error) {
	if t.ctx.Err() == nil {
		t.notify(err)
	}
}

// UndoTime is how long a deletion can be undone.
const UndoTime = 10 * time.Second

// deleteLater hides something and deletes it after UndoTime, unless undo restores it before. If the
// program exits earlier, it stays. prepare runs at once.
func (t *tasks) deleteLater(hide func(on bool), prepare, remove, restore func(context.Context) error) (undo func()) {
	back := make(chan struct{})
	hide(true)
	t.start(func(ctx context.Context) {
		defer hide(false)
		err := prepare(ctx)
		if err == nil {
			select {
			case <-time.After(UndoTime):
				err = remove(ctx)
			case <-back:
				err = restore(ctx)
			case <-ctx.Done():
			}
		}
		if err != nil {
			t.fail(err)
		}
	})
	return sync.OnceFunc(func() { close(back) })
}
