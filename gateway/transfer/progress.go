package transfer

import (
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// view returns the transfer as it is now.
func (j *job) view() protocol.Transfer {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.row.Transfer
}

// update changes and publishes the row without storing it. Apart from the owner, which has stored
// the change, the work calls it for amounts, which may be lost in a crash.
func (j *job) update(f func(*store.Transfer)) {
	j.mu.Lock()
	f(&j.row)
	t := j.row.Transfer
	j.mu.Unlock()
	publish(j.services.bus, t)
}

// publish publishes a change of a transfer.
func publish(bus *event.Bus, t protocol.Transfer) {
	bus.Publish(protocol.Change{Kind: protocol.ChangeTransfer, SessionKey: t.Session, Transfer: &t})
}

// setProgress records the destination's progress.
func (j *job) setProgress(p stream.ProgressReport) {
	now := time.Now()
	j.mu.Lock()
	t := &j.row.Transfer
	if p.Current == "" && p.Bytes < t.BytesDone {
		// a later attempt counts again what it finds at the destination: the earlier count stays
		// meanwhile
		j.mu.Unlock()
		return
	}
	t.BytesDone, t.FilesDone, t.Current = p.Bytes, p.Files, p.Current
	t.Speed, t.ETA = 0, 0
	if t.State == protocol.TransferRunning { // otherwise the attempt is about to stop
		t.Speed = j.speed.add(now, p.Bytes)
	}
	if t.Speed > 0 && t.Bytes > p.Bytes {
		t.ETA = (t.Bytes - p.Bytes) * 1000 / t.Speed
	}
	show := now.Sub(j.lastPublished) >= progressEvery
	if show {
		j.lastPublished = now
	}
	row := *t
	j.mu.Unlock()
	if show {
		publish(j.services.bus, row)
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
