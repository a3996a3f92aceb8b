package when

import "time"

// Moment is when a clock in zone first shows a time; exists is false where the clock is put forward over it, and the moment is that of the change.
// time.Date leaves open which of two hours it takes, and answers with an hour of the day before where midnight does not exist.
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

// Shown is what a clock in t's zone shows, as if it were UTC.
func Shown(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}
