package transfer

import (
	"context"
	"errors"
	"io"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// awaitStream waits for the end of a transfer between ends that support streams.
func (a *attempt) awaitStream(ctx context.Context) (out outcome, err error) {
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

// awaitBasic waits for the end of a transfer with a peer that knows only the basic protocol.
func (a *attempt) awaitBasic(ctx context.Context, size int64, forwarded <-chan error) (out outcome, err error) {
	r := a.relay
	var problem string
	for waiting := true; waiting; {
		select {
		case c := <-r.complete:
			problem = c.Error
			r.src.in.Close(io.EOF) // earlier frames are still forwarded
		case m := <-r.meta: // the source can also report an error in this way
			if m.Error != "" {
				return out, final("%s", m.Error)
			}
		case err := <-forwarded:
			if !errors.Is(err, io.EOF) {
				return out, err
			}
			waiting = false
		case d := <-r.done: // before the end of the data: the destination failed
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
	a.isOpen.Store(false) // the destination is told the end here, not by stop
	if err := r.dst.link.SendEventBehind(ctx, protocol.EventTransferEnd, protocol.TransferEnd{TransferID: r.dst.id}); err != nil {
		return out, err
	}
	if out.done, err = wait(ctx, r.done); err != nil {
		return out, err
	}
	switch {
	case out.done.Error != "":
		return out, final("%s", out.done.Error)
	case got != size: // GSV treats this as a success
		return out, final("The source announced %d bytes but sent %d", size, got)
	}
	out.bytes = got
	if out.done.BytesWritten != nil {
		out.bytes = *out.done.BytesWritten
	}
	if out.bytes != size {
		return out, final("The destination wrote %d bytes of %d", out.bytes, size)
	}
	if out.done.Skipped > 0 { // the data arrived, but the existing file stayed
		out.bytes = 0
	}
	return out, nil
}

// forward forwards the frames of one end to the other until the inbox is closed. The regular end is
// io.EOF.
func (a *attempt) forward(ctx context.Context, from, to *transferEnd) error {
	for {
		f, err := from.in.Next(ctx)
		if err != nil {
			if errors.Is(err, stream.ErrFlood) {
				a.cancel(final("%s: %v", from.name, err))
			}
			return err
		}
		n := len(f.Body())
		if from == a.relay.src && a.relay.stream {
			if err := a.requested.CheckFrame(f); err != nil {
				f.Free()
				a.cancel(final("%v", err))
				return err
			}
		}
		if from == a.relay.dst {
			if p, ok := stream.ParseProgress(f); ok {
				a.mover.live.setProgress(sanitizeProgress(p))
			}
		}
		if a.introduced {
			switch direct, lost := stream.ParseRoute(f); {
			case lost:
				f.Free()
				wait(ctx, time.After(time.Second)) // a node that disconnects loses both connections, and that is another error
				a.cancel(errDirectLost)
				return errDirectLost
			case direct:
				a.mover.live.update(func(row *store.Transfer) { row.Route = protocol.RouteDirect })
			}
		}
		if from.id != to.id {
			f.SetID(to.id)
		}
		if !a.relay.stream && a.relay.bytes.Add(int64(n)) > a.relay.size { // an unlimited amount could follow
			f.Free()
			a.cancel(final("The source announced %d bytes but sends more", a.relay.size))
			return context.Canceled
		}
		if err := to.link.SendFrame(ctx, f); err != nil {
			return err
		}
		if !a.relay.stream {
			a.relay.touch() // a slow destination is alive
			a.mover.live.setProgress(stream.ProgressReport{Files: a.earlier.Files, Bytes: a.earlier.Bytes + a.relay.bytes.Load()})
		}
	}
}

// stop tells the ends that the transfer has stopped. The basic protocol has no message for that: a
// destination that knows only it gets transfer.end instead, so that it closes the file.
func (a *attempt) stop(err error) {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	var failed *finalError
	discard := errors.Is(err, errCancelled) || errors.As(err, &failed) && !a.relay.stream
	stop := protocol.TransferStop{Keep: !discard, Reason: err.Error()}
	if t := a.mover.live.view(); discard && a.relay.stream {
		stop.Path = pathOf(t.Destination)
		// The transfer may no longer be open at the destination.
		stop.Stream, stop.Current = &protocol.TransferStream{ID: t.ID, Into: t.Into}, t.Current
	}
	for _, s := range []*transferEnd{a.relay.src, a.relay.dst} {
		stop.TransferID = s.id
		switch {
		case s.isFairlead:
			s.link.SendEvent(ctx, protocol.EventTransferStop, stop)
		case s == a.relay.dst && a.isOpen.Load():
			s.link.SendEventBehind(ctx, protocol.EventTransferEnd, protocol.TransferEnd{TransferID: s.id})
		}
	}
}

// event sends an event once the end handles events.
func (s *transferEnd) event(ctx context.Context, name string, payload any) error {
	if s.ready != nil {
		select {
		case <-s.ready:
		case <-s.link.Gone(): // SendEvent returns the error
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := s.link.SendEvent(ctx, name, payload); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return disconnectedError(s.name)
	}
	return nil
}
