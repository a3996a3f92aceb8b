// Package bind is the border between goroutines and the GUI thread: the only code that crosses it. On the GUI thread widgets are
// touched; off it they are not.
package bind

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/state"
)

// pace is how long at least lies between two redraws of one view: ten a second is what a reader can follow, and leaves the machine
// alone while a model streams.
const pace = 100 * time.Millisecond

// Watch shows every state of v on the GUI thread until ctx ends, at most ten a second; states in between are skipped. It returns at
// once; wait is closed when show will not be called any more.
func Watch[S any](ctx context.Context, v *state.Value[S], show func(S)) (wait <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for s := range v.Changes(ctx) {
			if ctx.Err() != nil {
				return
			}
			began := time.Now()
			fyne.DoAndWait(func() {
				if ctx.Err() == nil {
					show(s)
				}
			})
			if rest := pace - time.Since(began); rest > 0 {
				timer := time.NewTimer(rest)
				select {
				case <-timer.C:
				case <-ctx.Done():
					timer.Stop()
				}
			}
		}
	}()
	return done
}

// Go runs work off the GUI thread and then done on it, unless ctx has ended by then.
func Go[R any](ctx context.Context, work func(context.Context) (R, error), done func(R, error)) {
	go func() {
		r, err := work(ctx)
		fyne.Do(func() {
			if ctx.Err() == nil {
				done(r, err)
			}
		})
	}()
}

// Do runs f on the GUI thread, unless ctx has ended by then. It returns at once.
func Do(ctx context.Context, f func()) {
	fyne.Do(func() {
		if ctx.Err() == nil {
			f()
		}
	})
}

// Every calls f on the GUI thread at an interval until ctx ends.
func Every(ctx context.Context, interval time.Duration, f func(now time.Time)) {
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				fyne.Do(func() {
					if ctx.Err() == nil {
						f(now)
					}
				})
			}
		}
	}()
}
