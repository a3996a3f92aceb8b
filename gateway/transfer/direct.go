package transfer

import (
	"context"
	"time"

	"fairlead/gateway/protocol"
)

// apartFor is for how long two machines that did not reach each other are not told of each other again: each try costs a transfer two seconds.
const apartFor = 10 * time.Minute

// pair is a source and a destination.
type pair struct{ from, to protocol.NodeID }

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

// direct reports whether the ends are to be told of each other.
func (a *attempt) direct() bool {
	r, p := a.relay, a.pair()
	if !r.stream || !r.src.direct || !r.dst.direct || r.src.link == r.dst.link {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Since(a.apart[p]) >= apartFor
}

// routed takes the destination's word on which way it gets the bytes from now on.
func (a *attempt) routed(route string) {
	a.mu.Lock()
	p, was := a.pair(), a.job.row.Route
	if route == protocol.RouteRelay && was != protocol.RouteDirect { // they have not met
		a.apart[p] = time.Now()
	}
	a.mu.Unlock()
	if route != was {
		a.change(a.job, func(t *protocol.Transfer) { t.Route = route })
	}
}

// released tells a source that the destination has everything: its word may have been lost with their connection.
func (a *attempt) released() {
	if a.job.view().Route != protocol.RouteDirect {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	a.relay.src.link.SendEvent(ctx, protocol.EventTransferStop, protocol.TransferStop{TransferID: a.relay.src.id, Keep: true, Reason: "It has arrived"})
}
