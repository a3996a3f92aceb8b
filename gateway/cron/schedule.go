package cron

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Windows has no time zone data

	"fairlead/gateway/cron/when"
	"fairlead/gateway/protocol"
)

// minEvery is the shortest interval.
const minEvery = time.Second

// checkSchedule validates a schedule and returns it without the fields of other kinds.
func checkSchedule(s protocol.CronSchedule, person *time.Location) (protocol.CronSchedule, error) {
	switch s.Kind {
	case protocol.CronAt:
		if s.AtMs == nil {
			return s, errors.New("schedule.atMs must be a finite number")
		}
		if *s.AtMs < 0 || *s.AtMs > maxTime {
			return s, errors.New("schedule.atMs must be a time in milliseconds since 1970")
		}
		return protocol.CronSchedule{Kind: s.Kind, AtMs: s.AtMs}, nil
	case protocol.CronEvery:
		if s.EveryMs < minEvery.Milliseconds() || s.EveryMs > maxAhead.Milliseconds() {
			return s, fmt.Errorf("schedule.everyMs must be a number of milliseconds, %d or more", minEvery.Milliseconds())
		}
		if s.AnchorMs != nil && (*s.AnchorMs < 0 || *s.AnchorMs > maxTime) {
			return s, errors.New("schedule.anchorMs must be a time in milliseconds since 1970")
		}
		return protocol.CronSchedule{Kind: s.Kind, EveryMs: s.EveryMs, AnchorMs: s.AnchorMs}, nil
	case protocol.CronExpr:
		zone, err := zoneOf(s.TZ, person)
		expr := normalizeExpr(s.Expr)
		if err == nil {
			_, err = parseExprs(expr, zone)
		}
		return protocol.CronSchedule{Kind: s.Kind, Expr: expr, TZ: s.TZ}, err
	}
	return s, fmt.Errorf("schedule.kind must be %s, %s or %s, not %.20q", protocol.CronAt, protocol.CronEvery, protocol.CronExpr, s.Kind)
}

