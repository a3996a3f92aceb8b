package when

import "time"

// Moment returns the time at which a clock in zone first shows the given time. exists is false if
// the clock skips the given time; then Moment returns the time of the skip. time.Date does not
// specify which of two repeated hours it returns, and returns an hour of the previous day where
// midnight does not exist.
func Moment(year int, month time.Month, day, hour, minute, second int, zone *time.Location) (at time.Time, exists bool) {
	want := time.Date(year, month, day, hour, minute, second, 0, time.UTC)
	at = time.Date(year, month, day, hour, minute, second, 0, zone)
	start, end := at.ZoneBounds()
	switch shown := Shown(at); {
	case shown.Before(want):
		return end, false
	case shown.After(want):
		return start, false
	case start.IsZero():
		return at, true
	}
	_, before := start.Add(-time.Second).Zone()
	_, after := at.Zone()
	if first := at.Add(time.Duration(after-before) * time.Second); first.Before(start) && Shown(first).Equal(want) {
		return first, true
	}
	return at, true
}

// Shown returns the clock time of t in its zone, as a time in UTC.
func Shown(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}
