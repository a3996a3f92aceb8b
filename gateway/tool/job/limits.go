package job

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// limits bound how many calls a caller makes, a machine gets, and a tool runs. They are off unless
// the settings turn them on. The number of streams of a caller that run at the same time is always
// bounded.
type limits struct {
	mu      sync.Mutex // guards the fields below
	buckets map[string]*bucket
	streams map[string]int // by caller
}

// bucket is a token bucket and the setting that it was made for.
type bucket struct {
	*rate.Limiter
	perMinute, burst int
}

// maxBuckets bounds the memory for callers that are gone.
const maxBuckets = 10_000

// take counts a call. release must be called at its end.
func (l *limits) take(c config.API, r Request) (release func(), err error) {
	caller, machine := r.Caller.Caller(), protocol.NodeID("")
	if c.Limits.Machine.PerMinute > 0 {
		machine = r.Machine()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, axis := range []struct {
		name, key string
		limit     config.RateLimit
	}{{"app", caller, c.Limits.App}, {"machine", string(machine), c.Limits.Machine}, {"tool", r.Tool, c.Limits.Tool}} {
		if axis.limit.PerMinute == 0 || axis.key == "" {
			continue
		}
		if wait := l.bucket(axis.name+" "+axis.key, axis.limit).wait(now); wait > 0 {
			f := protocol.NewFault(protocol.FaultRateLimited, fmt.Sprintf("too many calls of this %s: %d a minute are allowed", axis.name, axis.limit.PerMinute))
			return nil, f.With(map[string]int64{"retry_after_ms": wait.Milliseconds() + 1})
		}
	}
	if !r.IsStream {
		return func() {}, nil
	}
	if l.streams[caller] >= c.Streams {
		f := protocol.NewFault(protocol.FaultResourceExhausted, fmt.Sprintf("%d streams are running already, which is the limit", l.streams[caller]))
		return nil, f.With(map[string]int64{"retry_after_ms": 1000})
	}
	if l.streams == nil {
		l.streams = make(map[string]int)
	}
	l.streams[caller]++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.streams[caller]--; l.streams[caller] == 0 {
			delete(l.streams, caller)
		}
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
