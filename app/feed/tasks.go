package feed

import (
	"context"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
)

// ActionTimeout is the timeout of an action.
const ActionTimeout = 30 * time.Second

// Tasks are the actions that run in the background.
type Tasks struct {
	notify  func(error)
	workers *crash.Workers
}

// NewTasks creates an empty list. notify shows the failure of an action.
func NewTasks(notify func(error)) *Tasks {
	return &Tasks{notify: notify, workers: crash.NewWorkers()}
}

// Close cancels the actions and waits for them. No action starts afterwards.
func (t *Tasks) Close() { t.workers.Close(nil) }

// Wait waits for the actions that run.
func (t *Tasks) Wait() { t.workers.Wait() }

// Start runs f on a goroutine that Close waits for.
func (t *Tasks) Start(f func(context.Context)) {
	t.workers.Start(func() { f(t.workers.Context()) })
}

// StartRequest is Start with the timeout of an action.
func (t *Tasks) StartRequest(f func(context.Context)) {
	t.Start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, ActionTimeout)
		defer cancel()
		f(ctx)
	})
}

// Do carries out an action with its timeout. A failure becomes a notice.
func (t *Tasks) Do(f func(context.Context) error) {
	t.StartRequest(func(ctx context.Context) {
		if err := f(ctx); err != nil {
			t.Fail(err)
		}
	})
}

// Fail shows the failure of an action, unless the program is exiting.
func (t *Tasks) Fail(err error) {
	if t.workers.Context().Err() == nil {
		t.notify(err)
	}
}

// UndoTime is how long a deletion can be undone.
const UndoTime = 10 * time.Second

// DeleteLater hides something and deletes it after UndoTime, unless undo restores it before. If the
// program exits earlier, it stays. prepare runs at once.
func (t *Tasks) DeleteLater(hide func(on bool), prepare, remove, restore func(context.Context) error) (undo func()) {
	back := make(chan struct{})
	hide(true)
	t.Start(func(ctx context.Context) {
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
			t.Fail(err)
		}
	})
	return sync.OnceFunc(func() { close(back) })
}

// DoNothing does nothing.
func DoNothing(context.Context) error { return nil }
