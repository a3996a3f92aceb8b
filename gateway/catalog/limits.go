package catalog

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// limits bound how many calls a caller makes, a machine gets, and a tool runs. They are off unless
// the settings turn them on. The number of streams that run at the same time is always bounded.
type limits struct {
	mu      sync.Mutex // guards the fields below
	buckets map[string]*bucket
	streams int
}

// bucket is a token bucket and the setting that it was made for.
type bucket struct {
	*rate.Limiter
	perMinute, burst int
}

// maxBuckets bounds the memory for callers that are gone.
const maxBuckets = 10_000

// take counts a call. release must be called at its end.
func (l *limits) take(c config.API, p auth.Principal, e *entry, args json.RawMessage) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, axis := range []struct {
		name, key string
		limit     config.RateLimit
	}{{"app", p.Caller(), c.Limits.App}, {"machine", targetKey(args), c.Limits.Machine}, {"tool", e.Name, c.Limits.Tool}} {
		if axis.limit.PerMinute == 0 || axis.key == "" {
			continue
		}
		if wait := l.bucket(axis.name+" "+axis.key, axis.limit).wait(now); wait > 0 {
			f := protocol.NewFault(protocol.FaultRateLimited, fmt.Sprintf("too many calls of this %s: %d a minute are allowed", axis.name, axis.limit.PerMinute))
			return nil, f.With(map[string]int64{"retry_after_ms": wait.Milliseconds() + 1})
		}
	}
	if e.Mode != ServerStream {
		return func() {}, nil
	}
	if l.streams >= c.Streams {
		f := protocol.NewFault(protocol.FaultResourceExhausted, fmt.Sprintf("%d streams are running already, which is the limit", l.streams))
		return nil, f.With(map[string]int64{"retry_after_ms": 1000})
	}
	l.streams++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		l.streams--
		l.mu.Unlock()
	}), nil
}

// bucket returns the bucket of a key; a new one if the setting has changed.
func (l *limits) bucket(key string, limit config.RateLimit) *bucket {
	b := l.buckets[key]
	if b == nil || b.perMinute != limit.PerMinute || b.burst != limit.Burst {
		if len(l.buckets) >= maxBuckets || l.buckets == nil {
			l.buckets = make(map[string]*bucket)
		}
		b = &bucket{rate.NewLimiter(rate.Limit(float64(limit.PerMinute)/60), max(limit.Burst, 1)), limit.PerMinute, limit.Burst}
		l.buckets[key] = b
	}
	return b
}

// wait takes a token, or returns how long the next one takes.
func (b *bucket) wait(now time.Time) time.Duration {
	r := b.ReserveN(now, 1)
	if d := r.DelayFrom(now); d > 0 {
		r.CancelAt(now)
		return d
	}
	return 0
}

// targetKey names the machine of a call as its arguments do.
func targetKey(args json.RawMessage) string {
	var in struct {
		Target  Target
		Session Target
	}
	json.Unmarshal(args, &in)
	for _, t := range []Target{in.Target, in.Session} {
		if t.NodeID != "" {
			return t.NodeID
		}
		if t.NodeName != "" {
			return t.NodeName
		}
	}
	return ""
}
