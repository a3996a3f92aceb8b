// Package bind moves work between goroutines and the GUI thread; no other package crosses this
// border. Widgets may be used on the GUI thread only.
package bind

import (
	"context"
	"iter"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/native"
	"fairlead/gateway/peer/crash"
)

// Source has a state that changes: a feed.Value or a feed.Picture.
type Source[S any] interface {
	// Get returns the present state.
	Get() S
	// Changes yields the present state and, after changes, the latest one, until ctx ends.
	Changes(ctx context.Context) iter.Seq[S]
}

// Watch calls show on the GUI thread with the state of v, at first and after changes, until ctx ends, a
// few times a second; see [Together]. It passes the state of that moment: an older one would undo what
// another function has shown in the meantime. It returns at once.
func Watch[S any](ctx context.Context, v Source[S], show func(S)) {
	c := crossingOf(ctx)
	crash.Go(func() {
		for range v.Changes(ctx) {
			if ctx.Err() != nil {
				return
			}
			c.run(ctx, function{f: unlessDone(ctx, func() { show(v.Get()) })})
			c.rest(ctx)
		}
	})
}

// Follow runs f, which keeps a view model up to date until ctx ends, off the GUI thread. It returns at
// once. After a panic f runs again.
func Follow(ctx context.Context, f func(context.Context)) {
	crash.Go(func() { crash.Forever(ctx, func() { f(ctx) }) })
}

// Go runs work off the GUI thread and then done on it, unless ctx has ended by then.
func Go[R any](ctx context.Context, work func(context.Context) (R, error), done func(R, error)) {
	crash.Go(func() {
		r, err := guard(ctx, work)
		Do(ctx, func() { done(r, err) })
	})
}

// Newest runs requests of which only the newest one counts: answers may arrive in any order. Its zero
// value is ready. Use it on the GUI thread.
type Newest struct{ cancel context.CancelFunc }

// Context returns the context of a new request, and ends that of the former one.
func (n *Newest) Context(ctx context.Context) context.Context {
	n.Cancel()
	ctx, n.cancel = context.WithCancel(ctx)
	return ctx
}

// Cancel ends the newest request, if there is one.
func (n *Newest) Cancel() {
	if n.cancel != nil {
		n.cancel()
	}
}

// guard runs work. A panic is its failure, so that the gateway in this process goes on.
func guard[R any](ctx context.Context, work func(context.Context) (R, error)) (r R, err error) {
	defer crash.Recover(&err, "window")
	return work(ctx)
}

// Run is [Go] for work without a result.
func Run(ctx context.Context, work func(context.Context) error, done func(error)) {
	Go(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, work(ctx) }, func(_ struct{}, err error) { done(err) })
}

// Runner runs work off the GUI thread and then done on it.
type Runner func(work func(context.Context) error, done func(error))

// Until is a [Runner] that calls [Run] with ctx.
func Until(ctx context.Context) Runner {
	return func(work func(context.Context) error, done func(error)) { Run(ctx, work, done) }
}

// Do runs f on the GUI thread, unless ctx has ended by then. It returns at once.
func Do(ctx context.Context, f func()) { fyne.Do(native.Wake(unlessDone(ctx, f))) }

// Each calls f on the GUI thread for each value of c, until c is closed. It returns at once.
func Each[T any](ctx context.Context, c <-chan T, f func()) {
	crash.Go(func() {
		for range c {
			Do(ctx, f)
		}
	})
}

// Paced calls f on the GUI thread after a value of c, at most once in an interval, until ctx ends.
// It waits for the end of each call. It returns at once.
func Paced(ctx context.Context, c <-chan struct{}, interval time.Duration, f func()) {
	crash.Go(func() {
		for wait(ctx, c) {
			pause := time.After(interval)
			drawn := make(chan struct{})
			Do(ctx, func() {
				defer close(drawn)
				f()
			})
			if !wait(ctx, drawn) || !wait(ctx, pause) {
				return
			}
		}
	})
}

// wait waits for a value of c. It reports whether ctx goes on.
func wait[T any](ctx context.Context, c <-chan T) bool {
	select {
	case <-c:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// unlessDone returns a function that calls f, unless ctx has ended.
func unlessDone(ctx context.Context, f func()) func() {
	return func() {
		if ctx.Err() == nil {
			crash.Run("window", f)
		}
	}
}

// Intervals of [Every] while nothing happens: windows show times in seconds, and hidden ones show
// none.
const (
	idleInterval   = time.Second
	hiddenInterval = 5 * time.Second
)

// Every calls f on the GUI thread at an interval until ctx ends, and more rarely while nothing
// happens; see also [Together]. It waits for the end of each call.
func Every(ctx context.Context, interval time.Duration, f func(now time.Time)) {
	every(ctx, interval, native.Idle, f)
}

func every(ctx context.Context, interval time.Duration, idle func() (ended <-chan struct{}, isHidden bool), f func(now time.Time)) {
	c := crossingOf(ctx)
	crash.Go(func() {
		for last := time.Now(); waitUntilDue(ctx, last, interval, idle) == nil; last = time.Now() {
			c.run(ctx, function{f: unlessDone(ctx, func() { f(time.Now()) }), isClock: true})
		}
	})
}

// waitUntilDue waits for an interval after a time, and longer while nothing happens. It returns the
// error of ctx.
func waitUntilDue(ctx context.Context, last time.Time, interval time.Duration, idle func() (ended <-chan struct{}, isHidden bool)) error {
	ended, isHidden := idle()
	due := time.After(time.Until(last.Add(interval)))
	idled := due
	switch {
	case ended == nil:
	case isHidden:
		idled = time.After(max(interval, hiddenInterval))
	default:
		idled = time.After(max(interval, idleInterval))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-idled:
		return nil
	case <-ended:
	}
	select {
	case <-ctx.Done():
	case <-due:
	}
	return ctx.Err()
}
