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
	byRelay   = 0 // through the gateway; whatever was in flight on another route is lost
	byDirect  = 1 // directly from machine to machine
	byLane    = 2 // over a connection of its own through the gateway
	byNeither = 3 // still through the gateway: the source tried to connect, and failed
	// Both come from the lane itself, after the frames that it received.
	laneLost    = 254
	laneArrived = 255 // the destination has everything
)

// meetLimit is the maximum time for which a destination waits for its side of a connection on which
// the source sends already.
const meetLimit = 5 * time.Second

// road is the route of one end's records: through the gateway, and over a lane once the ends are
// connected. The source switches first and announces it in its last record through the gateway. The
// destination reads from the lane after that record, switches too, and announces it likewise. So
// each end reads everything in the order in which it was sent, and nothing is sent twice.
type road struct {
	e     *Ends
	n     *end
	ctx   context.Context
	leave context.CancelFunc
	met   chan struct{} // closed when conn and way are final
	conn  net.Conn      // nil: not connected
	way   byte
	lane  atomic.Pointer[lane] // nil until this end switches
	got   atomic.Bool          // the destination has everything
	left  atomic.Bool          // the other end uses the gateway again
	wg    sync.WaitGroup
}

func newRoad(ctx context.Context, e *Ends, n *end) *road {
	r := &road{e: e, n: n, met: make(chan struct{})}
	r.ctx, r.leave = context.WithCancel(ctx)
	return r
}

// meet starts connecting to the other end, while records are sent already.
func (r *road) meet(connect func(context.Context) (net.Conn, byte, error)) {
	r.wg.Go(func() {
		defer close(r.met)
		conn, way, err := connect(r.ctx)
		if err != nil {
			if r.ctx.Err() == nil {
				r.e.log.Info("The ends have not met", "transfer", r.n.id, "err", err)
			}
			return
		}
		r.conn, r.way = conn, way
	})
}

// soon waits for the connection, at most for the time limit, and reports whether there is one.
func (r *road) soon(ctx context.Context, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-r.met:
		return r.conn != nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// turn switches sending to the lane, and announces it to the other end through the gateway. The
// ends must be connected.
func (r *road) turn(ctx context.Context) error {
	r.e.log.Info("The ends have met", "transfer", r.n.id, "straight", r.way == byDirect)
	r.lane.Store(newLane(r.ctx, r.conn, r.n))
	return r.e.route(ctx, r.n, r.way)
}

// send implements [Send] on the current route.
func (r *road) send(ctx context.Context, f *Frame) error {
	if l := r.lane.Load(); l != nil {
		return l.send(ctx, f)
	}
	return r.e.out(ctx, f)
}

// turning is send for a source, which switches to the lane as soon as possible.
func (r *road) turning(ctx context.Context, f *Frame) error {
	if r.lane.Load() == nil {
		select {
		case <-r.met:
			if r.conn == nil {
				break
			}
			if err := r.turn(ctx); err != nil {
				f.Free()
				return err
			}
		default:
		}
	}
	return r.send(ctx, f)
}

// answered handles the destination's announcement of its route.
func (r *road) answered(_ context.Context, way byte) error {
	l := r.lane.Load()
	switch {
	case way == laneArrived:
		r.got.Store(true)
	case way == byRelay:
		r.left.Store(true)
		return errApart
	case way == laneLost:
		return errApart
	case l == nil || way != r.way || !l.listen():
		return broken("a route")
	}
	return nil
}

// turned handles the source's announcement of its route, and switches too.
func (r *road) turned(ctx context.Context, way byte) error {
	switch way {
	case byRelay:
		r.left.Store(true)
		return errApart
	case laneLost:
		return errApart
	case byNeither:
		return nil
	case byDirect, byLane:
		if r.lane.Load() == nil {
			break
		}
		fallthrough
	default:
		return broken("a route")
	}
	if !r.soon(ctx, meetLimit) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return errApart
	}
	r.way = way
	if err := r.turn(ctx); err != nil {
		return err
	}
	r.lane.Load().listen()
	return nil
}

// finished is called by a source that has sent everything. With a lane, it waits until the
// destination has everything.
func (r *road) finished() error {
	for r.lane.Load() != nil && !r.got.Load() {
		f, err := r.n.in.Next(r.ctx)
		if err != nil {
			return err
		}
		err = routes(f, func(way byte) error { return r.answered(r.ctx, way) })
		if f.Free(); err != nil {
			return err
		}
	}
	return nil
}

// finish is called by a destination that has everything.
func (r *road) finish() {
	if l := r.lane.Load(); l != nil {
		l.finish()
	}
}

// end releases everything and returns err, or the cause of ctx if ctx has ended. When it returns
// errApart, both ends have announced that they use the gateway again, and frames in flight are
// lost.
func (r *road) end(ctx context.Context, err error) error {
	r.leave()
	r.wg.Wait()
	if l := r.lane.Load(); l != nil {
		l.close()
	} else if r.conn != nil {
		bottom(r.conn).Close()
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !errors.Is(err, errApart):
		return err
	}
	r.e.log.Info("Through the gateway again", "transfer", r.n.id, "err", err)
	if err := r.part(ctx); err != nil {
		return err
	}
	return errApart
}

// part announces to the other end that this end uses the gateway again, and waits for the other
// end's announcement, so that no earlier frame is mistaken for a later one. The lane is closed.
func (r *road) part(ctx context.Context) error {
	now, stop := context.WithCancel(ctx)
	stop()
	for r.drop(now) == nil { // queued frames are old, some of them from the lane: the other end starts again only after this end's announcement
	}
	if err := r.e.route(ctx, r.n, byRelay); err != nil {
		return err
	}
	for !r.left.Load() {
		if err := r.drop(ctx); err != nil {
			return err
		}
	}
	return nil
}

// drop discards a frame, but records whether it announces that the other end uses the gateway
// again.
func (r *road) drop(ctx context.Context) error {
	f, err := r.n.in.Next(ctx)
	if err != nil {
		return err
	}
	defer f.Free()
	return routes(f, func(way byte) error {
		if way == byRelay {
			r.left.Store(true)
		}
		return nil
	})
}

// route announces to the gateway and the other end the route on which this end sends from now on.
func (e *Ends) route(ctx context.Context, n *end, way byte) error {
	p := packer{id: n.id, send: e.out}
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
		return 0, broken("a route")
	}
	return payload[0], nil
}

// Turn is a route announcement.
type Turn struct {
	Route string // a Route constant
	// Apart reports that the ends gave up their own connection. Missed reports that a connection
	// from machine to machine was possible but failed.
	Apart, Missed bool
}

// Turned returns the route announcement in a frame; ok is false if there is none.
func Turned(f *Frame) (t Turn, ok bool) {
	routes(f, func(way byte) error {
		switch ok = true; way {
		case byDirect:
			t = Turn{Route: protocol.RouteDirect}
		case byRelay:
			t = Turn{Route: protocol.RouteRelay, Apart: true}
		case byLane, byNeither:
			t = Turn{Route: protocol.RouteRelay, Missed: true}
		default:
			ok = false
		}
		return nil
	})
	return t, ok
}
