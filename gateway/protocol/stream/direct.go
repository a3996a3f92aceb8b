package stream

import (
	"context"
	"errors"
	"net"

	"fairlead/gateway/protocol"
)

// Direct connects the two ends of a transfer without the gateway, as far as the machine's owner lets it. Errors are worded for the log only: whatever
// goes wrong, the transfer goes through the gateway.
type Direct interface {
	// Source prepares the end that connects.
	Source(id protocol.TransferID) (Caller, error)
	// Destination prepares the end that listens for the source, and begins to; nothing else is let in.
	Destination(id protocol.TransferID, source protocol.TransferPeer) (Listener, error)
}

// Caller is a source that may connect.
type Caller interface {
	// Self is what the destination must know.
	Self() protocol.TransferPeer
	// Dial connects to the destination and proves who it is; so does the other end.
	Dial(ctx context.Context, destination protocol.TransferPeer) (net.Conn, error)
}

// Listener is a destination that listens.
type Listener interface {
	// Self is what the source must know.
	Self() protocol.TransferPeer
	// Accept waits for the source, for as long as the listener wants to, and listens no more when it returns.
	Accept(ctx context.Context) (net.Conn, error)
	// Close is for a listener whose Accept was not called; else it does nothing.
	Close()
}

// The payloads of recRoute: which way an end sends from now on.
const (
	byRelay  = 0
	byDirect = 1
)

// Direct lets transfers go from machine to machine, where the other end can too. Call it before anything else.
func (e *Ends) Direct(d Direct) *Ends {
	e.direct = d
	return e
}

// route tells the gateway and the other end which way this end sends from now on.
func (e *Ends) route(ctx context.Context, n *end, way byte) error {
	p := packer{id: n.id, send: e.out}
	if err := p.add(ctx, recRoute, []byte{way}); err != nil {
		return err
	}
	return p.flush(ctx)
}

// Route reads out of a frame which way its end sends from now on; ok is false when the frame does not tell.
func Route(f *Frame) (route string, ok bool) {
	records(f.Body(), func(kind byte, payload []byte) error {
		if kind == recRoute && len(payload) == 1 {
			if route, ok = protocol.RouteRelay, true; payload[0] == byDirect {
				route = protocol.RouteDirect
			}
		}
		return nil
	})
	return route, ok
}

// directly runs try, which moves the files over a direct connection. When that is not to be had, or ends before its time, both ends tell each other
// through the gateway, so that nothing that was meant for one way is taken for the other's: then the error is errApart, and the transfer starts over
// through the gateway, from what has arrived.
func (e *Ends) directly(ctx context.Context, n *end, try func(ctx context.Context) error) error {
	near, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	watching, stop := context.WithCancel(ctx)
	parted := make(chan error, 1)
	go func() {
		err := parting(watching, n.in)
		if parted <- err; err == nil {
			err = errApart
		}
		leave(err)
	}()
	err := try(near)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, errApart):
		defer stop()
		e.log.Info("Not direct", "transfer", n.id, "err", err)
		if err := e.route(ctx, n, byRelay); err != nil {
			return err
		}
		if err := <-parted; err != nil {
			return err
		}
		return errApart
	}
	stop()
	<-parted
	return err
}

// parting waits for the other end's word that it goes through the gateway, and drops what else comes that way before.
func parting(ctx context.Context, in *Inbox) error {
	for {
		f, err := in.Next(ctx)
		if err != nil {
			return err
		}
		route, ok := Route(f)
		f.Free()
		if ok && route == protocol.RouteRelay {
			return nil
		}
	}
}

// sendItems is the source's part after its start: directly when it is told where to, and through the gateway otherwise. fresh makes a sender.
func (e *Ends) sendItems(ctx context.Context, n *end, call Caller, fresh func() *Sender) error {
	if call != nil && n.peer != nil {
		err := e.directly(ctx, n, func(ctx context.Context) error {
			conn, err := call.Dial(ctx, *n.peer)
			if err != nil {
				return apart(err)
			}
			l := newLane(ctx, conn, n.id)
			defer l.close()
			s := fresh()
			s.Out, s.In = l.send, l.in
			if err := s.Run(ctx); err != nil {
				return err
			}
			return l.finished(ctx)
		})
		if !errors.Is(err, errApart) {
			return err
		}
	}
	e.pace.running.Add(1)
	defer e.pace.running.Add(-1)
	s := fresh()
	s.Out, s.In, s.Pace = e.out, n.in, &e.pace
	return s.Run(ctx)
}

// receiveItems is the destination's part after it has accepted. fresh makes a receiver that speaks through the gateway.
func (e *Ends) receiveItems(ctx context.Context, n *end, listen Listener, fresh func() *Receiver) (Result, error) {
	if listen == nil {
		return fresh().Run(ctx)
	}
	var r *Receiver
	var before Result
	err := e.directly(ctx, n, func(ctx context.Context) error {
		conn, err := listen.Accept(ctx)
		if err != nil {
			return apart(err)
		}
		l := newLane(ctx, conn, n.id)
		defer l.close()
		if err := e.route(ctx, n, byDirect); err != nil {
			return err
		}
		r = fresh()
		r.Out, r.In, r.Tell = l.send, l.in, e.out
		if before, err = r.Run(ctx); err == nil {
			l.finish(ctx)
		}
		return err
	})
	if !errors.Is(err, errApart) {
		if r != nil && errors.Is(context.Cause(ctx), ErrDiscard) { // it may have heard of its connection's end first
			r.discard()
		}
		return before, err
	}
	res, err := fresh().Run(ctx)
	return res.after(before), err
}

// after counts what an earlier part of the same attempt has written, which this one found there.
func (r Result) after(before Result) Result {
	r.Written += before.Written
	r.New += before.New
	r.Skipped = max(r.Skipped-before.New, 0)
	r.Kept = max(r.Kept, before.Kept)
	if r.Top == "" {
		r.Top = before.Top
	}
	r.again = true
	return r
}
