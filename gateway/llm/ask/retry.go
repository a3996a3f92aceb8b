package ask

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"fairlead/gateway/llm"
)

const (
	// retries is the number of further attempts.
	retries = 3
	// patience is the longest wait that a server can request.
	patience = time.Minute
)

// Retry calls try until it succeeds, fails permanently, or has failed four times. Before each wait
// it calls tell, which returns false to give up. An attempt that has shown a part of an answer must
// not return a Failure with Again set.
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
			// so that not all clients retry at once
			wait += time.Duration(rand.Int64N(int64(wait / 4)))
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
