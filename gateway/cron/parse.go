package cron

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/cron/when"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/repeat"
)

// dayNames are the days of the week that the words of a schedule mean.
var dayNames = map[string][]time.Weekday{
	"day": nil, "daily": nil, "weekday": repeat.Workdays, "workday": repeat.Workdays, "weekend": {time.Saturday, time.Sunday},
	"sunday": {time.Sunday}, "monday": {time.Monday}, "tuesday": {time.Tuesday}, "wednesday": {time.Wednesday}, "thursday": {time.Thursday},
	"friday": {time.Friday}, "saturday": {time.Saturday},
}

var (
	dayName   = `(?:` + strings.Join(slices.Sorted(maps.Keys(dayNames)), "|") + `)s?`
	dailyForm = regexp.MustCompile(`^(?:every +|on +)?(` + dayName + `(?:(?: *, *| +and +)+` + dayName + `)*)(?: +at)? +(.+)$`)
	dayWord   = regexp.MustCompile(dayName)
)

// parseSchedule parses the schedule argument of gsv__Cron: an object in a form of the protocol or
// with the spellings that GSV accepts, or a text such as "in 20 minutes", "every monday at 9:00" or
// "0 9 * * 1-5".
func parseSchedule(raw json.RawMessage, now time.Time, person *time.Location) (protocol.CronSchedule, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return scheduleOfText(text, now, person)
	}
	var f fields
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return protocol.CronSchedule{}, errors.New("schedule must be an object with kind at, every or cron")
	}
	kind, _ := f.text("kind")
	tz, _ := f.text("tz")
	zone, err := zoneOf(tz, person)
	if err != nil {
		return protocol.CronSchedule{}, err
	}
	hasLength := f.has("every") || slices.ContainsFunc(everyFields, func(e unitField) bool { return f.has(e.name) })
	is := func(wanted string, given bool) bool { return strings.EqualFold(kind, wanted) || kind == "" && given }
	switch {
	case is(protocol.CronExpr, f.has("expr")):
		expr, _ := f.text("expr")
		return checkSchedule(protocol.CronSchedule{Kind: protocol.CronExpr, Expr: expr, TZ: cmp.Or(tz, person.String())}, person)
	case is(protocol.CronEvery, hasLength):
		return f.every(now, zone)
	case is(protocol.CronAt, true):
		return f.at(now, zone)
	}
	return checkSchedule(protocol.CronSchedule{Kind: kind}, person)
}

// resolveSchedule converts the text forms in a schedule of cron.add or cron.update to milliseconds.
func (s *Scheduler) resolveSchedule(in protocol.CronSchedule) (protocol.CronSchedule, error) {
	if in.Kind == "" || in.CronWritten == (protocol.CronWritten{}) {
		return in, nil
	}
	raw, err := protocol.Marshal(in)
	if err != nil {
		return in, err
	}
	return parseSchedule(raw, time.Now(), s.o.zone())
}

func scheduleOfText(text string, now time.Time, person *time.Location) (protocol.CronSchedule, error) {
	low := strings.ToLower(strings.Join(strings.Fields(text), " "))
	if m := dailyForm.FindStringSubmatch(low); m != nil {
		if times, err := repeat.ParseTimes(m[2]); err == nil {
			form := repeat.Form{Times: times}
			for _, word := range dayWord.FindAllString(m[1], -1) {
				form.Days = append(form.Days, dayNames[strings.TrimSuffix(word, "s")]...)
			}
			return checkSchedule(protocol.CronSchedule{Kind: protocol.CronExpr, Expr: form.Expr(), TZ: person.String()}, person)
		}
	}
	if length, ok := strings.CutPrefix(low, "every "); ok {
		return intervalOf(length, now, nil, person)
	}
	t, err := ParseTime(text, now, person)
	if err == nil {
		return at(t), nil
	}
	first, _, _ := strings.Cut(low, ";")
	if len(strings.Fields(first)) == len(exprFields) && strings.ContainsAny(low[:1], "*0123456789") {
		return checkSchedule(protocol.CronSchedule{Kind: protocol.CronExpr, Expr: low, TZ: person.String()}, person)
	}
	return protocol.CronSchedule{}, fmt.Errorf(`%w; a repetition as "every 2 hours", "every weekday at 9:00" or "*/5 * * * *"`, err)
}

// intervalOf parses a text such as "5 minutes", "hour" or "other day" into a schedule.
func intervalOf(text string, now time.Time, anchor *int64, person *time.Location) (protocol.CronSchedule, error) {
	text = strings.TrimPrefix(strings.TrimSpace(strings.ToLower(text)), "every ")
	if other, ok := strings.CutPrefix(text, "other "); ok {
		text = "2 " + other
	}
	if text != "" && (text[0] < '0' || text[0] > '9') {
		text = "1 " + text
	}
	d, err := when.Parse(text)
	if err != nil {
		return protocol.CronSchedule{}, err
	}
	return interval(d, now, anchor, person)
}

