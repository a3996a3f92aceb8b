package crash

import (
	"context"
	"path"
	"reflect"
	"runtime"
	"sync"
	"time"
)

// Group is a [sync.WaitGroup] in which a panic ends only its own goroutine. What waits for that
// goroutine by other means, such as a channel, must be served by a deferred call. The zero value is
// ready.
type Group struct{ sync.WaitGroup }

// Go starts f in a goroutine.
func (g *Group) Go(f func()) { g.WaitGroup.Go(func() { Run(funcName(f), f) }) }

// Go starts f in a goroutine. A panic ends only that.
func Go(f func()) { go Run(funcName(f), f) }

// Result starts f in a goroutine, and returns a channel with room for its error, which is an *Error if
// it panics.
func Result(f func() error) chan error {
	done := make(chan error, 1)
	go func() { done <- Call(funcName(f), f) }()
	return done
}

// AfterFunc is [time.AfterFunc] for an f that may panic.
func AfterFunc(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { Run(funcName(f), f) })
}

// WhenDone is [context.AfterFunc] for an f that may panic.
func WhenDone(ctx context.Context, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, func() { Run(funcName(f), f) })
}

// restartPause is the time after which work that panicked runs again.
const restartPause = time.Second

// Forever runs f, which lasts until ctx ends. If it panics, it runs again after a pause: it must begin
// with the present state.
func Forever(ctx context.Context, f func()) {
	for Run(funcName(f), f) != nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(restartPause):
		}
	}
}

// funcName names a function in the log, such as "servers.(*Manager).Run.func1".
func funcName(f any) string {
	return path.Base(runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name())
}
