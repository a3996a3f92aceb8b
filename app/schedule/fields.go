package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/repeat"
)

// Ways to repeat a schedule, as in the form.
const (
	repeatDaily    = "daily"
	repeatWeekdays = "weekdays"
	repeatWeekly   = "weekly"  // on chosen days of the week
	repeatMonthly  = "monthly" // on one day of every month
	repeatEvery    = "every"   // every number of minutes, hours or days
	repeatOnce     = "once"
	repeatCron     = "cron"
)

// Fields of the form that an error may be about.
const (
	fieldName  = "name"
	fieldTimes = "times"
	fieldDays  = "days"
	fieldEvery = "every"
	fieldAt    = "at"
	fieldExpr  = "expr"
	fieldZone  = "zone"
	fieldText  = "text"
)

// fieldError is an error in one field of a form.
type fieldError struct {
	Field string
	Err   error
}

// Error implements error.
func (e *fieldError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *fieldError) Unwrap() error { return e.Err }

// fields has the fields of the form for a schedule, as they were typed.
type fields struct {
	ID     protocol.CronJobID // empty for a new one
	Name   string
	Repeat string
	Times  string // 09:00, 17:30
	Days   [7]bool
	Day    int    // of the month, or repeat.LastDay
	At     string // 18:30, tomorrow 9:00 or 2026-05-03 18:30, in the person's time zone
	Every  string // a number
	Unit   string // of Every, a name in repeat.Units
	Expr   string
	TZ     string
	Mode   string // task or systemEvent
	Text   string
	// Missed defines what happens with times at which the gateway was not running.
	Missed string
	Notify string
	Once   bool // delete a one-time schedule after its run

	original scheduleTime // of the schedule that is edited
	job      protocol.CronJob
}

// scheduleTime are the fields of a form that determine the time.
type scheduleTime struct {
	repeat, times, at, every, unit, expr, tz string
	days                                     [7]bool
	day                                      int
}

func (f fields) time() scheduleTime {
	return scheduleTime{f.Repeat, f.Times, f.At, f.Every, f.Unit, f.Expr, f.TZ, f.Days, f.Day}
}

// timeChanged reports whether the time was changed; otherwise it is retained to the second.
func (f fields) timeChanged() bool { return f.time() != f.original }

// newFields returns an empty form.
func newFields() fields {
	return fields{
		Repeat: repeatDaily, Times: "09:00", Days: [7]bool{time.Monday: true}, Day: 1, Every: "1", Unit: "hours",
		Mode: protocol.CronTask, Missed: protocol.MissedLatest, Notify: protocol.NotifyAlways,
	}
}

// fieldsOf returns the form of a schedule.
func fieldsOf(j protocol.CronJob) fields {
	f := newFields()
	f.ID, f.Name, f.Mode, f.Once, f.Notify = j.ID, j.Name, j.Spec.Mode, j.DeleteAfterRun, j.Notifies()
	f.Expr, f.TZ = j.Schedule.Expr, j.Schedule.TZ
	if j.Missed != "" {
		f.Missed = j.Missed
	}
	switch j.Schedule.Kind {
	case protocol.CronAt:
		f.Repeat = repeatOnce
	case protocol.CronEvery:
		f.Repeat = repeatEvery
	default:
		f.setCalendar(j.Schedule.Expr)
	}
	if j.Schedule.AtMs != nil {
		f.At = time.UnixMilli(*j.Schedule.AtMs).Format("2006-01-02 15:04")
	}
	if every := time.Duration(j.Schedule.EveryMs) * time.Millisecond; every > 0 {
		f.Every, f.Unit = splitInterval(every)
	}
	f.Text = j.Spec.Message
	if j.Spec.Mode == protocol.CronSystemEvent {
		f.Text = j.Spec.Text
	}
	f.original, f.job = f.time(), j
	return f
}

