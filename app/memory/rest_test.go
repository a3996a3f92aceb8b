package memory

import (
	"testing"
	"time"
)

func TestMemoryIsReleasedOnceWhenTheProgramIsIdle(t *testing.T) {
	var r Rest
	now, used, released := time.Now(), 10*time.Second, 0
	for i, c := range []struct {
		used time.Duration // in the time before
		want int           // releases until then
	}{{0, 0}, {busyTime, 0}, {busyTime / 4, 1}, {busyTime / 4, 1}, {busyTime, 1}, {0, 2}, {0, 2}} {
		now, used = now.Add(restCheck), used+c.used
		r.Tick(now, func() time.Duration { return used }, func() { released++ })
		r.Tick(now.Add(time.Second), func() time.Duration { return used }, func() { released++ })
		if released != c.want {
			t.Errorf("check %d: got %d releases, want %d", i, released, c.want)
		}
	}
}

func TestStartupMemoryIsReleasedAfterTheFirstIdlePeriod(t *testing.T) {
	var r Rest
	start, released := time.Now(), 0
	used := func() time.Duration { return busyTime / 2 } // a start on a quiet machine
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {restCheck - time.Second, 0}, {restCheck, 1}, {2 * restCheck, 1}} {
		r.Tick(start.Add(c.after), used, func() { released++ })
		if released != c.want {
			t.Errorf("%v after the first tick: got %d releases, want %d", c.after, released, c.want)
		}
	}
}
