package transfer

import (
	"context"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// apartFor is the time during which two nodes that could not connect to each other do not try
// again: each try costs a transfer two seconds, or twenty if packets are dropped.
const apartFor = 10 * time.Minute

// pair is a source and a destination.
type pair struct{ from, to protocol.NodeID }

// passage is a kind of connection that a pair may have apart from its connections to the gateway.
type passage struct {
	pair
	route string // a Route constant: direct between the nodes, or joined by the gateway
}

func (a *attempt) pair() pair { return pair{a.relay.src.name, a.relay.dst.name} }

// nodes reports whether both ends are nodes; only then does a transfer have a route.
func (p pair) nodes() bool {
	for _, id := range []protocol.NodeID{p.from, p.to} {
		if id == protocol.NativePrefix || id == protocol.Here {
			return false
		}
	}
	return true
}

// route returns the initial route, or "" if the pair has no choice.
func (p pair) route() string {
	if p.nodes() {
		return protocol.RouteRelay
	}
	return ""
}

// offer describes the connections that an attempt's ends may use; nil means none.
type offer struct {
	near     bool   // the ends may connect directly
	one, two string // the tickets of source and destination
	over     func()
}

// offer decides which connections the ends may use. The caller must call its over function.
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

// turned handles an end's report about the route that it uses from now on.
func (a *attempt) turned(from *side, t stream.RouteChange) {
	if from == a.relay.src {
		if t.DirectFailed {
			a.useless(protocol.RouteDirect)
		}
		return
	}
	was := a.job.view().Route
	if t.Lost {
		a.parted.Store(&was)
	}
	if t.Route != was {
		a.job.change(func(row *protocol.Transfer) { row.Route = t.Route })
	}
}

// useless prevents further tries of a passage for [apartFor].
func (a *attempt) useless(route string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.apart[passage{a.pair(), route}] = time.Now()
}

// released tells a source that the destination has everything, because the destination's own
// message may have been lost with their connection. If the ends lost their connection but could
// continue through the gateway, that connection is unreliable and is not tried again for a while.
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
