package ask

import (
	"context"
	"errors"
	"iter"

	"fairlead/gateway/llm"
)

// Out passes the events of an answer on to whoever reads the stream. It belongs to the goroutine that makes the answer.
type Out struct {
	yield   func(llm.Event, error) bool
	stopped bool
	shown   bool // something that cannot be taken back is out
}

// To returns an Out that gives its events to yield.
func To(yield func(llm.Event, error) bool) *Out { return &Out{yield: yield} }

// Emit passes ev on and reports whether anybody still reads.
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

// Stopped reports whether the reader of the stream has gone.
func (o *Out) Stopped() bool { return o.stopped }

// Stream is the answer to a request that is sent until an answer begins, as [Retry] says. try sends it once and passes the answer on; its ctx ends with the
// stream. learn hears why a server refused, and reports whether the next try asks for something else and need not wait. Nothing is asked again once a
// part of an answer has been shown.
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