// fieldNames are the names in crontab(5) for months, from 1, and days of the week, from 0.
var fieldNames = map[int][]string{
	3: {"", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"},
	4: {"sun", "mon", "tue", "wed", "thu", "fri", "sat"},
}

var fieldName = regexp.MustCompile(`-?[a-z]+`)

// normalizeExpr normalizes cron expressions to single spaces and numbers. Unknown words stay
// unchanged. A range of days that ends on Sunday ends with 7.
func normalizeExpr(text string) string {
	parts := strings.Split(text, ";")
	for i, expr := range parts {
		parts[i] = normalizeOne(expr)
	}
	return strings.Join(parts, "; ")
}

func normalizeOne(expr string) string {
	fields := strings.Fields(expr)
	if len(fields) > 2 && fields[2] == "l" {
		fields[2] = "L"
	}
	for i, known := range fieldNames {
		if i >= len(fields) {
			continue
		}
		fields[i] = fieldName.ReplaceAllStringFunc(strings.ToLower(fields[i]), func(w string) string {
			name, isEnd := strings.CutPrefix(w, "-")
			n := slices.Index(known, name)
			switch {
			case n < 0:
				return w
			case isEnd && name == "sun":
				return "-7"
			case isEnd:
				return "-" + strconv.Itoa(n)
			}
			return strconv.Itoa(n)
		})
	}
	return strings.Join(fields, " ")
}

// maxTime is the latest time in a schedule: the year 9999, in milliseconds.
const maxTime = 253_402_300_799_999

func zoneOf(name string, person *time.Location) (*time.Location, error) {
	if name == "" {
		return person, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("there is no time zone %.60q; take a name such as Europe/Berlin", name)
	}
	return zone, nil
}

// nextRun returns the first due time of a valid schedule after now, or 0. The time of "at" is
// returned even if it has passed. An interval without an anchor starts at base.
func nextRun(s protocol.CronSchedule, base, now int64, person *time.Location) int64 {
	switch s.Kind {
	case protocol.CronAt:
		return *s.AtMs
	case protocol.CronEvery:
		anchor := base
		if s.AnchorMs != nil {
			if anchor = *s.AnchorMs; anchor > now {
				return anchor
			}
		}
		if now < anchor { // the clock was set back
			return anchor - (anchor-now-1)/s.EveryMs*s.EveryMs
		}
		return anchor + ((now-anchor)/s.EveryMs+1)*s.EveryMs
	}
	zone, err := zoneOf(s.TZ, person)
	if err != nil {
		return 0
	}
	e, err := parseExprs(s.Expr, zone)
	if err != nil {
		return 0
	}
	if t := e.Next(time.UnixMilli(now)); !t.IsZero() {
		return t.UnixMilli()
	}
	return 0
}

// maxAhead limits times.
const maxAhead = when.Most

var (
	digits   = regexp.MustCompile(`^\d{10,16}$`)
	dayForm  = regexp.MustCompile(`^(today|tomorrow)(?:[ ,]+(?:at +)?(.+))?$`)
	dateForm = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})(?:[T ]+(\d{1,2})(?::(\d{2})(?::(\d{2})(?:\.\d+)?)?)?)?$`)
)

// zoned are the layouts of times with an offset.
var zoned = []string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05 MST", "2006-01-02 15:04:05 MST", "2006-01-02 15:04 MST", time.RFC1123Z,
}

var errNoTime = errors.New(`write it as 2026-03-29T09:00, "in 20 minutes", "today 18:00" or "tomorrow at 9am"`)

// ParseTime parses a time as people and models write it: seconds (10 digits) or milliseconds since
// 1970, "in 20 minutes", "today 18:00", "tomorrow at 9am", "18:00" (the next one), or a date with
// or without time and offset. A time that the clock skips is an error; of one that it repeats, the
// first is used.
func ParseTime(text string, now time.Time, zone *time.Location) (time.Time, error) {
	t, err := parseTime(strings.Join(strings.Fields(text), " "), now.In(zone), zone)
	if err != nil {
		return time.Time{}, fmt.Errorf("%.60q: %w", text, err)
	}
	if t.Before(time.UnixMilli(0)) || t.After(now.Add(maxAhead)) {
		return time.Time{}, fmt.Errorf("%.60q: the time is too far away", text)
	}
	return t.Truncate(time.Millisecond), nil
}

func parseTime(text string, now time.Time, zone *time.Location) (time.Time, error) {
	low := strings.ToLower(text)
	if digits.MatchString(low) {
		n, err := strconv.ParseInt(low, 10, 64)
		if len(low) == 10 {
			n *= 1000
		}
		return time.UnixMilli(n), err
	}
	if length, ok := strings.CutPrefix(low, "in "); ok {
		d, err := when.Parse(length)
		return now.Add(d), err
	}
	if m := dayForm.FindStringSubmatch(low); m != nil {
		hour, minute, err := clock(cmp.Or(m[2], "0:00"))
		if err != nil {
			return time.Time{}, err
		}
		day := now.Day()
		if m[1] == "tomorrow" {
			day++
		}
		return wall(now.Year(), now.Month(), day, hour, minute, 0, zone)
	}
	if hour, minute, err := clock(strings.TrimPrefix(low, "at ")); err == nil {
		t, err := wall(now.Year(), now.Month(), now.Day(), hour, minute, 0, zone)
		if err != nil || t.After(now) {
			return t, err
		}
		return wall(now.Year(), now.Month(), now.Day()+1, hour, minute, 0, zone)
	}
	if m := dateForm.FindStringSubmatch(text); m != nil {
		var n [7]int
		for i, s := range m[1:] {
			n[i], _ = strconv.Atoi(s) // digits only, or empty
		}
		plain := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC)
		if int(plain.Month()) != n[1] || plain.Day() != n[2] || plain.Hour() != n[3] || plain.Minute() != n[4] {
			return time.Time{}, errors.New("this date or time does not exist")
		}
		return wall(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], zone)
	}
	for _, layout := range zoned {
		t, err := time.Parse(layout, strings.ToUpper(text))
		if err != nil {
			continue
		}
		if name, offset := t.Zone(); strings.HasSuffix(layout, "MST") && offset == 0 && name != "UTC" && name != "GMT" {
			return time.Time{}, fmt.Errorf("%s is not unique: write the offset, such as +02:00, or UTC", name)
		}
		return t, nil
	}
	return time.Time{}, errNoTime
}

// clock parses a time of day.
func clock(text string) (hour, minute int, err error) {
	if hour, minute, err = when.OfDay(text); errors.Is(err, when.ErrOfDay) {
		err = errNoTime
	}
	return hour, minute, err
}

// wall returns the time at which a clock in zone shows this, the first one of two.
func wall(year int, month time.Month, day, hour, minute, second int, zone *time.Location) (time.Time, error) {
	t, exists := when.Moment(year, month, day, hour, minute, second, zone)
	if !exists {
		want := time.Date(year, month, day, hour, minute, second, 0, time.UTC)
		return t, fmt.Errorf("%s does not exist in %s, because the clock is set forward", want.Format("2 January 2006 15:04"), zone)
	}
	return t, nil
}
