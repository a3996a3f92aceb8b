package format

import (
	"testing"
	"time"
)

func TestAgoNamesTheLargestUnitThatFits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for want, at := range map[string]time.Time{
		"just now": now.Add(-59 * time.Second), "1 min ago": now.Add(-119 * time.Second), "59 min ago": now.Add(-time.Hour + time.Second), "23 h ago": now.Add(-24*time.Hour + time.Second),
		"yesterday": now.Add(-24 * time.Hour), "2 days ago": now.Add(-40 * time.Hour), "6 days ago": now.AddDate(0, 0, -6), "21 Mar": now.AddDate(0, 0, -7), "31 Dec 2025": time.Date(2025, 12, 31, 12, 0, 0, 0, time.UTC),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if got := Ago(at.UnixMilli(), now); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
