// Package ask sends requests to model servers and reads their answers: it converts failures to
// errors that the agent and the person can act on, and retries requests if that can help. All
// providers use it.
package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

const (
	// retries is the number of further attempts.
	retries = 3
	// maxServerWait is the longest wait that a server can request.
	maxServerWait = time.Minute
	// longestAdvice is the longest wait that an error mentions: a longer one is useless as advice.
	longestAdvice = 48 * time.Hour
)

// Retry calls try until it succeeds, fails permanently, or has failed four times. Before each wait
// it calls emit, which returns false to give up. An attempt that has shown a part of an answer must
// not return a Failure with Again set.
func Retry(ctx context.Context, emit func(llm.Event) bool, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		var f *Failure
		if !errors.As(err, &f) {
			return err
		}
		if f.Again && f.After > maxServerWait && f.After < longestAdvice {
			f.Err = f.Err.With(strings.TrimSuffix(f.Err.Message, ".") + ". Try again in " + llm.Pause(f.After) + ".")
		}
		if !f.Again || f.After > maxServerWait || attempt > retries {
			return err
		}
		wait := f.After
		if wait == 0 {
			wait = time.Second << attempt
			// so that not all clients retry at once
			wait += time.Duration(rand.Int64N(int64(wait / 4)))
		}
		if !emit(llm.Event{Type: llm.EventRetry, Retry: llm.Retry{Attempt: attempt, Of: retries, After: wait, Reason: f.phrase()}}) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// Out emits the events of an answer to the reader of the stream. It belongs to the goroutine that
// produces the answer.
type Out struct {
	yield   func(llm.Event, error) bool
	stopped bool
	shown   bool // an event was emitted that cannot be retracted
	bytes   int
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
	o.bytes += len(ev.Text)
	o.stopped = !o.yield(ev, nil)
	return !o.stopped
}

// Bytes returns the length of the text, thoughts and arguments so far.
func (o *Out) Bytes() int { return o.bytes }

// Text emits a piece of text or of a thought, unless it is empty.
func (o *Out) Text(kind llm.EventType, piece string) {
	if piece != "" {
		o.Emit(llm.Event{Type: kind, Text: piece})
	}
}

// Call emits the end of a call with the model's text of its arguments, which are compacted, so that
// they are the same before and after they are stored. Empty text is an empty object; an object that
// was encoded twice, as some servers do, is decoded. Anything else is bad.
func (o *Out) Call(index int, b protocol.Block, args string) {
	ev := llm.Event{Type: llm.EventCall, Index: index, Block: b}
	ev.Block.Arguments = json.RawMessage("{}")
	text := strings.TrimSpace(args)
	var inner string
	if json.Unmarshal([]byte(text), &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") {
		text = inner
	}
	var object map[string]json.RawMessage
	var compact bytes.Buffer
	switch {
	case text == "" || text == "null":
	case json.Unmarshal([]byte(text), &object) != nil || json.Compact(&compact, []byte(text)) != nil:
		ev.BadArgs = args
	default:
		ev.Block.Arguments = compact.Bytes()
	}
	o.Emit(ev)
}

// WholeCall emits a call that the server sends in one piece.
func (o *Out) WholeCall(index int, b protocol.Block, args string) {
	o.Emit(llm.Event{Type: llm.EventCallStart, Index: index, Block: b})
	o.Emit(llm.Event{Type: llm.EventCallDelta, Index: index, Text: args})
	o.Call(index, b, args)
}

// IsStopped reports whether the reader of the stream has stopped.
func (o *Out) IsStopped() bool { return o.stopped }

// Reader reads the events of an answer and emits what they mean.
type Reader interface {
	Event(ev Event) error
	// End is called after the last event. done reports that the server marked the end with [DONE],
	// which only compatible servers do.
	End(done bool) error
}

// Exchange sends a request and passes its answer to r, until the reader of out has stopped.
func Exchange(ctx context.Context, o llm.Options, request Request, out *Out, r Reader) error {
	resp, err := Send(ctx, o, request)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for ev, err := range Events(ctx, resp) {
		if string(ev.Data) == "[DONE]" {
			return r.End(true)
		}
		if err == nil {
			err = r.Event(ev)
		}
		if err != nil || out.stopped {
			return err
		}
	}
	return r.End(false)
}

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

// Refusals are the settings that a server has refused. The zero value is empty and safe for
// concurrent use.
type Refusals struct{ settings sync.Map }

// Has reports whether the server has refused a setting.
func (r *Refusals) Has(setting string) bool {
	_, found := r.settings.Load(setting)
	return found
}

// Add adds a setting and reports whether it is new.
func (r *Refusals) Add(setting string) bool {
	_, found := r.settings.LoadOrStore(setting, true)
	return !found
}
