package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/stream"
)

const (
	// stall is how long nothing may be heard of a transfer.
	stall = 60 * time.Second
	// consentLimit is how long a destination of our own may take to accept: it may have to ask someone.
	consentLimit = 10 * time.Minute
	// startDelay is how long after its report a source of the original hears transfer.start: it listens only when it has read the report's answer.
	startDelay = 150 * time.Millisecond
	// stopLimit is how long it may take to tell an end that it is over.
	stopLimit = 2 * time.Second
)

// Causes of the end of an attempt.
var (
	errPaused    = errors.New("paused")
	errCancelled = errors.New("cancelled")
	errShut      = errors.New("the gateway stops")
	errStall     = protocol.ErrTimeout.With("Transfer timeout")
)

// finalError is an end's own word that it cannot: trying again at once is of no use.
type finalError struct{ text string }

func (e *finalError) Error() string { return e.text }

func final(format string, args ...any) error { return &finalError{fmt.Sprintf(format, args...)} }

// outcome is what an attempt that came to its end has moved.
type outcome struct {
	done  protocol.TransferDoneParams
	bytes int64 // that arrived
}

// attempt moves the files once. Errors: *awayError for a machine that is or went away, *finalError, errStall, or ctx's cause.
func (e *Engine) attempt(ctx context.Context, j *job) (out outcome, err error) {
	src, releaseSrc, err := e.side(j, j.row.From, "Source")
	if err != nil {
		return out, err
	}
	defer releaseSrc()
	dst, releaseDst, err := e.side(j, j.row.To, "Destination")
	if err != nil {
		return out, err
	}
	defer releaseDst()
	if src.id = e.number(); dst.link == src.link {
		dst.id = e.number()
	} else {
		dst.id = src.id
	}
	r := newRelay(src, dst)
	a := &attempt{Engine: e, job: j, relay: r}
	if !r.stream {
		if err := a.single(); err != nil {
			return out, err
		}
	}
	e.mu.Lock()
	e.relays[src.id], e.relays[dst.id] = r, r
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.relays, src.id)
		delete(e.relays, dst.id)
		e.mu.Unlock()
		r.src.in.Close(io.ErrClosedPipe)
		r.dst.in.Close(io.ErrClosedPipe)
	}()
	e.update(j, func(t *protocol.Transfer) { t.Simple, t.Attempts = !r.stream, t.Attempts+1 })

	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { a.watch(ctx, cancel) })
	out, err = a.run(ctx, &wg)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		a.stop(err)
	}
	cancel(nil)
	r.src.in.Close(io.ErrClosedPipe)
	r.dst.in.Close(io.ErrClosedPipe)
	wg.Wait()
	return out, err
}

// attempt is one try of a job.
type attempt struct {
	*Engine
	job    *job
	relay  *relay
	asking atomic.Bool // the destination may be asking someone
	opened atomic.Bool // the destination has accepted, and not heard the end
}

// single refuses what the seed's protocol cannot do.
func (a *attempt) single() error {
	t := a.job.view()
	if len(t.Sources) > 1 || t.Into {
		for _, s := range []*side{a.relay.src, a.relay.dst} {
			if !s.ours {
				return final("%s can send or receive only one file at a time, under the name that is given", s.name)
			}
		}
	}
	return nil
}

// watch ends the attempt when a machine goes away or nothing is heard any more.
func (a *attempt) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.relay.src.link.Gone():
			cancel(&awayError{a.relay.src.name, fmt.Sprintf("Node disconnected: %s", a.relay.src.name)})
			return
		case <-a.relay.dst.link.Gone():
			cancel(&awayError{a.relay.dst.name, fmt.Sprintf("Node disconnected: %s", a.relay.dst.name)})
			return
		case <-tick.C:
			if a.relay.silent() > a.patience() {
				cancel(errStall)
				return
			}
		}
	}
}

func (a *attempt) patience() time.Duration {
	if a.relay.stream && a.asking.Load() {
		return consentLimit
	}
	return stall
}

// run takes the attempt through the lifecycle of seed 004.
func (a *attempt) run(ctx context.Context, wg *sync.WaitGroup) (out outcome, err error) {
	r, t := a.relay, a.job.view()
	_, path := split(t.Sources[0])
	send := protocol.TransferSend{TransferID: r.src.id, Path: path}
	if r.stream {
		send.Stream = a.terms(t)
		for _, s := range t.Sources {
			_, p := split(s)
			send.Stream.Paths = append(send.Stream.Paths, p)
		}
	}
	if err := r.src.event(ctx, protocol.EventTransferSend, send); err != nil {
		return out, err
	}
	meta, err := wait(ctx, r.meta)
	reported := time.Now()
	switch {
	case err != nil:
		return out, err
	case meta.Error != "":
		return out, final("%s", meta.Error)
	}
	size := int64(0)
	if meta.Size != nil {
		size = *meta.Size
	}
	a.update(a.job, func(t *protocol.Transfer) {
		t.Bytes, t.Files, t.Mime = size, max(meta.Files, 1), meta.Mime
		if r.stream {
			t.Files = meta.Files
		}
	})

	_, path = split(t.Destination)
	receive := protocol.TransferReceive{TransferID: r.dst.id, Path: path, Size: size, Mime: meta.Mime}
	if r.stream {
		receive.Stream = a.terms(t)
	} else if r.dst.ours {
		receive.Conflict = t.Conflict
	}
	a.asking.Store(true)
	if err := r.dst.event(ctx, protocol.EventTransferReceive, receive); err != nil {
		return out, err
	}
	accept, err := wait(ctx, r.accept)
	a.asking.Store(false)
	switch {
	case err != nil:
		return out, err
	case accept.Error != "":
		return out, final("%s", accept.Error)
	}

	a.opened.Store(true)
	forwarded := make(chan error, 1)
	wg.Go(func() { forwarded <- a.forward(ctx, r.src, r.dst) })
	if r.stream {
		wg.Go(func() { a.forward(ctx, r.dst, r.src) })
	}
	if !r.src.ours {
		if err := sleep(ctx, time.Until(reported.Add(startDelay))); err != nil {
			return out, err
		}
	}
	if err := r.src.event(ctx, protocol.EventTransferStart, protocol.TransferStartEvent{TransferID: r.src.id}); err != nil {
		return out, err
	}
	if r.stream {
		return a.streamed(ctx)
	}
	return a.plain(ctx, size, forwarded)
}

