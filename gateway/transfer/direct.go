package transfer

import (
	"context"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// routeRetryAfter is the time during which two nodes that could not connect to each other do not
// try again: each try costs a transfer two seconds, or twenty if packets are dropped.
const routeRetryAfter = 10 * time.Minute

// pair is a source and a destination.
type pair struct{ from, to protocol.NodeID }

// routeKey is a kind of connection that a pair may have apart from its connections to the gateway.
type routeKey struct {
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

// routeOffer describes the connections that an attempt's ends may use; nil means none.
type routeOffer struct {
	direct                          bool   // the ends may connect directly
	sourceTicket, destinationTicket string // the tickets of source and destination
	withdraw                        func()
}

// offerRoutes decides which connections the ends may use. The caller must call its over function.
func (a *attempt) offerRoutes() *routeOffer {
	r, p := a.relay, a.pair()
	if !r.stream || !r.src.hasOwnConn || !r.dst.hasOwnConn || r.src.link == r.dst.link {
		return nil
	}
	a.mu.Lock()
	free := func(route string) bool {
		at, was := a.failedRoutes[routeKey{p, route}]
		return !was || time.Since(at) >= routeRetryAfter
	}
	near, through := r.src.hasDirect && r.dst.hasDirect && free(protocol.RouteDirect), free(protocol.RouteRelay)
	a.mu.Unlock()
	o := &routeOffer{direct: near, withdraw: func() {}}
	ok := false
	if through && a.joinConns != nil {
		if o.sourceTicket, o.destinationTicket, o.withdraw, ok = a.joinConns(); !ok {
			o.withdraw = func() {}
		}
	}
	if !near && !ok {
		return nil
	}
	return o
}

// routeChanged handles an end's report about the route that it uses from now on.
func (a *attempt) routeChanged(from *side, t stream.RouteChange) {
	if from == a.relay.src {
		if t.DirectFailed {
			a.markRouteFailed(protocol.RouteDirect)
		}
		return
	}
	was := a.job.view().Route
	if t.Lost {
		a.lostRoute.Store(&was)
	}
	if t.Route != was {
		a.job.store(func(row *protocol.Transfer) { row.Route = t.Route })
	}
}

// markRouteFailed prevents further tries of a route for [routeRetryAfter].
func (a *attempt) markRouteFailed(route string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failedRoutes[routeKey{a.pair(), route}] = time.Now()
}

// notifySource tells a source that the destination has everything, because the destination's own
// message may have been lost with their connection. If the ends lost their connection but could
// continue through the gateway, that connection is unreliable and is not tried again for a while.
func (a *attempt) notifySource() {
	if !a.introduced {
		return
	}
	if route := a.lostRoute.Load(); route != nil {
		a.markRouteFailed(*route)
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	a.relay.src.link.SendEvent(ctx, protocol.EventTransferStop, protocol.TransferStop{TransferID: a.relay.src.id, Keep: true, Reason: "It has arrived"})
}
