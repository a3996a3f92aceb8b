package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/cron/when"
)

// Expr is a cron expression of five fields in a time zone: minute, hour, day of month, month, day
// of week (0 and 7 are Sunday). A field is "*", a number, a range a-b, "*" or a range with a /step,
// or a list of these; only numbers are allowed. When both day fields are restricted, a day that
// matches either of them matches; only the literal "*" is unrestricted, as in GSV. The day of the
// month may also be L, the last one.
//
// A time of day that the clock skips runs once, at the moment of the skip. A time that the clock
// repeats runs at the first of the two. An expression whose hour is "*" follows real hours instead:
// a skip adds nothing, and a repeated hour runs twice.
//
// Fairlead has its own parser because the available libraries do not do this: robfig/cron drops
// skipped times, netresearch/go-cron 0.9.1 runs repeated ones twice, both handle only changes of
// whole hours, which is wrong for Lord Howe Island, and adhocore/gronx 1.20.4 reads 5/10 as a
// range, requires both day fields for */2, and accepts expressions that never match.
type Expr struct {
	minute, hour, dom, month, dow uint64 // one bit per value
	anyHour, anyDOM, anyDOW       bool
	lastDay                       bool // of the month
	zone                          *time.Location
}

// exprs are the cron expressions of one schedule, which runs at the times of all of them.
type exprs []*Expr

// maxExprs limits the expressions of a schedule.
const maxExprs = 24

// parseExprs parses expressions that are separated by semicolons.
func parseExprs(text string, zone *time.Location) (exprs, error) {
	var all exprs
	for part := range strings.SplitSeq(text, ";") {
		e, err := parseExpr(part, zone)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	if len(all) > maxExprs {
		return nil, fmt.Errorf("a schedule may have at most %d cron expressions", maxExprs)
	}
	return all, nil
}

// Next returns the first time after t, or the zero time if the schedule has ended.
func (all exprs) Next(t time.Time) (first time.Time) {
	for _, e := range all {
		if next := e.Next(t); first.IsZero() || !next.IsZero() && next.Before(first) {
			first = next
		}
	}
	return first
}

var exprFields = []struct {
	name     string
	min, max int
}{{"minute", 0, 59}, {"hour", 0, 23}, {"day of month", 1, 31}, {"month", 1, 12}, {"day of week", 0, 7}}

// parseExpr parses an expression for times in zone.
func parseExpr(text string, zone *time.Location) (*Expr, error) {
	fields := strings.Fields(text)
	if len(fields) != len(exprFields) {
		return nil, fmt.Errorf("cron expression must contain exactly 5 fields, %.60q has %d", text, len(fields))
	}
	var bits [5]uint64
	lastDay := fields[2] == "L"
	for i, f := range exprFields {
		if i == 2 && lastDay {
			continue
		}
		var err error
		if bits[i], err = parseField(fields[i], f.min, f.max); err != nil {
			return nil, fmt.Errorf("cron expression: %s %w", f.name, err)
		}
	}
	if bits[4]&(1<<7) != 0 {
		bits[4] |= 1
	}
	e := &Expr{
		minute: bits[0], hour: bits[1], dom: bits[2], month: bits[3], dow: bits[4] & 0x7f,
		anyHour: fields[1] == "*", anyDOM: fields[2] == "*", anyDOW: fields[4] == "*", lastDay: lastDay, zone: zone,
	}
	if _, ok := e.nextMatch(time.Unix(0, 0).UTC()); !ok {
		return nil, fmt.Errorf("cron expression: no day matches %.60q", text)
	}
	return e, nil
}

func parseField(text string, low, high int) (bits uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		span, stepText, stepped := strings.Cut(part, "/")
		from, to, isRange := low, high, true
		if span != "*" {
			a, b, both := strings.Cut(span, "-")
			isRange = both
			if from, err = number(a, low, high); err != nil {
				return 0, err
			}
			to = from
			if both {
				if to, err = number(b, low, high); err != nil {
					return 0, err
				}
			}
			if to < from {
				return 0, fmt.Errorf("the end of %.20q is before its start", span)
			}
		}
		step := 1
		if stepped {
			if step, err = number(stepText, 1, 1000); err != nil {
				return 0, err
			}
			if !isRange {
				step = high + 1 // 5/10 means just 5, as in GSV
			}
		}
		for v := from; v <= to; v += step {
			bits |= 1 << v
		}
	}
	return bits, nil
}

func number(text string, low, high int) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || int(n) < low || int(n) > high {
		return 0, fmt.Errorf("%.20q must be a number from %d to %d", text, low, high)
	}
	return int(n), nil
}

// horizon limits the search for a match: a 29 February comes at least every eighth year.
const horizon = 9 * 366 * 24 * time.Hour

// Next returns the first time after t, or the zero time if none exists within nine years.
func (e *Expr) Next(t time.Time) time.Time {
	t = t.In(e.zone)
	if e.anyHour {
		return e.nextInRealHours(t)
	}
	for clock, ok := e.nextMatch(when.ClockTime(t)); ok; clock, ok = e.nextMatch(clock) {
		at, _ := when.Moment(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), 0, e.zone)
		if at.After(t) { // otherwise the clock shows it for the second time, or was set forward at t
			return at
		}
	}
	return time.Time{}
}

// nextInRealHours is Next for an expression that matches every hour of its days.
func (e *Expr) nextInRealHours(t time.Time) time.Time {
	limit := t.Add(horizon)
	at := t.Truncate(time.Second).Add(time.Duration(60-t.Second()) * time.Second)
	for at.Before(limit) {
		switch {
		case e.month&(1<<at.Month()) == 0 || !e.day(at):
			at = at.Add(time.Duration(60-at.Minute()) * time.Minute)
		case e.minute&(1<<at.Minute()) == 0:
			at = at.Add(time.Minute)
		default:
			return at
		}
	}
	return time.Time{}
}

// nextMatch returns the first matching minute after t. Both are clock times without a zone.
func (e *Expr) nextMatch(t time.Time) (time.Time, bool) {
	limit := t.Add(horizon)
	t = t.Truncate(time.Minute).Add(time.Minute)
	for t.Before(limit) {
		switch {
		case e.month&(1<<t.Month()) == 0:
			t = time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		case !e.day(t):
			t = time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, time.UTC)
		case e.hour&(1<<t.Hour()) == 0:
			t = t.Truncate(time.Hour).Add(time.Hour)
		case e.minute&(1<<t.Minute()) == 0:
			t = t.Add(time.Minute)
		default:
			return t, true
		}
	}
	return time.Time{}, false
}

func (e *Expr) day(t time.Time) bool {
	dom, dow := e.dom&(1<<t.Day()) != 0 || e.lastDay && t.AddDate(0, 0, 1).Day() == 1, e.dow&(1<<t.Weekday()) != 0
	switch {
	case e.anyDOM:
		return dow
	case e.anyDOW:
		return dom
	}
	return dom || dow
}
