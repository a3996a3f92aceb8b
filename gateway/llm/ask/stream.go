package ask

import (
	"context"
	"errors"
	"iter"

	"fairlead/gateway/llm"
)

// Out emits the events of an answer to the reader of the stream. It belongs to the goroutine that
// produces the answer.
type Out struct {
	yield   func(llm.Event, error) bool
	stopped bool
	shown   bool // an event was emitted that cannot be retracted
}

// To returns an Out that emits its events to yield.
func To(yield func(llm.Event, error) bool) *Out { return &Out{yield: yield} }

// Emit emits ev and reports whether the stream still has a reader.
func (o *Out) Emit(ev llm.Event) bool {
	if o.stopped {
		return false
	}
	if ev.Type != llm.EventRetry && ev.Type != llm.EventUsage {
		o.shown = true
	}
	o.stopped = !o.yield(ev, nil)
	return !o.stopped
}

// Stopped reports whether the reader of the stream has stopped.
func (o *Out) Stopped() bool { return o.stopped }

// Stream returns the answer to a request, with retries as in [Retry] until an answer begins. try
// sends the request once and emits the answer; its ctx ends with the stream. learn gets the reason
// of a refusal, and reports whether the next attempt will differ and need not wait. There are no
// retries once a part of an answer has been shown.
func Stream(ctx context.Context, try func(context.Context, *Out) error, learn func(*Failure) bool) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		out := To(yield)
		err := Retry(ctx, out.Emit, func() error {
			for {
				err := try(ctx, out)
				var f *Failure
				switch {
				case err == nil || out.stopped:
					return nil
				case !errors.As(err, &f):
					return err
				case out.shown:
					f.Again = false
				case learn(f):
					continue
				}
				return f
			}
		})
		if err != nil && !out.stopped {
			yield(llm.Event{}, err)
		}
	}
}
