package settings

import (
	"cmp"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
)

// goDuration formats a duration without zero parts: 1h30m, not 1h30m0s.
func goDuration(d time.Duration) string {
	if d == 0 {
		return "0m"
	}
	s := d.String()
	for _, zero := range []string{"0s", "0m"} {
		if whole, ok := strings.CutSuffix(s, zero); ok && strings.ContainsAny(whole[len(whole)-1:], "hm") {
			s = whole
		}
	}
	return s
}

// durations are the units for display. There are no days: 36 hours is clearer than 1.5 days.
var durations = []struct {
	one  string
	unit time.Duration
}{{"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}, {"millisecond", time.Millisecond}}

func durationWords(d time.Duration) string {
	if d < time.Millisecond {
		return "0 seconds"
	}
	var parts []string
	for _, u := range durations {
		if n := d / u.unit; n > 0 {
			parts = append(parts, format.Plural(int(n), u.one))
			d %= u.unit
		}
	}
	return strings.Join(parts, " ")
}

var errDuration = errors.New("say how long with a unit, such as 30 seconds, 5 minutes or 1 hour 30 minutes")

// durationPart is a number with its unit, and what separates it from the next.
var durationPart = regexp.MustCompile(`^([0-9][0-9.]*)\s*([a-z]+)(,|\s|and\s)*`)

// durationUnits are the units by their names without the "s" of the plural.
var durationUnits = map[string]time.Duration{
	"ms": time.Millisecond, "msec": time.Millisecond, "millisecond": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "h": time.Hour, "hr": time.Hour, "hour": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour,
}

// parseDuration parses a duration: 5 minutes, 1 hour 30 min, 90s, 1.5 h, never.
func parseDuration(text string) (time.Duration, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "never" || text == "0" {
		return 0, nil
	}
	sum := time.Duration(0)
	for rest := text; rest != "" || text == ""; {
		part := durationPart.FindStringSubmatch(rest)
		if part == nil {
			return 0, errDuration
		}
		n, err := strconv.ParseFloat(part[1], 64)
		unit := cmp.Or(durationUnits[part[2]], durationUnits[strings.TrimSuffix(part[2], "s")])
		if err != nil || unit == 0 || n*float64(unit) > 1e18 {
			return 0, errDuration
		}
		sum += time.Duration(n * float64(unit))
		rest = rest[len(part[0]):]
	}
	return sum, nil
}
