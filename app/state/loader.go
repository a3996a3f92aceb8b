package state

import (
	"context"
	"sync"
	"time"
)

// loader is the view model of a page that is loaded as a whole. It is safe for concurrent use.
type loader[V any] struct {
	Value *Value[V]
	app   *App
	// fetch requests the state and returns the change that applies it. It blocks.
	fetch func(context.Context) (apply func(*V), err error)
	// problem returns the field for the reason why loading failed.
	problem func(*V) *string
	// Follow loads at changes of this key of the app's view, and at this interval unless it is 0.
	key      func(View) string
	interval time.Duration
}

// Follow keeps the state up to date until ctx ends. It blocks.
func (l *loader[V]) Follow(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	if l.interval > 0 {
		wg.Go(func() {
			tick := time.Tick(l.interval)
			for {
				select {
				case <-tick:
					l.Load(ctx)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	last, loaded := "", false
	for v := range l.app.Value.Changes(ctx) {
		if now := l.key(v); !loaded || now != last {
			last, loaded = now, true
			l.Load(ctx)
		}
	}
}

// Load loads the state once. It blocks.
func (l *loader[V]) Load(ctx context.Context) { l.load(ctx, l.fetch) }

// Reload loads the state again.
func (l *loader[V]) Reload() { l.app.start(l.Load) }

func (l *loader[V]) load(ctx context.Context, fetch func(context.Context) (func(*V), error)) {
	limited, cancel := context.WithTimeout(ctx, actionTimeout)
	defer cancel()
	apply, err := fetch(limited)
	if ctx.Err() != nil {
		return
	}
	l.Value.Update(func(v *V) {
		if err != nil {
			*l.problem(v) = Sentence(err)
			return
		}
		apply(v)
	})
}

// do performs an action, and then loads the state again. A failure becomes a notice.
func (l *loader[V]) do(f func(context.Context) error) {
	l.app.do(func(ctx context.Context) error {
		defer l.Load(ctx)
		return f(ctx)
	})
}
