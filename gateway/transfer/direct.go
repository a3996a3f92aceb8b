package transfer

import (
	"errors"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// directRetryAfter is the time during which two nodes that could not connect to each other do not
// try again, because each try costs a transfer some seconds.
const directRetryAfter = 10 * time.Minute

// pair is a source and a destination.
type pair struct{ from, to protocol.NodeID }

func (a *attempt) pair() pair { return pair{a.relay.src.name, a.relay.dst.name} }

// route returns the initial route, or "" if the pair has no choice because an end is not a node.
func (p pair) route() string {
	for _, id := range []protocol.NodeID{p.from, p.to} {
		if id == protocol.NativePrefix || id == protocol.Here {
			return ""
		}
	}
	return protocol.RouteRelay
}

// offersDirect reports whether the ends may connect directly.
func (a *attempt) offersDirect() bool {
	r := a.relay
	if !r.src.hasDirect || !r.dst.hasDirect || r.src.link == r.dst.link {
		return false
	}
	return a.direct.mayTry(a.pair())
}

// checkDirect prevents direct connections of the pair for [directRetryAfter] if this attempt, which
// ended with err, had none, or lost it.
func (a *attempt) checkDirect(err error) {
	unused := err == nil && a.mover.live.view().Route != protocol.RouteDirect
	if !a.introduced || !unused && !errors.Is(err, errDirectLost) && !errors.Is(err, errStall) {
		return
	}
	a.direct.setFailed(a.pair())
}

// directPairs remembers the pairs of nodes that could not connect to each other. It is safe for
// concurrent use.
type directPairs struct {
	mu     sync.Mutex // guards failed
	failed map[pair]time.Time
}

func newDirectPairs() *directPairs { return &directPairs{failed: make(map[pair]time.Time)} }

// mayTry reports whether a pair may try to connect.
func (d *directPairs) mayTry(p pair) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, failed := d.failed[p]
	return !failed || time.Since(at) >= directRetryAfter
}

func (d *directPairs) setFailed(p pair) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed[p] = time.Now()
}
