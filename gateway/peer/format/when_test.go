package format

import (
	"testing"
	"time"
)

func TestWhenNamesTheDayAsFarAsNeeded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC) // a Saturday
	for want, at := range map[string]time.Time{
		"23:59": time.Date(2026, 3, 28, 23, 59, 0, 0, time.UTC), "tomorrow at 00:00": time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC),
		"yesterday at 18:30": time.Date(2026, 3, 27, 18, 30, 0, 0, time.UTC), "Friday at 09:00": time.Date(2026, 4, 3, 9, 0, 0, 0, time.UTC),
		"4 Apr at 09:00": time.Date(2026, 4, 4, 9, 0, 0, 0, time.UTC), "26 Mar at 09:00": time.Date(2026, 3, 26, 9, 0, 0, 0, time.UTC),
		"2 May 2027 at 09:00": time.Date(2027, 5, 2, 9, 0, 0, 0, time.UTC), "31 Dec 2025": time.Date(2025, 12, 31, 9, 0, 0, 0, time.UTC),
	} {
		if got := When(at.UnixMilli(), now); got != want {
			t.Errorf("%v: got %q, want %q", at, got, want)
		}
	}
}
