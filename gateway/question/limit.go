package question

import (
	"cmp"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"fairlead/gateway/protocol"
)

// Limit bounds the questions of one asker, such as an app, an MCP server, or everybody who wants to
// pair a device. Questions of all kinds count. Without an asker, nothing is limited.
type Limit struct {
	Asker string
	Open  int // that wait at the same time; 0: maxOpen
	// Burst is the number of questions in a row, and Every the time until one more may follow: who
	// gets a no must not ask again at once, without end. 0: no such limit.
	Burst int
	Every time.Duration
}

// maxOpen is the number of questions of one asker that wait at the same time.
const maxOpen = 16

// retryAfter is when an asker whose questions all wait should try again.
const retryAfter = 5 * time.Second

// rates are the paces of askers.
type rates map[string]*rate.Limiter

// check counts one more question of an asker with so many open ones, or refuses it with
// protocol.ErrTooMany, whose details say in retry_after_ms when to try again.
func (l Limit) check(waiting int, paces rates, now time.Time) error {
	switch {
	case l.Asker == "":
		return nil
	case waiting >= cmp.Or(l.Open, maxOpen):
		return tooMany(retryAfter, "%d questions of %s wait for Fairlead's owner already, which is the limit", waiting, l.Asker)
	case l.Every == 0:
		return nil
	}
	pace := paces[l.Asker]
	if pace == nil {
		pace = rate.NewLimiter(rate.Every(l.Every), l.Burst)
		paces[l.Asker] = pace
	}
	r := pace.ReserveN(now, 1)
	if wait := r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return tooMany(wait, "%s asked %d questions in a row, which is the limit: try again later", l.Asker, l.Burst)
	}
	return nil
}

func tooMany(wait time.Duration, format string, args ...any) error {
	return protocol.ErrTooMany.With(fmt.Sprintf(format, args...)).WithDetails(map[string]int64{"retry_after_ms": (wait + time.Millisecond - 1).Milliseconds()})
}
