package memory

import (
	"testing"
	"time"
)

func TestMemoryIsReleasedOnceWhenTheProgramRests(t *testing.T) {
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
