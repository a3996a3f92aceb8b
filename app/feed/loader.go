package feed

import (
	"context"
	"time"

	"fairlead/gateway/peer/crash"
)

// Loader is the view model of a page that is loaded as a whole. It is safe for concurrent use.
type Loader[V any] struct {
	Value *Value[V]
	Feed  *Feed
	// Fetch requests the state and returns the change that applies it. It blocks.
	Fetch func(context.Context) (apply func(*V), err error)
	// Problem returns the field for the reason why loading failed.
	Problem func(*V) *string
	// Follow loads at changes of this key of some facts, and at this interval unless it is 0.
	Key      func(View) string
	Facts    []Fact
	Interval time.Duration
}

// Follow keeps the state up to date until ctx ends. It blocks.
func (l *Loader[V]) Follow(ctx context.Context) {
	var wg crash.Group
	defer wg.Wait()
	if l.Interval > 0 {
		wg.Go(func() {
			tick := time.Tick(l.Interval)
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
	for v := range l.Feed.Watch(l.Facts...).Changes(ctx) {
		if now := l.Key(v); !loaded || now != last {
			last, loaded = now, true
			l.Load(ctx)
		}
	}
}

// Load loads the state once. It blocks.
func (l *Loader[V]) Load(ctx context.Context) { l.LoadWith(ctx, l.Fetch) }

// Reload loads the state again.
func (l *Loader[V]) Reload() { l.Feed.Tasks.Start(l.Load) }

// LoadWith loads the state once with another request. It blocks.
func (l *Loader[V]) LoadWith(ctx context.Context, fetch func(context.Context) (func(*V), error)) {
	limited, cancel := context.WithTimeout(ctx, ActionTimeout)
	defer cancel()
	apply, err := fetch(limited)
	if ctx.Err() != nil {
		return
	}
	l.Value.Update(func(v *V) {
		if err != nil {
			*l.Problem(v) = Sentence(err)
			return
		}
		apply(v)
	})
}

// Do performs an action, and then loads the state again. A failure becomes a notice.
func (l *Loader[V]) Do(f func(context.Context) error) {
	l.Feed.Tasks.Do(func(ctx context.Context) error {
		defer l.Load(ctx)
		return f(ctx)
	})
}
