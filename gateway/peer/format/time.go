package format

import (
	"fmt"
	"strconv"
	"time"
)

// Days returns how many days of the calendar pass from one time to another, each in its own zone.
func Days(from, to time.Time) int {
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return int(date(to).Sub(date(from)) / (24 * time.Hour))
}

// Ago formats the time since then, in Unix milliseconds: just now, 5 min ago, 3 h ago, yesterday,
// 4 days ago, 3 May, 3 May 2025.
func Ago(ms int64, now time.Time) string {
	t := time.UnixMilli(ms).In(now.Location())
	days := Days(t, now)
	switch d := now.Sub(t); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case days == 1:
		return "yesterday"
	case days < 7:
		return fmt.Sprintf("%d days ago", days)
	case t.Year() == now.Year():
		return t.Format("2 Jan")
	}
	return t.Format("2 Jan 2006")
}

// When formats a point in time, in Unix milliseconds, in the zone of now: 10:41, tomorrow at 09:00,
// yesterday at 18:30, Friday at 09:00, 3 May at 18:30.
func When(ms int64, now time.Time) string {
	t := time.UnixMilli(ms).In(now.Location())
	clock := t.Format("15:04")
	switch days := Days(now, t); {
	case days == 0:
		return clock
	case days == 1:
		return "tomorrow at " + clock
	case days == -1:
		return "yesterday at " + clock
	case days > 1 && days < 7:
		return t.Format("Monday") + " at " + clock
	case t.Year() == now.Year():
		return t.Format("2 Jan") + " at " + clock
	case days > 0:
		return t.Format("2 Jan 2006") + " at " + clock
	}
	return t.Format("2 Jan 2006")
}

// Duration formats a time span in its two largest units: 12 s, 3 min, 2 min 30 s, 2 h 5 min, 4 days.
// Less than a second is rounded up to milliseconds.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", (d+time.Millisecond-1)/time.Millisecond)
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
	case d < time.Hour:
		d = d.Round(time.Second)
		return twoUnits(int(d/time.Minute), "min", int(d%time.Minute/time.Second), "s")
	case d < 48*time.Hour:
		d = d.Round(time.Minute)
		return twoUnits(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "min")
	}
	return fmt.Sprintf("%d days", d.Round(24*time.Hour)/(24*time.Hour))
}

func twoUnits(n int, large string, rest int, small string) string {
	text := fmt.Sprintf("%d %s", n, large)
	if rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, small)
	}
	return text
}