func interval(d time.Duration, now time.Time, anchor *int64, person *time.Location) (protocol.CronSchedule, error) {
	if anchor == nil {
		ms := now.UnixMilli()
		anchor = &ms
	}
	return checkSchedule(protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: d.Milliseconds(), AnchorMs: anchor}, person)
}

func at(t time.Time) protocol.CronSchedule {
	ms := t.UnixMilli()
	return protocol.CronSchedule{Kind: protocol.CronAt, AtMs: &ms}
}

// fields are the unparsed fields of a schedule object.
type fields map[string]json.RawMessage

type unitField struct {
	name string
	unit time.Duration
}

func (f fields) has(name string) bool { return len(f[name]) > 0 && string(f[name]) != "null" }

func (f fields) text(name string) (string, bool) {
	var s string
	return s, f.has(name) && json.Unmarshal(f[name], &s) == nil
}

func (f fields) number(name string) (float64, bool) {
	var n float64
	if !f.has(name) {
		return 0, false
	}
	if json.Unmarshal(f[name], &n) == nil {
		return n, true
	}
	if s, ok := f.text(name); ok {
		n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
	}
	return 0, false
}

// span adds up the given fields, and returns the names of those that are not zero.
func (f fields) span(from []unitField) (d time.Duration, any bool, names []string, err error) {
	var sum float64
	for _, s := range from {
		if !f.has(s.name) {
			continue
		}
		n, ok := f.number(s.name)
		if !ok {
			return 0, true, nil, fmt.Errorf("schedule.%s must be a number", s.name)
		}
		if n != 0 {
			names = append(names, s.name)
		}
		sum, any = sum+n*float64(s.unit), true
	}
	if any && (sum < 0 || sum > float64(maxAhead)) {
		return 0, true, nil, errors.New("the interval of the schedule is too long or negative")
	}
	return time.Duration(sum).Truncate(time.Millisecond), any, names, nil
}

// moment parses the first of the named fields that is present.
func (f fields) moment(now time.Time, person *time.Location, names ...string) (ms int64, any bool, err error) {
	for _, name := range names {
		if !f.has(name) {
			continue
		}
		if s, ok := f.text(name); ok {
			t, err := ParseTime(s, now, person)
			return t.UnixMilli(), true, err
		}
		n, ok := f.number(name)
		if !ok || n < 0 || n > maxTime {
			return 0, true, fmt.Errorf("schedule.%s must be a time", name)
		}
		if n >= 1e9 && n < 1e10 && name != "atMs" && name != "anchorMs" { // ten digits are seconds
			n *= 1000
		}
		return int64(n), true, nil
	}
	return 0, false, nil
}

func (f fields) at(now time.Time, person *time.Location) (protocol.CronSchedule, error) {
	if in, ok := f.text("in"); ok {
		d, err := when.Parse(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(in)), "in "))
		return at(now.Add(d)), err
	}
	if d, any, _, err := f.span(inFields); any {
		return at(now.Add(d)), err
	}
	ms, any, err := f.moment(now, person, "atMs", "at", "when", "atIso")
	if !any {
		err = errors.New(`schedule of kind at needs "at", such as "tomorrow 09:00", or "in", such as "20 minutes"`)
	}
	return at(time.UnixMilli(ms)), err
}

func (f fields) every(now time.Time, person *time.Location) (protocol.CronSchedule, error) {
	var anchor *int64
	ms, any, err := f.moment(now, person, "anchorMs", "anchor", "anchorAt", "startAt")
	if err != nil {
		return protocol.CronSchedule{}, err
	}
	if any {
		anchor = &ms
	}
	d, any, names, err := f.span(everyFields)
	switch {
	case err != nil:
		return protocol.CronSchedule{}, err
	case len(names) > 1: // some models write one length in two units, others mean the sum
		return protocol.CronSchedule{}, fmt.Errorf("schedule has both %s and %s: give one of them", names[0], names[1])
	case any:
		return interval(d, now, anchor, person)
	}
	if text, ok := f.text("every"); ok {
		if dailyForm.MatchString(strings.ToLower(text)) && anchor == nil {
			return scheduleOfText(text, now, person)
		}
		return intervalOf(text, now, anchor, person)
	}
	return protocol.CronSchedule{}, errors.New("schedule of kind every needs everyMinutes, everyHours or everyDays")
}

var (
	inFields    = append(unitFields("in"), unitField{"delayMs", time.Millisecond})
	everyFields = unitFields("every")
)

func unitFields(prefix string) []unitField {
	return []unitField{
		{prefix + "Ms", time.Millisecond},
		{prefix + "Seconds", time.Second},
		{prefix + "Minutes", time.Minute},
		{prefix + "Hours", time.Hour},
		{prefix + "Days", 24 * time.Hour},
	}
}
