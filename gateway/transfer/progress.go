package transfer

import (
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// live is a transfer as everybody sees it. Only the owner of its job changes the state.
type live struct {
	bus *event.Bus

	mu            sync.Mutex // guards the fields below
	row           store.Transfer
	window        Window // that is an end; nil if none exists, or if it has not connected
	isContinued   bool   // it ran before the gateway was restarted, which the journal does not say yet
	needsApproval bool   // waits for a renewed approval; does not count as running meanwhile
	speed         meter
	movedAt       time.Time // time of the last progress with more bytes
	lastPublished time.Time // time of the last published progress
	// monotonicExpiry is row.ExpiresAt on the monotonic clock; expiryOf is the value of
	// row.ExpiresAt from which it was computed.
	monotonicExpiry time.Time
	expiryOf        int64
}

// view returns the transfer as it is now.
func (v *live) view() protocol.Transfer {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.row.Transfer
}

// update changes and publishes the row without storing it. Apart from the owner, which has stored
// the change, the work calls it for amounts, which may be lost in a crash.
func (v *live) update(f func(*store.Transfer)) {
	v.mu.Lock()
	f(&v.row)
	t := v.row.Transfer
	v.mu.Unlock()
	publish(v.bus, t)
}

// publish publishes a change of a transfer.
func publish(bus *event.Bus, t protocol.Transfer) {
	bus.Publish(protocol.Change{Kind: protocol.ChangeTransfer, SessionKey: t.Session, Transfer: &t})
}

// setProgress records the destination's progress.
func (v *live) setProgress(p stream.ProgressReport) {
	now := time.Now()
	v.mu.Lock()
	t := &v.row.Transfer
	if p.Current == "" && p.Bytes < t.BytesDone {
		// a later attempt counts again what it finds at the destination: the earlier count stays
		// meanwhile
		v.mu.Unlock()
		return
	}
	if p.Bytes > t.BytesDone {
		v.movedAt = now
	}
	t.BytesDone, t.FilesDone, t.Current = p.Bytes, p.Files, p.Current
	t.Speed, t.ETA = 0, 0
	if t.State == protocol.TransferRunning { // otherwise the attempt is about to stop
		t.Speed = v.speed.add(now, p.Bytes)
	}
	if t.Speed > 0 && t.Bytes > p.Bytes {
		t.ETA = (t.Bytes - p.Bytes) * 1000 / t.Speed
	}
	show := now.Sub(v.lastPublished) >= progressEvery
	if show {
		v.lastPublished = now
	}
	row := *t
	v.mu.Unlock()
	if show {
		publish(v.bus, row)
	}
}

// speedExpiry is the time without new bytes after which a transfer has no speed.
const speedExpiry = 5 * time.Second

// expireSpeed publishes that the transfer has no speed, once nothing has moved for [speedExpiry]:
// without progress, nobody else would.
func (v *live) expireSpeed(now time.Time) {
	v.mu.Lock()
	t := &v.row.Transfer
	expired := t.Speed > 0 && now.Sub(v.movedAt) >= speedExpiry
	if expired {
		t.Speed, t.ETA, v.speed = 0, 0, meter{}
	}
	row := *t
	v.mu.Unlock()
	if expired {
		publish(v.bus, row)
	}
}

// meter computes the speed, averaged over the last seconds. The first progress of an attempt may be
// data from earlier ones, so it does not count.
type meter struct {
	at    time.Time
	bytes int64
	speed float64 // bytes per second
}

const (
	meterSpan = 3 * time.Second
	meterStep = 250 * time.Millisecond
)

func (m *meter) add(now time.Time, bytes int64) int64 {
	span := now.Sub(m.at)
	switch {
	case m.at.IsZero():
	case span < meterStep:
		return int64(m.speed)
	default:
		speed := float64(bytes-m.bytes) / span.Seconds()
		if m.speed == 0 {
			m.speed = speed
		}
		m.speed += (speed - m.speed) * min(1, span.Seconds()/meterSpan.Seconds())
	}
	m.at, m.bytes = now, bytes
	return int64(max(m.speed, 0))
}

// isExpiredLocked reports whether a job has waited for too long. It checks the wall clock, which
// advances while the machine sleeps or the gateway is off, and the monotonic clock, which nobody
// can set back. The caller must hold mu.
func (v *live) isExpiredLocked(now time.Time) bool {
	if v.row.ExpiresAt == 0 {
		return false
	}
	left := time.UnixMilli(v.row.ExpiresAt).Sub(now)
	if v.expiryOf != v.row.ExpiresAt {
		v.expiryOf, v.monotonicExpiry = v.row.ExpiresAt, now.Add(left)
	}
	return left <= 0 || !now.Before(v.monotonicExpiry)
}

// allowedBy returns the call whose decision allows the transfer.
func (v *live) allowedBy() protocol.CallID {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.row.Allowed
}