func (a *attempt) terms(t protocol.Transfer) *protocol.TransferStream {
	by := t.AskedBy
	return &protocol.TransferStream{ID: t.ID, Attempt: t.Attempts, Into: t.Into, Conflict: t.Conflict, Links: t.Links, From: t.From, AskedBy: &by, Direct: t.Session == ""}
}

// streamed waits for the end of a transfer between our own ends.
func (a *attempt) streamed(ctx context.Context) (out outcome, err error) {
	r := a.relay
	var complete <-chan protocol.TransferCompleteParams = r.complete
	for {
		select {
		case c := <-complete:
			if c.Error != "" {
				return out, final("%s", c.Error)
			}
			complete = nil
		case out.done = <-r.done:
			if out.done.Error != "" {
				return out, final("%s", out.done.Error)
			}
			return out, nil
		case <-ctx.Done():
			return out, context.Cause(ctx)
		}
	}
}

// plain waits for the end of one of the seed.
func (a *attempt) plain(ctx context.Context, size int64, forwarded <-chan error) (out outcome, err error) {
	r := a.relay
	var problem string
	for waiting := true; waiting; {
		select {
		case c := <-r.complete:
			problem = c.Error
			r.src.in.Close(io.EOF) // what came before is passed on first
		case err := <-forwarded:
			if !errors.Is(err, io.EOF) {
				return out, err
			}
			waiting = false
		case d := <-r.done: // before its end: it has failed
			if d.Error == "" {
				d.Error = "The destination stopped before everything was sent"
			}
			return out, final("%s", d.Error)
		case <-ctx.Done():
			return out, context.Cause(ctx)
		}
	}
	if problem != "" {
		return out, final("%s", problem)
	}
	got := r.bytes.Load()
	a.opened.Store(false) // it gets its end here
	if err := r.dst.link.SendEventBehind(ctx, protocol.EventTransferEnd, protocol.TransferEnd{TransferID: r.dst.id}); err != nil {
		return out, err
	}
	if out.done, err = wait(ctx, r.done); err != nil {
		return out, err
	}
	switch {
	case out.done.Error != "":
		return out, final("%s", out.done.Error)
	case got != size: // the original takes that for a success
		return out, final("The source announced %d bytes and sent %d", size, got)
	}
	if out.bytes = got; out.done.BytesWritten != nil {
		out.bytes = *out.done.BytesWritten
	}
	if out.bytes != size {
		return out, final("The destination wrote %d bytes of %d", out.bytes, size)
	}
	return out, nil
}

// forward passes on what one end sends to the other until the inbox ends; io.EOF is its proper end.
func (a *attempt) forward(ctx context.Context, from, to *side) error {
	for {
		f, err := from.in.Next(ctx)
		if err != nil {
			if errors.Is(err, stream.ErrFlood) {
				a.job.stop(final("%s: %v", from.name, err))
			}
			return err
		}
		n := len(f.Body())
		if from == a.relay.dst {
			if p, ok := stream.Progress(f); ok {
				a.arrived(a.job, p)
			}
		}
		if from.id != to.id {
			f.SetID(to.id)
		}
		if err := to.link.SendFrame(ctx, f); err != nil {
			return err
		}
		if !a.relay.stream {
			a.relay.touch() // a destination that takes its time is alive
			a.arrived(a.job, stream.Arrived{Bytes: a.relay.bytes.Add(int64(n))})
		}
	}
}

// stop tells the ends that it is over. One of the seed knows no such word: its destination gets the end instead, so that it lets go of the file.
func (a *attempt) stop(err error) {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	var failed *finalError
	discard := errors.Is(err, errCancelled) || errors.As(err, &failed) && !a.relay.stream
	stop := protocol.TransferStop{Keep: !discard, Reason: err.Error()}
	for _, s := range []*side{a.relay.src, a.relay.dst} {
		switch stop.TransferID = s.id; {
		case s.ours:
			err := s.link.SendEvent(ctx, protocol.EventTransferStop, stop)
			if s == a.relay.dst && discard && err == nil {
				a.mu.Lock()
				a.job.told = true
				a.mu.Unlock()
			}
		case s == a.relay.dst && a.opened.Load():
			s.link.SendEventBehind(ctx, protocol.EventTransferEnd, protocol.TransferEnd{TransferID: s.id})
		}
	}
}

// event sends an event once the end listens to it.
func (s *side) event(ctx context.Context, name string, payload any) error {
	if s.listens != nil {
		select {
		case <-s.listens:
		case <-s.link.Gone(): // says SendEvent
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := s.link.SendEvent(ctx, name, payload); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &awayError{s.name, fmt.Sprintf("Node disconnected: %s", s.name)}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func wait[T any](ctx context.Context, c <-chan T) (v T, err error) {
	select {
	case v = <-c:
		return v, nil
	case <-ctx.Done():
		return v, context.Cause(ctx)
	}
}
