package ask

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"fairlead/gateway/llm"
)

const (
	// retries is how often a request is sent again.
	retries = 3
	// patience is the longest wait that a server can ask for.
	patience = time.Minute
)

// Retry calls try until it succeeds, fails for good, or has failed four times. tell hears of every further try before the wait and
// returns false to give up. A try that has shown a part of an answer must not return a Failure with Again set.
func Retry(ctx context.Context, tell func(llm.Event) bool, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		var f *Failure
		if err == nil || !errors.As(err, &f) || !f.Again || f.After > patience || attempt > retries {
			if f != nil {
				f.wait()
			}
			return err
		}
		wait := f.After
		if wait == 0 {
			wait = time.Second << attempt
			wait += time.Duration(rand.Int64N(int64(wait / 4))) // not all clients at once
		}
		ev := llm.Event{Type: llm.EventRetry, Retry: llm.Retry{Attempt: attempt, Of: retries, After: wait, Reason: f.phrase()}}
		if !tell(ev) {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}
