package stream

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/gateway/protocol"
)

// Payloads of recRoute: the route on which an end sends from now on.
const (
	routeRelay  = 0 // through the gateway; whatever was in flight on another route is lost
	routeDirect = 1 // directly from machine to machine
	routeJoined = 2 // over a connection of its own through the gateway
	routeFailed = 3 // still through the gateway: the source tried to connect, and failed
	// Both come from the direct connection itself, after the frames that it received.
	routeClosed       = 254
	routeAcknowledged = 255 // the destination has everything
)

// connectWait is the maximum time for which a destination waits for its side of a connection on
// which the source sends already.
const connectWait = 5 * time.Second

// route is the route of one end's records: through the gateway, and over a [directConn] once the
// ends are connected. The source switches first and announces it in its last record through the
// gateway. The destination reads from that connection after this record, switches too, and
// announces it likewise. So each end reads everything in the order in which it was sent, and
// nothing is sent twice.
type route struct {
	ends             *Ends
	end              *end
	ctx              context.Context
	cancel           context.CancelFunc
	connected        chan struct{} // closed when conn and kind are final
	conn             net.Conn      // nil: not connected
	kind             byte
	direct           atomic.Pointer[directConn] // nil until this end switches
	acknowledged     atomic.Bool                // the destination has everything
	peerSwitchedBack atomic.Bool                // the other end uses the gateway again
	wg               sync.WaitGroup
}

