package feed

import (
	"context"
	"iter"
	"sync"
)

// Value holds the latest state. It is safe for concurrent use.
type Value[S any] struct {
	mu      sync.Mutex // guards the fields below
	v       S
	changed chan struct{} // closed at the next change
}

// NewValue returns a Value with an initial state.
func NewValue[S any](s S) *Value[S] { return &Value[S]{v: s, changed: make(chan struct{})} }

// Update changes the state. f must not change what its slices and maps contain.
func (v *Value[S]) Update(f func(*S)) {
	v.mu.Lock()
	f(&v.v)
	close(v.changed)
	v.changed = make(chan struct{})
	v.mu.Unlock()
}

// Get returns the present state.
func (v *Value[S]) Get() S {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.v
}

// Changes yields the present state and, after changes, the latest one, until ctx ends.
func (v *Value[S]) Changes(ctx context.Context) iter.Seq[S] {
	return func(yield func(S) bool) {
		for {
			v.mu.Lock()
			s, changed := v.v, v.changed
			v.mu.Unlock()
			if !yield(s) {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}
