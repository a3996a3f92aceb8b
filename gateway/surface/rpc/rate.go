package rpc

import (
	"fmt"
	"math"
	"time"

	"fairlead/gateway/protocol"
)

// rate limits the requests of a connection: burst at once, and each per second on average. The zero
// value means no limit.
type rate struct{ each, burst float64 }

// The limits stop a faulty peer from using up the gateway. The owner's is above what one connection
// can do with tools; the person at this computer has none. Before the handshake only connect is
// needed.
var (
	rateStranger = rate{1, 10}
	rateOwner    = rate{20_000, 40_000}
	rateNode     = rate{20_000, 40_000} // results and progress of all its calls
	rateChannel  = rate{200, 2_000}
)

// bucket is a token bucket for a rate. It belongs to the connection's reader.
type bucket struct {
	rate
	used float64
	last time.Time
}

// take consumes one request. When the limit is reached, it returns the time to wait.
func (b *bucket) take(now time.Time) (wait time.Duration) {
	if b.each == 0 {
		return 0
	}
	b.used = max(0, b.used-now.Sub(b.last).Seconds()*b.each)
	b.last = now
	if b.used+1 > b.burst {
		return time.Duration(math.Ceil((b.used + 1 - b.burst) / b.each * float64(time.Second)))
	}
	b.used++
	return 0
}

// limit returns the rate of a connection after its handshake.
func (c *Conn) limit() rate {
	switch {
	case c.trusted != nil:
		return rate{}
	case c.mode() == protocol.ModeNode:
		return rateNode
	case c.mode() == protocol.ModeChannel:
		return rateChannel
	}
	return rateOwner
}

// allowed counts a request, and answers it with an error when it is over the limit. A peer that is
// over the limit before its handshake is disconnected.
func (c *Conn) allowed(req protocol.Request) bool {
	wait := c.requests.take(time.Now())
	if wait == 0 {
		return true
	}
	c.respond(req.ID, nil, protocol.ErrTooMany.With(fmt.Sprintf("Too many requests: a connection may make %g a second. Try again in %s.", c.requests.each, wait.Round(time.Millisecond))).
		WithDetails(map[string]int64{"retryAfterMs": int64(math.Ceil(wait.Seconds() * 1000))}))
	if !c.connected() {
		c.Close(protocol.ClosePolicy, "Too many requests before connect")
	}
	return false
}
