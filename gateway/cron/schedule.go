package cron

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// minEvery is the shortest interval.
const minEvery = time.Second

// checkSchedule validates a schedule in the form of cron.add and cron.update, and returns it
// without the fields of other kinds.
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
			_, err = parseExpr(expr, zone)
		}
		return protocol.CronSchedule{Kind: s.Kind, Expr: expr, TZ: s.TZ}, err
	}
	return s, fmt.Errorf("schedule.kind must be %s, %s or %s, not %.20q", protocol.CronAt, protocol.CronEvery, protocol.CronExpr, s.Kind)
}

// fieldNames are the names of crontab(5) for the numbers of a field, which models often write:
// months start at 1, days of the week at 0.
var fieldNames = map[int][]string{
	3: {"", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"},
	4: {"sun", "mon", "tue", "wed", "thu", "fri", "sat"},
}

var fieldName = regexp.MustCompile(`-?[a-z]+`)

// normalizeExpr normalizes a cron expression to single spaces and numbers. Unknown words stay
// unchanged. A range of days that ends on Sunday ends with 7.
func normalizeExpr(expr string) string {
	fields := strings.Fields(expr)
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

// nextRun returns the first due time of a valid schedule after now, in Unix milliseconds, or 0. The
// time of "at" is returned even if it has passed. An interval without an anchor starts at base.
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
	e, err := parseExpr(s.Expr, zone)
	if err != nil {
		return 0
	}
	if t := e.Next(time.UnixMilli(now)); !t.IsZero() {
		return t.UnixMilli()
	}
	return 0
}
