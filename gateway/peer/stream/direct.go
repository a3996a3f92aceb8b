package stream

import (
	"context"
	"errors"
	"net"
	"time"

	"fairlead/gateway/protocol"
)

// Direct connects the two ends of a transfer without the gateway's message connections. Its errors
// are for the log only: after any failure, the transfer uses the gateway.
type Direct interface {
	// Source prepares the connecting end.
	Source(id protocol.TransferID) (Caller, error)
	// Destination prepares and starts the listening end, which accepts nobody but the source.
	Destination(id protocol.TransferID, source protocol.TransferPeer) (Listener, error)
}

// Caller is a source that can connect.
type Caller interface {
	// Self returns what the destination needs to know.
	Self() protocol.TransferPeer
	// Dial connects to the destination; both ends prove their identity. The route is a Route
	// constant.
	Dial(ctx context.Context, destination protocol.TransferPeer) (conn net.Conn, route string, err error)
}

// Listener is a listening destination.
type Listener interface {
	// Self returns what the source needs to know.
	Self() protocol.TransferPeer
	// Accept waits for the source until the listener's time limit, and then stops listening.
	Accept(ctx context.Context) (net.Conn, error)
	// Close stops a listener whose Accept was not called; otherwise it does nothing.
	Close()
}

// minDirectBytes is the minimum number of bytes for a connection of their own.
const minDirectBytes = 16 << 20

// directWait is the maximum time for which a source waits for a direct connection before it starts
// to send through the gateway.
const directWait = 3 * time.Second

// Direct enables connections of their own for transfers whose other end supports them. Call it
// before anything else.
func (e *Ends) Direct(d Direct) *Ends {
	e.direct = d
	return e
}

// sendItems sends after transfer.start. call, which may be nil, connects to the destination. fresh
// creates a sender; its argument reports whether it is the attempt's first one.
func (e *Ends) sendItems(ctx context.Context, n *end, call Caller, near bool, fresh func(first bool) *Sender) error {
	e.share.running.Add(1)
	defer e.share.running.Add(-1)
	if call != nil {
		if err := e.sendOver(ctx, n, call, near, fresh(true)); !errors.Is(err, errRouteLost) {
			return err
		}
	}
	s := fresh(call == nil)
	s.Out, s.In, s.Share = e.sendFrame, n.in, &e.share
	return s.Run(ctx)
}

// sendOver sends through the gateway until the ends are connected, and over their own connection
// afterwards. If a connection from machine to machine is possible, it waits for that before it
// sends anything.
func (e *Ends) sendOver(ctx context.Context, n *end, call Caller, near bool, s *Sender) error {
	r := newRoute(ctx, e, n)
	r.connect(func(ctx context.Context) (net.Conn, byte, error) {
		select {
		case peer := <-n.peerAddress:
			conn, route, err := call.Dial(ctx, peer)
			if route == protocol.RouteDirect {
				return conn, routeDirect, err
			}
			return conn, routeJoined, err
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	})
	s.Out, s.In, s.Share, s.OnRoute = r.sendOrSwitch, n.in, &e.share, r.handleDestinationRoute
	var err error
	if near && !r.waitConnected(ctx, directWait) {
		err = e.route(ctx, n, routeFailed)
	}
	if err == nil {
		err = s.Run(r.ctx)
	}
	if err == nil {
		err = r.waitAcknowledged()
	}
	return r.close(ctx, err)
}

// receiveItems receives after transfer.accept. fresh creates a receiver that uses the gateway; its
// argument reports whether it is the attempt's first one.
func (e *Ends) receiveItems(ctx context.Context, n *end, listen Listener, fresh func(first bool) *Receiver) (Result, error) {
	if listen == nil {
		return fresh(true).Run(ctx)
	}
	r := newRoute(ctx, e, n)
	r.connect(func(ctx context.Context) (net.Conn, byte, error) {
		conn, err := listen.Accept(ctx)
		return conn, 0, err
	})
	first := fresh(true)
	first.Out, first.Progress, first.OnRoute = r.send, e.sendFrame, r.handleSourceRoute
	before, err := first.Run(r.ctx)
	if err == nil {
		r.acknowledge()
	}
	if err = r.close(ctx, err); !errors.Is(err, errRouteLost) {
		if errors.Is(context.Cause(ctx), ErrDiscard) { // the connection may have ended before ctx did
			first.discard()
		}
		return before, err
	}
	res, err := fresh(false).Run(ctx)
	return res.after(before), err
}

// after adds the counts of an earlier part of the same attempt, whose files this part found
// complete.
func (r Result) after(before Result) Result {
	r.Written += before.Written
	r.New += before.New
	r.Skipped = max(r.Skipped-before.New, 0)
	r.Replaced = max(r.Replaced, before.Replaced)
	if r.Top == "" {
		r.Top = before.Top
	}
	r.restarted = true
	return r
}
