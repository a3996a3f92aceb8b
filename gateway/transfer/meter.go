package transfer

import (
	"time"
)

// meter computes the speed over the last seconds. The first progress of an attempt may be data from
// earlier ones, so it does not count.
type meter struct {
	marks []mark
}

type mark struct {
	at    time.Time
	bytes int64
}

const (
	meterSpan = 5 * time.Second
	meterStep = 250 * time.Millisecond
)

func (m *meter) add(now time.Time, bytes int64) int64 {
	if n := len(m.marks); n == 0 || now.Sub(m.marks[n-1].at) >= meterStep {
		m.marks = append(m.marks, mark{now, bytes})
	}
	for len(m.marks) > 2 && now.Sub(m.marks[1].at) > meterSpan {
		m.marks = m.marks[1:]
	}
	first := m.marks[0]
	span := now.Sub(first.at)
	if span < meterStep || bytes <= first.bytes {
		return 0
	}
	return int64(float64(bytes-first.bytes) / span.Seconds())
}
