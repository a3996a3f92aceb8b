// Package when parses durations and times of day as people and models write them, the same for
// schedules and settings.
package when

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Most limits durations, so that no sum of them overflows.
const Most = 100 * 366 * 24 * time.Hour

// ErrOfDay is the error for a text that is not a time of day.
var ErrOfDay = errors.New("write it as 18:00 or 6pm")

var (
	spanForm = regexp.MustCompile(`^(\d+(?:\.\d+)?) *([a-z]*)`)
	hourForm = regexp.MustCompile(`^(\d{1,2})(?::(\d{2}))? ?(am|pm)?$`)
)

var units = map[string]time.Duration{
	"ms": time.Millisecond, "millisecond": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// OfDay parses a time of day in lower case: 18:00, 9am, 9. Other texts are an ErrOfDay.
func OfDay(text string) (hour, minute int, err error) {
	m := hourForm.FindStringSubmatch(text)
	if m == nil || m[2] == "" && m[3] == "" && len(text) > 2 {
		return 0, 0, ErrOfDay
	}
	hour, _ = strconv.Atoi(m[1])
	minute, _ = strconv.Atoi(m[2])
	if m[3] != "" {
		if hour < 1 || hour > 12 {
			return 0, 0, errors.New("this time of day does not exist")
		}
		hour %= 12
		if m[3] == "pm" {
			hour += 12
		}
	}
	if hour > 23 || minute > 59 {
		return 0, 0, errors.New("this time of day does not exist")
	}
	return hour, minute, nil
}

// Parse parses a duration: "20 minutes", "1.5h", "1 hour and 30 minutes", "an hour".
func Parse(text string) (time.Duration, error) {
	rest := strings.ToLower(strings.TrimSpace(text))
	var sum float64
	for rest != "" {
		for _, one := range []string{"an ", "a ", "one "} {
			if after, ok := strings.CutPrefix(rest, one); ok {
				rest = "1 " + after
			}
		}
		m := spanForm.FindStringSubmatch(rest)
		if m == nil {
			return 0, fmt.Errorf("%.40q is not a duration: write 20 minutes or 2 hours", text)
		}
		unit, ok := units[m[2]]
		if !ok {
			unit, ok = units[strings.TrimSuffix(m[2], "s")]
		}
		if !ok {
			return 0, fmt.Errorf("%.20q is not a unit of time: use seconds, minutes, hours, days or weeks", m[2])
		}
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return 0, err
		}
		sum += n * float64(unit)
		rest = strings.TrimLeft(rest[len(m[0]):], " ,")
		rest = strings.TrimPrefix(rest, "and ")
	}
	if sum > float64(Most) {
		return 0, fmt.Errorf("%.40q is too long", text)
	}
	d := time.Duration(math.Round(sum)).Truncate(time.Millisecond)
	if d <= 0 {
		return 0, fmt.Errorf("%.40q is too short", text)
	}
	return d, nil
}

// Moment returns the time at which a clock in zone first shows the given time. exists is false if
// the clock skips the given time; then Moment returns the time of the skip. time.Date does not
// specify which of two repeated hours it returns, and returns an hour of the previous day where
// midnight does not exist.
func Moment(year int, month time.Month, day, hour, minute, second int, zone *time.Location) (at time.Time, exists bool) {
	want := time.Date(year, month, day, hour, minute, second, 0, time.UTC)
	at = time.Date(year, month, day, hour, minute, second, 0, zone)
	start, end := at.ZoneBounds()
	switch shown := ClockTime(at); {
	case shown.Before(want):
		return end, false
	case shown.After(want):
		return start, false
	case start.IsZero():
		return at, true
	}
	_, before := start.Add(-time.Second).Zone()
	_, after := at.Zone()
	if first := at.Add(time.Duration(after-before) * time.Second); first.Before(start) && ClockTime(first).Equal(want) {
		return first, true
	}
	return at, true
}

// ClockTime returns the clock time of t in its zone, as a time in UTC.
func ClockTime(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}
