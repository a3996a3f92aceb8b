package transfer

import (
	"context"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// apartFor is for how long two machines that did not reach each other are not told of each other again: each try costs a transfer two seconds, or twenty
// where what they say is lost on the way.
const apartFor = 10 * time.Minute

// pair is a source and a destination.
type pair struct{ from, to protocol.NodeID }

// passage is a connection of their own that a pair may have.
type passage struct {
	pair
	route string // a Route constant: from machine to machine, or joined by the gateway
}

func (a *attempt) pair() pair { return pair{a.relay.src.name, a.relay.dst.name} }

// nodes reports whether both ends are machines, so that the bytes have a route.
func (p pair) nodes() bool {
	for _, id := range []protocol.NodeID{p.from, p.to} {
		if id == protocol.NativePrefix || id == protocol.Here {
			return false
		}
	}
	return true
}

// route is the way that the bytes take at first; empty for a pair that has no choice.
func (p pair) route() string {
	if p.nodes() {
		return protocol.RouteRelay
	}
	return ""
}

// offer is what the ends of an attempt are told of each other; nil: nothing.
type offer struct {
	near     bool   // they may connect from machine to machine
	one, two string // the source's and the destination's ticket
	over     func()
}

// offer decides which connections of their own the ends may have. Its over is to be called.
func (a *attempt) offer() *offer {
	r, p := a.relay, a.pair()
	if !r.stream || !r.src.lane || !r.dst.lane || r.src.link == r.dst.link {
		return nil
	}
	a.mu.Lock()
	free := func(route string) bool {
		at, was := a.apart[passage{p, route}]
		return !was || time.Since(at) >= apartFor
	}
	near, through := r.src.direct && r.dst.direct && free(protocol.RouteDirect), free(protocol.RouteRelay)
	a.mu.Unlock()
	o := &offer{near: near, over: func() {}}
	ok := false
	if through && a.joins != nil {
		if o.one, o.two, o.over, ok = a.joins(); !ok {
			o.over = func() {}
		}
	}
	if !near && !ok {
		return nil
	}
	return o
}

// turned takes an end's word on which way it sends from now on.
func (a *attempt) turned(from *side, t stream.Turn) {
	if from == a.relay.src {
		if t.Missed {
			a.useless(protocol.RouteDirect)
		}
		return
	}
	was := a.job.view().Route
	if t.Apart {
		a.parted.Store(&was)
	}
	if t.Route != was {
		a.change(a.job, func(row *protocol.Transfer) { row.Route = t.Route })
	}
}

// useless has a passage not tried again for a while.
func (a *attempt) useless(route string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.apart[passage{a.pair(), route}] = time.Now()
}

// released tells a source that the destination has everything: its word may have been lost with their connection. Ends that have parted, and were there to
// go on through the gateway, have a connection that does not last.
func (a *attempt) released() {
	if !a.met {
		return
	}
	if route := a.parted.Load(); route != nil {
		a.useless(*route)
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	a.relay.src.link.SendEvent(ctx, protocol.EventTransferStop, protocol.TransferStop{TransferID: a.relay.src.id, Keep: true, Reason: "It has arrived"})
}