func newRoute(ctx context.Context, e *Ends, n *end) *route {
	r := &route{ends: e, end: n, connected: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// connect starts connecting to the other end, while records are sent already.
func (r *route) connect(connect func(context.Context) (net.Conn, byte, error)) {
	r.wg.Go(func() {
		defer close(r.connected)
		conn, way, err := connect(r.ctx)
		if err != nil {
			if r.ctx.Err() == nil {
				r.ends.log.Info("Direct connection failed", "transfer", r.end.id, "err", err)
			}
			return
		}
		r.conn, r.kind = conn, way
	})
}

// waitConnected waits for the connection, at most for the time limit, and reports whether there is
// one.
func (r *route) waitConnected(ctx context.Context, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-r.connected:
		return r.conn != nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// switchToDirect switches sending to the direct connection and announces it to the other end
// through the gateway. The ends must be connected.
func (r *route) switchToDirect(ctx context.Context) error {
	r.ends.log.Info("Connected directly", "transfer", r.end.id, "joined", r.kind == routeJoined)
	r.direct.Store(newDirectConn(r.ctx, r.conn, r.end))
	return r.ends.route(ctx, r.end, r.kind)
}

// send implements [Send] on the current route.
func (r *route) send(ctx context.Context, f *Frame) error {
	if l := r.direct.Load(); l != nil {
		return l.send(ctx, f)
	}
	return r.ends.sendFrame(ctx, f)
}

// sendOrSwitch is send for a source, which switches to the direct connection as soon as possible.
func (r *route) sendOrSwitch(ctx context.Context, f *Frame) error {
	if r.direct.Load() == nil {
		select {
		case <-r.connected:
			if r.conn == nil {
				break
			}
			if err := r.switchToDirect(ctx); err != nil {
				f.Free()
				return err
			}
		default:
		}
	}
	return r.send(ctx, f)
}

// handleDestinationRoute handles the destination's announcement of its route.
func (r *route) handleDestinationRoute(_ context.Context, way byte) error {
	l := r.direct.Load()
	switch {
	case way == routeAcknowledged:
		r.acknowledged.Store(true)
	case way == routeRelay:
		r.peerSwitchedBack.Store(true)
		return errRouteLost
	case way == routeClosed:
		return errRouteLost
	case l == nil || way != r.kind || !l.listen():
		return protocolError("a route")
	}
	return nil
}

// handleSourceRoute handles the source's announcement of its route, and switches too.
func (r *route) handleSourceRoute(ctx context.Context, way byte) error {
	switch way {
	case routeRelay:
		r.peerSwitchedBack.Store(true)
		return errRouteLost
	case routeClosed:
		return errRouteLost
	case routeFailed:
		return nil
	case routeDirect, routeJoined:
		if r.direct.Load() == nil {
			break
		}
		fallthrough
	default:
		return protocolError("a route")
	}
	if !r.waitConnected(ctx, connectWait) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return errRouteLost
	}
	r.kind = way
	if err := r.switchToDirect(ctx); err != nil {
		return err
	}
	r.direct.Load().listen()
	return nil
}

// waitAcknowledged is called by a source that has sent everything. With a direct connection, it
// waits until the destination has everything.
func (r *route) waitAcknowledged() error {
	for r.direct.Load() != nil && !r.acknowledged.Load() {
		f, err := r.end.in.Next(r.ctx)
		if err != nil {
			return err
		}
		err = routes(f, func(way byte) error { return r.handleDestinationRoute(r.ctx, way) })
		if f.Free(); err != nil {
			return err
		}
	}
	return nil
}

// acknowledge is called by a destination that has everything.
func (r *route) acknowledge() {
	if l := r.direct.Load(); l != nil {
		l.finish()
	}
}

// close releases everything and returns err, or the cause of ctx if ctx has ended. When it returns
// errApart, both ends have announced that they use the gateway again, and frames in flight are
// lost.
func (r *route) close(ctx context.Context, err error) error {
	r.cancel()
	r.wg.Wait()
	if l := r.direct.Load(); l != nil {
		l.close()
	} else if r.conn != nil {
		rawConn(r.conn).Close()
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !errors.Is(err, errRouteLost):
		return err
	}
	r.ends.log.Info("Switched back to the gateway", "transfer", r.end.id, "err", err)
	if err := r.switchBack(ctx); err != nil {
		return err
	}
	return errRouteLost
}

// switchBack announces to the other end that this end uses the gateway again, and waits for the
// other end's announcement, so that no earlier frame is mistaken for a later one. The direct
// connection is closed.
func (r *route) switchBack(ctx context.Context) error {
	now, stop := context.WithCancel(ctx)
	stop()
	for r.drop(now) == nil { // queued frames are old, some of them from the direct connection: the other end starts again only after this end's announcement
	}
	if err := r.ends.route(ctx, r.end, routeRelay); err != nil {
		return err
	}
	for !r.peerSwitchedBack.Load() {
		if err := r.drop(ctx); err != nil {
			return err
		}
	}
	return nil
}

// drop discards a frame, but records whether it announces that the other end uses the gateway
// again.
func (r *route) drop(ctx context.Context) error {
	f, err := r.end.in.Next(ctx)
	if err != nil {
		return err
	}
	defer f.Free()
	return routes(f, func(way byte) error {
		if way == routeRelay {
			r.peerSwitchedBack.Store(true)
		}
		return nil
	})
}

// route announces to the gateway and the other end the route on which this end sends from now on.
func (e *Ends) route(ctx context.Context, n *end, way byte) error {
	p := packer{id: n.id, send: e.sendFrame}
	if err := p.add(ctx, recRoute, []byte{way}); err != nil {
		return err
	}
	return p.flush(ctx)
}

// routes calls take for each route announcement in a frame.
func routes(f *Frame, take func(way byte) error) error {
	return records(f.Body(), func(kind byte, payload []byte) error {
		if kind != recRoute {
			return nil
		}
		way, err := parseRoute(payload)
		if err != nil {
			return err
		}
		return take(way)
	})
}

func parseRoute(payload []byte) (way byte, err error) {
	if len(payload) != 1 {
		return 0, protocolError("a route")
	}
	return payload[0], nil
}

// RouteChange is a route announcement.
type RouteChange struct {
	Route string // a Route constant
	// Lost reports that the ends gave up their own connection. Missed reports that a connection
	// from machine to machine was possible but failed.
	Lost, DirectFailed bool
}

// ParseRouteChange returns the route announcement in a frame; ok is false if there is none.
func ParseRouteChange(f *Frame) (t RouteChange, ok bool) {
	routes(f, func(way byte) error {
		switch ok = true; way {
		case routeDirect:
			t = RouteChange{Route: protocol.RouteDirect}
		case routeRelay:
			t = RouteChange{Route: protocol.RouteRelay, Lost: true}
		case routeJoined, routeFailed:
			t = RouteChange{Route: protocol.RouteRelay, DirectFailed: true}
		default:
			ok = false
		}
		return nil
	})
	return t, ok
}
