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
	// answerLimit is how long an end of our own may take to answer: a source counts what there is, of which a slow disk may have a million files, and a
	// destination may have to ask someone. Its connection says that it is there.
	answerLimit = 10 * time.Minute
	// startDelay is how long after its report a source of the original hears transfer.start: it listens only when it has read the report's answer.
	startDelay = 150 * time.Millisecond
	// stopLimit is how long it may take to tell an end that it is over.
	stopLimit = 2 * time.Second
)

// Causes of the end of an attempt.
var (
	errPaused    = errors.New("paused")
	errAgain     = errors.New("paused, and resumed before that was done")
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
	} else {
		a.released()
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
	asked  atomic.Bool // an end has not answered yet
	opened atomic.Bool // the destination has accepted, and not heard the end
	// Set before anything is forwarded:
	offered *offer                 // connections of their own that the ends may have; may be nil
	met     bool                   // they were told of each other
	parted  atomic.Pointer[string] // the route of the one that the ends had, and have no more
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
			cancel(gone(a.relay.src.name))
			return
		case <-a.relay.dst.link.Gone():
			cancel(gone(a.relay.dst.name))
			return
		case <-tick.C:
			if a.relay.silent() > a.patience() {
				cancel(errStall)
				return
			}
		}
	}
}

// gone says that an end has lost its connection.
func gone(end protocol.NodeID) error {
	if end == protocol.Here {
		return &awayError{end, textHere}
	}
	return &awayError{end, fmt.Sprintf("Node disconnected: %s", end)}
}

func (a *attempt) patience() time.Duration {
	if a.relay.stream && a.asked.Load() {
		return answerLimit
	}
	return stall
}

// run takes the attempt through the lifecycle of seed 004.
func (a *attempt) run(ctx context.Context, wg *sync.WaitGroup) (out outcome, err error) {
	r, t := a.relay, a.job.view()
	path := pathOf(t.Sources[0])
	send := protocol.TransferSend{TransferID: r.src.id, Path: path}
	if r.stream {
		send.Stream = a.terms(t)
		for _, s := range t.Sources {
			p := pathOf(s)
			send.Stream.Paths = append(send.Stream.Paths, p)
		}
		if o := a.offer(); o != nil {
			defer o.over()
			a.offered, send.Stream.Peer = o, &protocol.TransferPeer{Near: o.near}
		}
		if near := a.offered != nil && a.offered.near; !near && r.src.early && r.dst.early && t.Attempts <= 1 {
			send.Stream.Early = stream.Early
		}
	}
	a.asked.Store(true)
	if err := r.src.event(ctx, protocol.EventTransferSend, send); err != nil {
		return out, err
	}
	meta, err := wait(ctx, r.meta)
	a.asked.Store(false)
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
	r.size = size
	a.update(a.job, func(t *protocol.Transfer) {
		t.Bytes, t.Files, t.Mime = size, max(meta.Files, 1), meta.Mime
		if r.stream {
			t.Files = meta.Files
		}
		if t.Route = ""; a.pair().nodes() {
			t.Route = protocol.RouteRelay
		}
	})

	path = pathOf(t.Destination)
	receive := protocol.TransferReceive{TransferID: r.dst.id, Path: path, Size: size, Mime: meta.Mime}
	if r.stream {
		receive.Stream, receive.Holes = a.terms(t), meta.Holes
		receive.Stream.Early = send.Stream.Early
		if a.offered != nil && meta.Peer != nil {
			receive.Stream.Peer = &protocol.TransferPeer{Pin: meta.Peer.Pin, Near: a.offered.near, Ticket: a.offered.two}
		}
	} else if r.dst.ours {
		receive.Conflict, receive.ID = t.Conflict, t.ID
	}
	early := receive.Stream != nil && receive.Stream.Early > 0
	if early {
		if err := r.src.event(ctx, protocol.EventTransferStart, protocol.TransferStartEvent{TransferID: r.src.id}); err != nil {
			return out, err
		}
	}
	a.asked.Store(true)
	if err := r.dst.event(ctx, protocol.EventTransferReceive, receive); err != nil {
		return out, err
	}
	accept, err := wait(ctx, r.accept)
	a.asked.Store(false)
	switch {
	case err != nil:
		return out, err
	case accept.Error != "":
		return out, final("%s", accept.Error)
	}

	a.opened.Store(true)
	if receive.Stream != nil && receive.Stream.Peer != nil && accept.Peer != nil {
		a.met = true
		peer := *accept.Peer
		peer.Ticket = a.offered.one
		if err := r.src.event(ctx, protocol.EventTransferMeet, protocol.TransferMeet{TransferID: r.src.id, Peer: peer}); err != nil {
			return out, err
		}
	}
	forwarded := make(chan error, 1)
	wg.Go(func() { forwarded <- a.forward(ctx, r.src, r.dst) })
	if r.stream {
		wg.Go(func() { a.forward(ctx, r.dst, r.src) })
	}
	if early {
		return a.streamed(ctx)
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
