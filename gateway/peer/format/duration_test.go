package format

import (
	"testing"
	"time"
)

func TestDurationHasAtMostTwoUnits(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 ms", 100 * time.Microsecond: "1 ms", 30 * time.Millisecond: "30 ms", time.Second: "1 s", 1640 * time.Millisecond: "1.6 s",
		90 * time.Second: "1 min 30 s", time.Minute: "1 min", 5 * time.Minute: "5 min", 150 * time.Second: "2 min 30 s", time.Hour: "1 h", 2*time.Hour + 5*time.Minute: "2 h 5 min",
		24*time.Hour + time.Second: "24 h", 72 * time.Hour: "3 days",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
