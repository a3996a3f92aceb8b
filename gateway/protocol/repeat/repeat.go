// Package repeat maps schedules between the forms of the protocol and those that people use, such
// as every weekday at 09:00.
package repeat

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// LastDay is the Form.Day of the last day of every month.
const LastDay = 32

// Clock is a time of day in minutes since midnight.
type Clock int

// String returns the time of day as 09:00.
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", c/60, c%60) }

// Form is a repetition by the calendar: on Days of the week, on one Day of every month, or, without
// either, every day.
type Form struct {
	Days  []time.Weekday
	Day   int // 1 to 31, or LastDay; 0 means none
	Times []Clock
}

var errNoTimes = errors.New("enter a time such as 09:00")

// ParseTimes parses times of day that are separated by commas or "and": 9:00, 17:30.
func ParseTimes(text string) ([]Clock, error) {
	text = strings.ReplaceAll(strings.ToLower(text), " and ", ",")
	var times []Clock
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' }) {
		part = strings.ReplaceAll(strings.TrimSpace(part), ".", ":")
		if part == "" {
			continue
		}
		var at time.Time
		err := errNoTimes
		for _, layout := range []string{"15:04", "15", "3:04pm", "3:04 pm", "3pm", "3 pm"} {
			if at, err = time.Parse(layout, part); err == nil {
				break
			}
		}
		if err != nil {
			return nil, fmt.Errorf("“%s” is not a time. Enter a time such as 09:00", part)
		}
		times = append(times, Clock(at.Hour()*60+at.Minute()))
	}
	if len(times) == 0 {
		return nil, errNoTimes
	}
	slices.Sort(times)
	return slices.Compact(times), nil
}

// Expr returns the form as a cron expression. Times with different minutes need several
// expressions, separated by semicolons.
func (f Form) Expr() string {
	day, week := "*", "*"
	switch {
	case f.Day == LastDay:
		day = "L"
	case f.Day > 0:
		day = strconv.Itoa(f.Day)
	case len(f.Days) > 0:
		week = daysField(f.Days)
	}
	var exprs []string
	for _, hours := range groupTimes(f.Times) {
		exprs = append(exprs, fmt.Sprintf("%s %s %s * %s", hours.minutes, hours.hours, day, week))
	}
	return strings.Join(exprs, "; ")
}

func daysField(days []time.Weekday) string {
	days = slices.Sorted(slices.Values(days))
	if slices.Equal(days, Workdays) {
		return "1-5"
	}
	return list(slices.Compact(days), func(d time.Weekday) string { return strconv.Itoa(int(d)) })
}

func list[T any](all []T, text func(T) string) string {
	var parts []string
	for _, one := range all {
		parts = append(parts, text(one))
	}
	return strings.Join(parts, ",")
}

// timeGroup are times of day that the fields of one cron expression describe.
type timeGroup struct{ minutes, hours string }

// groupTimes groups times by their hours, and hours with the same minutes.
func groupTimes(times []Clock) (groups []timeGroup) {
	minutesOf := map[Clock][]Clock{}
	for _, t := range slices.Compact(slices.Sorted(slices.Values(times))) {
		minutesOf[t/60] = append(minutesOf[t/60], t%60)
	}
	number := func(c Clock) string { return strconv.Itoa(int(c)) }
	hoursOf := map[string][]Clock{}
	for hour := range Clock(24) {
		if minutes := list(minutesOf[hour], number); minutes != "" {
			hoursOf[minutes] = append(hoursOf[minutes], hour)
		}
	}
	for minutes, hours := range hoursOf {
		groups = append(groups, timeGroup{minutes, list(hours, number)})
	}
	slices.SortFunc(groups, func(a, b timeGroup) int {
		return cmp.Or(cmp.Compare(len(a.hours), len(b.hours)), cmp.Compare(a.hours, b.hours))
	})
	return groups
}

// maxTimes is the largest number of times of day in a form.
const maxTimes = 12

// Parse returns the form of a cron expression. ok is false if no form can express it.
func Parse(expr string) (f Form, ok bool) {
	for i, part := range strings.Split(expr, ";") {
		fields := strings.Fields(part)
		if len(fields) != 5 || fields[3] != "*" {
			return f, false
		}
		one := Form{}
		if !one.parseDays(fields[2], fields[4]) || i > 0 && (one.Day != f.Day || !slices.Equal(one.Days, f.Days)) {
			return f, false
		}
		f.Day, f.Days = one.Day, one.Days
		minutes, isMinutes := numbers(fields[0], 59)
		hours, isHours := numbers(fields[1], 23)
		if !isMinutes || !isHours || len(f.Times)+len(minutes)*len(hours) > maxTimes {
			return f, false
		}
		for _, hour := range hours {
			for _, minute := range minutes {
				f.Times = append(f.Times, Clock(hour*60+minute))
			}
		}
	}
	slices.Sort(f.Times)
	f.Times = slices.Compact(f.Times)
	return f, true
}

func (f *Form) parseDays(day, week string) bool {
	switch {
	case day == "*" && week == "*":
		return true
	case day == "L" && week == "*":
		f.Day = LastDay
		return true
	case week == "*":
		days, ok := numbers(day, 31)
		if !ok || len(days) != 1 || days[0] == 0 {
			return false
		}
		f.Day = days[0]
		return true
	case day != "*":
		return false
	}
	days, ok := numbers(week, 7)
	for _, d := range days {
		f.Days = append(f.Days, time.Weekday(d%7))
	}
	slices.Sort(f.Days)
	f.Days = slices.Compact(f.Days)
	if len(f.Days) == 7 {
		f.Days = nil
	}
	return ok
}

// numbers parses a list of numbers and ranges from 0 to most.
func numbers(field string, most int) (all []int, ok bool) {
	for part := range strings.SplitSeq(field, ",") {
		a, b, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(a)
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(b)
		}
		if err != nil || from < 0 || to > most || from > to {
			return nil, false
		}
		for n := from; n <= to; n++ {
			all = append(all, n)
		}
	}
	return all, true
}
