package stream

import (
	"context"
	"errors"
	"net"
	"time"

	"fairlead/gateway/protocol"
)

// Direct connects the two ends of a transfer beside their connections to the gateway. Errors are worded for the log only: whatever goes wrong, the
// transfer goes through those.
type Direct interface {
	// Source prepares the end that connects.
	Source(id protocol.TransferID) (Caller, error)
	// Destination prepares the end that waits for the source, and begins to; nothing else is let in.
	Destination(id protocol.TransferID, source protocol.TransferPeer) (Listener, error)
}

// Caller is a source that may connect.
type Caller interface {
	// Self is what the destination must know.
	Self() protocol.TransferPeer
	// Dial connects to the destination and proves who it is; so does the other end. The route is a Route constant.
	Dial(ctx context.Context, destination protocol.TransferPeer) (conn net.Conn, route string, err error)
}

// Listener is a destination that waits.
type Listener interface {
	// Self is what the source must know.
	Self() protocol.TransferPeer
	// Accept waits for the source, for as long as the listener wants to, and listens no more when it returns.
	Accept(ctx context.Context) (net.Conn, error)
	// Close is for a listener whose Accept was not called; else it does nothing.
	Close()
}

// worthwhile is from how many bytes on a connection of their own is worth the time that it takes to make.
const worthwhile = 16 << 20

// nearLimit is how long a source whose destination is near waits for it before it begins to send through the gateway.
const nearLimit = 3 * time.Second

// Direct gives transfers connections of their own, where the other end can have them too. Call it before anything else.
func (e *Ends) Direct(d Direct) *Ends {
	e.direct = d
	return e
}

// sendItems is the source's part after its start: call, which may be nil, connects to the destination. fresh makes a sender, and is told whether it is the
// attempt's first one.
func (e *Ends) sendItems(ctx context.Context, n *end, call Caller, near bool, fresh func(first bool) *Sender) error {
	e.pace.running.Add(1)
	defer e.pace.running.Add(-1)
	if call != nil {
		if err := e.sendOver(ctx, n, call, near, fresh(true)); !errors.Is(err, errApart) {
			return err
		}
	}
	s := fresh(call == nil)
	s.Out, s.In, s.Pace = e.out, n.in, &e.pace
	return s.Run(ctx)
}

// sendOver sends through the gateway until the ends have met, and over a lane from then on. Where the machines are near each other nothing is sent before it
// is known whether they meet.
func (e *Ends) sendOver(ctx context.Context, n *end, call Caller, near bool, s *Sender) error {
	r := newRoad(ctx, e, n)
	r.meet(func(ctx context.Context) (net.Conn, byte, error) {
		select {
		case peer := <-n.met:
			conn, route, err := call.Dial(ctx, peer)
			if route == protocol.RouteDirect {
				return conn, byDirect, err
			}
			return conn, byLane, err
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	})
	s.Out, s.In, s.Pace, s.Routed = r.turning, n.in, &e.pace, r.answered
	var err error
	if near && !r.soon(ctx, nearLimit) {
		err = e.route(ctx, n, byNeither)
	}
	if err == nil {
		err = s.Run(r.ctx)
	}
	if err == nil {
		err = r.finished()
	}
	return r.end(ctx, err)
}

// receiveItems is the destination's part after it has accepted. fresh makes a receiver that speaks through the gateway, and is told whether it is the
// attempt's first one.
func (e *Ends) receiveItems(ctx context.Context, n *end, listen Listener, fresh func(first bool) *Receiver) (Result, error) {
	if listen == nil {
		return fresh(true).Run(ctx)
	}
	r := newRoad(ctx, e, n)
	r.meet(func(ctx context.Context) (net.Conn, byte, error) {
		conn, err := listen.Accept(ctx)
		return conn, 0, err
	})
	first := fresh(true)
	first.Out, first.Tell, first.Routed = r.send, e.out, r.turned
	before, err := first.Run(r.ctx)
	if err == nil {
		r.finish()
	}
	if err = r.end(ctx, err); !errors.Is(err, errApart) {
		if errors.Is(context.Cause(ctx), ErrDiscard) { // it may have heard of its connection's end first
			first.discard()
		}
		return before, err
	}
	res, err := fresh(false).Run(ctx)
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
