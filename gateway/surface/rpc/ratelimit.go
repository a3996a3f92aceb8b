package rpc

import (
	"fmt"
	"math"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// rateLimit limits the requests of a connection: burst at once, and perSecond on average. The zero
// value means no limit.
type rateLimit struct{ perSecond, burst float64 }

// The limits stop a faulty peer from using up the gateway. The owner's is above what one connection
// can do with tools; the person at this computer has none. Before the handshake only connect is
// needed.
var (
	limitBeforeConnect = rateLimit{1, 10}
	limitOwner         = rateLimit{20_000, 40_000}
	limitNode          = rateLimit{20_000, 40_000} // results and progress of all its calls
	limitChannel       = rateLimit{200, 2_000}
)

// bucket is a token bucket. It belongs to the connection's reader.
type bucket struct {
	rateLimit
	used float64
	last time.Time
}

// take consumes one request. When the limit is reached, it returns the time to wait.
func (b *bucket) take(now time.Time) (wait time.Duration) {
	if b.perSecond == 0 {
		return 0
	}
	b.used = max(0, b.used-now.Sub(b.last).Seconds()*b.perSecond)
	b.last = now
	if b.used+1 > b.burst {
		return time.Duration(math.Ceil((b.used + 1 - b.burst) / b.perSecond * float64(time.Second)))
	}
	b.used++
	return 0
}

// rateLimit returns the limit of a connection after its handshake.
func (c *Conn) rateLimit() rateLimit {
	switch {
	case c.origin.trusted != nil:
		return rateLimit{}
	case c.peer().client.Mode == protocol.ModeNode:
		return limitNode
	case c.peer().client.Mode == protocol.ModeChannel:
		return limitChannel
	}
	return limitOwner
}

// countRequest counts a request. When it is over the limit, it is answered with an error and false
// is returned. A peer that is over the limit before its handshake is disconnected.
func (c *Conn) countRequest(req protocol.Request) bool {
	wait := c.requests.take(time.Now())
	if wait == 0 {
		return true
	}
	c.respond(req.ID, nil, protocol.ErrTooMany.With(fmt.Sprintf("Too many requests: a connection may make %g a second. Try again in %s.", c.requests.perSecond, format.Duration(wait))).
		WithDetails(map[string]int64{"retryAfterMs": int64(math.Ceil(wait.Seconds() * 1000))}))
	if !c.socket.isConnected() {
		c.socket.Close(protocol.ClosePolicy, "Too many requests before connect")
	}
	return false
}
