package repeat

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Workdays are Monday to Friday.
var Workdays = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}

var weekend = []time.Weekday{time.Sunday, time.Saturday}

// String describes the form: every weekday at 09:00 and 17:30.
func (f Form) String() string {
	return f.day() + " at " + join(f.Times, Clock.String)
}

func (f Form) day() string {
	switch {
	case f.Day == LastDay:
		return "on the last day of every month"
	case f.Day > 28:
		return fmt.Sprintf("on day %d of every month that has it", f.Day)
	case f.Day > 0:
		return fmt.Sprintf("on day %d of every month", f.Day)
	case len(f.Days) == 0:
		return "every day"
	}
	days := slices.Sorted(slices.Values(f.Days))
	switch {
	case slices.Equal(days, Workdays):
		return "every weekday"
	case slices.Equal(days, weekend):
		return "every Saturday and Sunday"
	case days[0] == time.Sunday:
		days = append(days[1:], time.Sunday)
	}
	return "every " + join(days, time.Weekday.String)
}

// join lists items: a, b and c.
func join[T any](items []T, text func(T) string) string {
	var b strings.Builder
	for i, item := range items {
		switch {
		case i == 0:
		case i == len(items)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(text(item))
	}
	return b.String()
}

// Text describes a schedule, without its time zone: every 2 hours, every weekday at 09:00, once,
// tomorrow at 09:00.
func Text(s protocol.CronSchedule, now time.Time) string {
	switch s.Kind {
	case protocol.CronAt:
		if s.AtMs == nil {
			return "once"
		}
		return "once, " + When(*s.AtMs, now)
	case protocol.CronEvery:
		return "every " + Interval(time.Duration(s.EveryMs)*time.Millisecond)
	}
	if f, ok := Parse(s.Expr); ok {
		return f.String()
	}
	if text := minutesText(s.Expr); text != "" {
		return text
	}
	text := "cron " + s.Expr
	if caution := Caution(s.Expr); caution != "" {
		text += " (" + caution + ")"
	}
	return text
}

// steppedFields are the fields of a cron expression, with their last value and the unit of a step.
var steppedFields = []struct {
	name, unit string
	last       int
}{{"minute", "minutes", 59}, {"hour", "hours", 23}, {"day", "days", 31}, {"month", "months", 12}, {"day of the week", "days", 6}}

var (
	stepFromNumber = regexp.MustCompile(`^(\d+)/(\d+)$`)
	stepFromStart  = regexp.MustCompile(`^\*/(\d+)$`)
)

// Caution returns a sentence about a part of an expression that people and other programs read in
// another way, such as "0/15 means minute 0 only; for every 15 minutes write */15". It returns "" for
// an expression that means what it seems to.
func Caution(expr string) string {
	for part := range strings.SplitSeq(expr, ";") {
		fields := strings.Fields(part)
		for i, f := range fields[:min(len(fields), 2)] {
			if text := unevenStep(f, i); text != "" {
				return text
			}
		}
		if len(fields) == len(steppedFields) && fields[2][0] != '*' && fields[4][0] != '*' {
			return fmt.Sprintf("a day of the month (%s) and a day of the week (%s): it runs on the days that fit either", fields[2], fields[4])
		}
		for i, f := range fields[:min(len(fields), len(steppedFields))] {
			for item := range strings.SplitSeq(f, ",") {
				m := stepFromNumber.FindStringSubmatch(item)
				if m == nil {
					continue
				}
				span, field := "*", steppedFields[i]
				if m[1] != "0" {
					span = fmt.Sprintf("%s-%d", m[1], field.last)
				}
				return fmt.Sprintf("%s means %s %s only; for every %s %s write %s/%s", item, field.name, m[1], m[2], field.unit, span, m[2])
			}
		}
	}
	return ""
}

// unevenStep returns a sentence about steps of minutes or hours, the fields 0 and 1, that begin anew
// before their last one is over.
func unevenStep(field string, i int) string {
	m := stepFromStart.FindStringSubmatch(field)
	if m == nil {
		return ""
	}
	unit, whole, count := steppedFields[i].unit, steppedFields[i+1].name, steppedFields[i].last+1
	switch n, err := strconv.Atoi(m[1]); {
	case err != nil || n == 0:
		return ""
	case n >= count:
		return fmt.Sprintf("%s means %s 0 only; for every %d %s write \"every %d %s\"", field, steppedFields[i].name, n, unit, n, unit)
	case count%n != 0:
		last := fmt.Sprintf("%d %s", count%n, unit)
		if count%n == 1 {
			last = strings.TrimSuffix(last, "s")
		}
		return fmt.Sprintf("%s begins anew each %s, so that its last pause is %s; for every %d %s write \"every %d %s\"", field, whole, last, n, unit, n, unit)
	}
	return ""
}

// Units are the units of intervals, from the longest.
var Units = []struct {
	Name   string
	Length time.Duration
}{{"days", 24 * time.Hour}, {"hours", time.Hour}, {"minutes", time.Minute}, {"seconds", time.Second}}

// Interval describes the interval of a schedule in its longest whole unit: day, 90 minutes.
func Interval(d time.Duration) string {
	for _, u := range Units {
		if d >= u.Length && d%u.Length == 0 {
			if d == u.Length {
				return strings.TrimSuffix(u.Name, "s")
			}
			return fmt.Sprintf("%d %s", d/u.Length, u.Name)
		}
	}
	return d.String()
}

// minutesText describes an expression that runs every hour, or returns "".
func minutesText(expr string) string {
	minute, ok := strings.CutSuffix(expr, " * * * *")
	if !ok {
		return ""
	}
	if n, ok := numbers(strings.TrimPrefix(minute, "*/"), 59); ok && len(n) == 1 {
		switch {
		case n[0] > 0 && 60%n[0] == 0 && strings.HasPrefix(minute, "*/"): // otherwise the last step of an hour is shorter
			return "every " + Interval(time.Duration(n[0])*time.Minute)
		case !strings.HasPrefix(minute, "*/"):
			return fmt.Sprintf("every hour at %d past", n[0])
		}
	}
	return ""
}

// When formats a point in time like [format.When], and names the day also if it is today.
func When(ms int64, now time.Time) string {
	text := format.When(ms, now)
	if format.Days(now, time.UnixMilli(ms).In(now.Location())) == 0 {
		return "today at " + text
	}
	return text
}

// Sentence describes a previewed schedule with its next runs: Every weekday at 09:00
// (Europe/Berlin). Next: tomorrow at 09:00, Monday at 09:00.
func Sentence(p protocol.CronPreviewResult, now time.Time) string {
	text := format.Capital(Text(p.Schedule, now))
	if p.Schedule.Kind == protocol.CronExpr && p.TimeZone != "" {
		text += " (" + p.TimeZone + ")"
	}
	next := NextText(p.NextRunsMs, p.TimeZone, now)
	if p.Schedule.Kind == protocol.CronAt && next != "" {
		return text + "."
	}
	return strings.TrimSuffix(text+". "+next, " ")
}

// NextText lists the next runs in the zone of now, and says so if the schedule's zone has another
// time; "" for none.
func NextText(runs []int64, zone string, now time.Time) string {
	if len(runs) == 0 {
		return "No further runs."
	}
	label := "Next: "
	if z, err := time.LoadLocation(zone); err == nil && zone != "" {
		first := time.UnixMilli(runs[0])
		if first.In(z).Format("15:04") != first.In(now.Location()).Format("15:04") {
			label = "Next, in your time zone: "
		}
	}
	var times []string
	for _, ms := range runs {
		times = append(times, When(ms, now))
	}
	return label + strings.Join(times, ", ") + "."
}
