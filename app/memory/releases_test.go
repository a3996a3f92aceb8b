package memory

import (
	"testing"
	"time"

	"fairlead/app/native"
)

func TestReleasesFollowTheToolkit(t *testing.T) {
	released, now := 0, time.Now()
	r := NewReleases(func() { released++ })
	r.Start(now)
	for _, c := range []struct {
		after    time.Duration
		released int
	}{{0, 1}, {native.RendererAge - time.Second, 1}, {native.RendererAge + time.Second, 1}, {2 * native.RendererAge, 2}} {
		r.Tick(now.Add(c.after))
		if released != c.released {
			t.Errorf("after %v: got %d releases, want %d", c.after, released, c.released)
		}
	}
}
