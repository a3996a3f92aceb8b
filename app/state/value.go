// Package state holds what the windows show, as plain values and without any toolkit: it follows the gateway's feed, turns it into
// view-models, and carries out what a person does in a window. Its actions return at once; what they lead to arrives as a changed
// value.
package state

import (
	"context"
	"iter"
	"sync"
)

// Value is a cell that holds the newest state. It is safe for use by many goroutines.
type Value[S any] struct {
	mu      sync.Mutex // guards what follows
	v       S
	changed chan struct{} // closed at the next change
}

// NewValue makes a cell.
func NewValue[S any](s S) *Value[S] { return &Value[S]{v: s, changed: make(chan struct{})} }

// Update changes the state. f must not keep or change what it was given.
func (v *Value[S]) Update(f func(S) S) {
	v.mu.Lock()
	v.v = f(v.v)
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

// Changes yields the present state and then, after each change, the newest: states in between are skipped while the reader is busy. It
// ends with ctx.
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
				return
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}
