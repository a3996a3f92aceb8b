package feed

import (
	"context"
	"iter"
	"sync"
)

// Value holds the latest state. It is safe for concurrent use.
type Value[S any] struct {
	mu       *sync.Mutex // guards the fields below and *v; the facts of a feed share it
	v        *S
	version  uint64 // number of changes
	watchers map[chan<- struct{}]bool
}

// NewValue returns a Value with an initial state.
func NewValue[S any](s S) *Value[S] { return newValue(&sync.Mutex{}, &s) }

func newValue[S any](mu *sync.Mutex, v *S) *Value[S] {
	return &Value[S]{mu: mu, v: v, watchers: make(map[chan<- struct{}]bool)}
}

// Update changes the state. f must not change what its slices and maps contain.
func (v *Value[S]) Update(f func(*S)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f(v.v)
	v.touch()
}

// Get returns the present state.
func (v *Value[S]) Get() S {
	v.mu.Lock()
	defer v.mu.Unlock()
	return *v.v
}

// Changes yields the present state and, after changes, the latest one, until ctx ends.
func (v *Value[S]) Changes(ctx context.Context) iter.Seq[S] {
	return changes(ctx, v.mu, []Fact{v}, func() S { return *v.v })
}

// touch counts a change and wakes up the watchers. The caller holds the lock.
func (v *Value[S]) touch() {
	v.version++
	for w := range v.watchers {
		select {
		case w <- struct{}{}:
		default: // it has not seen the previous change yet, either
		}
	}
}

func (v *Value[S]) watch(w chan<- struct{}, on bool) {
	if on {
		v.watchers[w] = true
		return
	}
	delete(v.watchers, w)
}

func (v *Value[S]) changeCount() uint64 { return v.version }

// Fact is a [Value] of a [Feed], for lists of them.
type Fact interface {
	touch()
	watch(w chan<- struct{}, on bool)
	changeCount() uint64
}

// changes yields what get returns under the lock of some facts: at once and after changes of them.
func changes[S any](ctx context.Context, mu *sync.Mutex, facts []Fact, get func() S) iter.Seq[S] {
	return func(yield func(S) bool) {
		wake := make(chan struct{}, 1)
		watch := func(on bool) {
			mu.Lock()
			defer mu.Unlock()
			for _, f := range facts {
				f.watch(wake, on)
			}
		}
		watch(true)
		defer watch(false)
		var last uint64
		for first := true; ; first = false {
			mu.Lock()
			s, count := get(), uint64(0)
			for _, f := range facts {
				count += f.changeCount()
			}
			mu.Unlock()
			if (first || count != last) && !yield(s) {
				return
			}
			last = count
			select {
			case <-wake:
			case <-ctx.Done():
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}
