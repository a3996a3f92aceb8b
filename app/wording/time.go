package wording

import (
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
)

// FullTime formats a point in time in full, for where the mouse is over a short one. 0 is empty.
func FullTime(ms int64, now time.Time) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).In(now.Location()).Format("Monday, 2 January 2006, 15:04:05")
}

// UntilText formats the time until then: in 5 minutes (10:41). A time in the past is "due".
func UntilText(ms int64, now time.Time) string {
	d := time.UnixMilli(ms).Sub(now)
	switch {
	case d <= 0:
		return "due now"
	case d < 90*time.Second:
		return "in a minute"
	case d < time.Hour:
		return fmt.Sprintf("in %d minutes", int(d.Round(time.Minute).Minutes()))
	case d < 6*time.Hour:
		return "in " + format.Duration(d) + ", at " + format.When(ms, now)
	}
	return format.When(ms, now)
}

// ETAText formats an estimated duration.
func ETAText(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < 10*time.Second:
		return "a few seconds"
	case d < time.Minute:
		return fmt.Sprintf("about %d s", int(d.Round(10*time.Second).Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("about %d min", max(1, int(d.Round(time.Minute).Minutes())))
	case d < 36*time.Hour:
		return fmt.Sprintf("about %d h", int(d.Round(time.Hour).Hours()))
	}
	return fmt.Sprintf("about %d days", int(d.Round(24*time.Hour).Hours()/24))
}

// ParseWhen parses a point in time: 18:30, tomorrow 9:00, today 18:30, 2026-05-03 18:30. A time
// without a day is the next such time. A time that a clock change skips is an error.
func ParseWhen(text string, now time.Time) (time.Time, error) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	day, clock, named := now, text, false
	for word, add := range map[string]int{"today": 0, "tomorrow": 1} {
		if rest, ok := strings.CutPrefix(text, word); ok {
			day, clock, named = now.AddDate(0, 0, add), strings.TrimPrefix(strings.TrimSpace(rest), "at "), true
		}
	}
	if t, err := time.Parse("15:04", clock); err == nil {
		at, err := clockTime(day, t, now.Location())
		if !named && err == nil && !at.After(now) {
			return clockTime(day.AddDate(0, 0, 1), t, now.Location())
		}
		return at, err
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02t15:04", "2.1.2006 15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return clockTime(t, t, now.Location())
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time. Enter 18:30, tomorrow 9:00 or %s 18:30", text, now.Format("2006-01-02"))
}

// clockTime returns the time at which a clock in zone shows this time on this day.
func clockTime(day, clock time.Time, zone *time.Location) (time.Time, error) {
	at := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), 0, 0, zone)
	if at.Hour() != clock.Hour() || at.Minute() != clock.Minute() {
		return at, fmt.Errorf("%s does not exist on %s: the clocks go forward then", clock.Format("15:04"), day.Format("2 January 2006"))
	}
	return at, nil
}

// TimeLeft formats the time left until a Unix time in milliseconds: 0:42 left, 7 days left. It is
// empty for 0.
func TimeLeft(until int64, now time.Time) string {
	if until == 0 {
		return ""
	}
	if time.UnixMilli(until).Sub(now) >= time.Hour {
		return MinutesLeft(until, now)
	}
	left := int(max(time.UnixMilli(until).Sub(now).Round(time.Second), 0).Seconds())
	return fmt.Sprintf("%d:%02d left", left/60, left%60)
}

// MinutesLeft formats the time left until a Unix time in milliseconds, for texts that change at most
// once a minute: 23 min left, 1 h 5 min left. It is at least a minute.
func MinutesLeft(until int64, now time.Time) string {
	left := time.UnixMilli(until).Sub(now).Round(time.Minute)
	if left <= time.Minute {
		return "1 min left"
	}
	return format.Duration(left) + " left"
}

// DayName formats a day: "Today", "Yesterday", "Sunday, 3 May", "3 May 2025".
func DayName(t, now time.Time) string {
	switch days := format.Days(t, now); {
	case days == 0:
		return "Today"
	case days == 1:
		return "Yesterday"
	case t.Year() == now.Year():
		return t.Format("Monday, 2 January")
	}
	return t.Format("2 January 2006")
}
