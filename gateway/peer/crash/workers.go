package crash

import (
	"context"
	"sync"
)

// Workers are goroutines that end with their owner: they share a context, and none starts after
// Stop. They are safe for concurrent use.
type Workers struct {
	// Group waits for the goroutines. Go starts a further one from one of them, also after Stop.
	Group
	ctx    context.Context
	cancel context.CancelCauseFunc
	mu     sync.Mutex // held while work begins, so that Wait counts all that has begun before Stop
}

// NewWorkers returns no goroutines yet. The caller stops them.
func NewWorkers() *Workers {
	w := new(Workers)
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	return w
}

// Context returns the context of the goroutines, which Stop cancels.
func (w *Workers) Context() context.Context { return w.ctx }

// Begin counts work on the caller's goroutine, until Done. It returns false after Stop.
func (w *Workers) Begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() != nil {
		return false
	}
	w.Add(1)
	return true
}

// Start starts f in a goroutine. After Stop it does nothing and returns false.
func (w *Workers) Start(f func()) bool {
	if !w.Begin() {
		return false
	}
	defer w.Done()
	w.Go(f)
	return true
}

// Stop cancels the context, for a reason (nil: context.Canceled). It does not wait.
func (w *Workers) Stop(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel(cause)
}

// Close is Stop, and waits for the goroutines.
func (w *Workers) Close(cause error) {
	w.Stop(cause)
	w.Wait()
}
