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

// The payloads of recRoute: which way an end sends from now on.
const (
	byRelay   = 0 // through the gateway; whatever was under way another way is lost
	byDirect  = 1 // from machine to machine
	byLane    = 2 // over a connection of its own through the gateway
	byNeither = 3 // through the gateway as before: a source that was to try has not met the destination
	// Both come of the lane itself, behind what came over it.
	laneLost    = 254
	laneArrived = 255 // the destination has everything
)

// meetLimit is how long a destination whose source has turned waits for its own end of the connection, on which the source has heard it.
const meetLimit = 5 * time.Second

// road is how one end's records travel: through the gateway, and over a lane once the ends have met. The source turns first and says so in a record, its
// last one through the gateway; the destination reads the lane from that record on, turns too, and says so likewise. So each end reads everything in the
// order in which it was sent, and nothing has to be sent again.
type road struct {
	e     *Ends
	n     *end
	ctx   context.Context
	leave context.CancelFunc
	met   chan struct{} // closed when conn and way are what they stay
	conn  net.Conn      // nil: the ends have not met
	way   byte
	lane  atomic.Pointer[lane] // nil until this end turns
	got   atomic.Bool          // the destination has everything
	left  atomic.Bool          // the other end goes through the gateway again
	wg    sync.WaitGroup
}

func newRoad(ctx context.Context, e *Ends, n *end) *road {
	r := &road{e: e, n: n, met: make(chan struct{})}
	r.ctx, r.leave = context.WithCancel(ctx)
	return r
}

// meet has connect make a connection to the other end while records travel already.
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

// soon waits for as long as limit and reports whether the ends have met.
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

// turn begins to send over the lane, and tells the other end so through the gateway. The caller knows that the ends have met.
func (r *road) turn(ctx context.Context) error {
	r.e.log.Info("The ends have met", "transfer", r.n.id, "straight", r.way == byDirect)
	r.lane.Store(newLane(r.ctx, r.conn, r.n))
	return r.e.route(ctx, r.n, r.way)
}

// send is [Send], the way that this end has turned to.
func (r *road) send(ctx context.Context, f *Frame) error {
	if l := r.lane.Load(); l != nil {
		return l.send(ctx, f)
	}
	return r.e.out(ctx, f)
}

// turning is send of a source, which turns as soon as it can.
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

// answered takes the destination's word on its way.
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

// turned takes the source's word on its way, and turns as well.
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

// finished is the source's, when it has sent everything: over a lane it waits until the destination has everything.
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

// finish is the destination's, when it has everything.
func (r *road) finish() {
	if l := r.lane.Load(); l != nil {
		l.finish()
	}
}

// end lets go of everything and gives err, but the cause of ctx when that has ended. When err is errApart both ends have told each other so, and what was
// under way is gone.
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

// part tells the other end that this one goes through the gateway again, and waits for its word, so that nothing that was meant for before is taken for
// what comes after. The lane is closed.
func (r *road) part(ctx context.Context) error {
	now, stop := context.WithCancel(ctx)
	stop()
	for r.drop(now) == nil { // what is there is of before, some of it from the lane: the other end begins anew only when it has this one's word
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

// drop takes a frame that nobody wants any more, and notes if the other end says in it that it goes through the gateway again.
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

// route tells the gateway and the other end which way this end sends from now on.
func (e *Ends) route(ctx context.Context, n *end, way byte) error {
	p := packer{id: n.id, send: e.out}
	if err := p.add(ctx, recRoute, []byte{way}); err != nil {
		return err
	}
	return p.flush(ctx)
}

// routes calls f with what a frame says of its end's way.
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

// Turn is what a frame says of the way that its end sends from now on.
type Turn struct {
	Route string // a Route constant
	// Apart says that the ends have parted: what it went over is no more. Missed says that they have not met from machine to machine, as they might have.
	Apart, Missed bool
}

// Turned reads out of a frame which way its end sends from now on; ok is false when the frame does not tell.
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
