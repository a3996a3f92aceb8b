package when

import (
	"testing"
	"time"
)

// TestAmbiguousTimeIsTheFirstOne checks every minute around a year's clock changes
// in various time zones.
func TestAmbiguousTimeIsTheFirstOne(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Berlin", "America/New_York", "America/Havana", "America/Santiago", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC", "Atlantic/Azores"} {
		t.Run(name, func(t *testing.T) {
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, zone)
			for _, end := at.ZoneBounds(); !end.IsZero() && end.Year() == 2026; _, end = end.ZoneBounds() {
				first := map[time.Time]time.Time{}
				for minute := -180; minute <= 180; minute++ {
					m := end.Add(time.Duration(minute) * time.Minute)
					if _, had := first[ClockTime(m)]; !had {
						first[ClockTime(m)] = m
					}
				}
				for want := ClockTime(end).Add(-90 * time.Minute); want.Before(ClockTime(end).Add(90 * time.Minute)); want = want.Add(time.Minute) {
					got, exists := Moment(want.Year(), want.Month(), want.Day(), want.Hour(), want.Minute(), 0, zone)
					m, there := first[want]
					if !there {
						m = end
					}
					if exists != there || !got.Equal(m) {
						t.Fatalf("%s: %s is %s, %v; want %s, %v", name, want.Format("2006-01-02 15:04"), got, exists, m, there)
					}
				}
			}
		})
	}
}