// setCalendar sets the fields of a cron expression, as a form of the calendar where there is one.
func (f *fields) setCalendar(expr string) {
	c, ok := repeat.Parse(expr)
	if !ok {
		f.Repeat = repeatCron
		return
	}
	f.Times = strings.Join(lists.Map(c.Times, repeat.Clock.String), ", ")
	switch {
	case c.Day > 0:
		f.Repeat, f.Day = repeatMonthly, c.Day
	case len(c.Days) == 0:
		f.Repeat = repeatDaily
	case slices.Equal(c.Days, repeat.Workdays):
		f.Repeat = repeatWeekdays
	default:
		f.Repeat, f.Days = repeatWeekly, [7]bool{}
		for _, d := range c.Days {
			f.Days[d] = true
		}
	}
}

// splitInterval returns an interval as a number in its longest whole unit.
func splitInterval(d time.Duration) (n, unit string) {
	for _, u := range repeat.Units {
		if d%u.Length == 0 {
			return strconv.FormatInt(int64(d/u.Length), 10), u.Name
		}
	}
	return strconv.FormatFloat(d.Seconds(), 'g', -1, 64), "seconds"
}

// Copy returns the form of a new schedule like this one.
func (f fields) Copy() fields {
	f.ID, f.Name, f.job, f.original = "", f.Name+" (copy)", protocol.CronJob{}, scheduleTime{}
	return f
}

// schedule parses the time. The gateway validates what this does not.
func (f fields) schedule(now time.Time) (s protocol.CronSchedule, err error) {
	switch f.Repeat {
	case repeatOnce:
		at, err := wording.ParseWhen(f.At, now)
		if err == nil && f.timeChanged() && !at.After(now) {
			err = fmt.Errorf("%s is in the past. Enter a future time", at.Format("2006-01-02 15:04"))
		}
		if err != nil {
			return s, &fieldError{fieldAt, err}
		}
		return protocol.CronSchedule{Kind: protocol.CronAt, AtMs: new(at.UnixMilli())}, nil
	case repeatEvery:
		n, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(f.Every), ",", ".", 1), 64)
		if err != nil || n <= 0 || n > 1e6 {
			return s, &fieldError{fieldEvery, fmt.Errorf("“%s” is not a number of %s", f.Every, f.Unit)}
		}
		length := time.Minute
		for _, u := range repeat.Units {
			if u.Name == f.Unit {
				length = u.Length
			}
		}
		return protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: int64(n * float64(length.Milliseconds())), AnchorMs: f.job.Schedule.AnchorMs}, nil
	case repeatCron:
		return protocol.CronSchedule{Kind: protocol.CronExpr, Expr: strings.TrimSpace(f.Expr), TZ: strings.TrimSpace(f.TZ)}, nil
	}
	expr, err := f.calendarExpr()
	return protocol.CronSchedule{Kind: protocol.CronExpr, Expr: expr, TZ: strings.TrimSpace(f.TZ)}, err
}

func (f fields) calendarExpr() (string, error) {
	var c repeat.Form
	var err error
	if c.Times, err = repeat.ParseTimes(f.Times); err != nil {
		return "", &fieldError{fieldTimes, err}
	}
	switch f.Repeat {
	case repeatWeekdays:
		c.Days = repeat.Workdays
	case repeatMonthly:
		c.Day = f.Day
	case repeatWeekly:
		for day, on := range f.Days {
			if on {
				c.Days = append(c.Days, time.Weekday(day))
			}
		}
		if len(c.Days) == 0 {
			return "", &fieldError{fieldDays, errors.New("choose at least one day")}
		}
		if len(c.Days) == 7 {
			c.Days = nil
		}
	}
	return c.Expr(), nil
}

// parse parses the form. Its errors are of type [fieldError].
func (f fields) parse(now time.Time) (s protocol.CronSchedule, m protocol.CronMode, err error) {
	if strings.TrimSpace(f.Name) == "" {
		return s, m, &fieldError{fieldName, errors.New("enter a name")}
	}
	if s, err = f.schedule(now); err != nil {
		return s, m, err
	}
	if strings.TrimSpace(f.Text) == "" {
		return s, m, &fieldError{fieldText, errors.New("enter what the agent should do")}
	}
	m.Mode = f.Mode
	if f.Mode == protocol.CronSystemEvent {
		m.Text = f.Text
	} else {
		m.Message = f.Text
	}
	return s, m, nil
}
