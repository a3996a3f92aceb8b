package state

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
	RepeatDaily    = "daily"
	RepeatWeekdays = "weekdays"
	RepeatWeekly   = "weekly"  // on chosen days of the week
	RepeatMonthly  = "monthly" // on one day of every month
	RepeatEvery    = "every"   // every number of minutes, hours or days
	RepeatOnce     = "once"
	RepeatCron     = "cron"
)

// Fields of the form that an error may be about.
const (
	FieldName  = "name"
	FieldTimes = "times"
	FieldDays  = "days"
	FieldEvery = "every"
	FieldAt    = "at"
	FieldExpr  = "expr"
	FieldZone  = "zone"
	FieldText  = "text"
)

// FieldError is an error in one field of a form.
type FieldError struct {
	Field string
	Err   error
}

// Error implements error.
func (e *FieldError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }

// ScheduleForm has the fields of the form for a schedule, as they were typed.
type ScheduleForm struct {
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

func (f ScheduleForm) time() scheduleTime {
	return scheduleTime{f.Repeat, f.Times, f.At, f.Every, f.Unit, f.Expr, f.TZ, f.Days, f.Day}
}

// timeChanged reports whether the time was changed; otherwise it is retained to the second.
func (f ScheduleForm) timeChanged() bool { return f.time() != f.original }

// NewScheduleForm returns an empty form.
func NewScheduleForm() ScheduleForm {
	return ScheduleForm{
		Repeat: RepeatDaily, Times: "09:00", Days: [7]bool{time.Monday: true}, Day: 1, Every: "1", Unit: "hours",
		Mode: protocol.CronTask, Missed: protocol.MissedLatest, Notify: protocol.NotifyAlways,
	}
}

// FormOf returns the form of a schedule.
func FormOf(j protocol.CronJob) ScheduleForm {
	f := NewScheduleForm()
	f.ID, f.Name, f.Mode, f.Once, f.Notify = j.ID, j.Name, j.Spec.Mode, j.DeleteAfterRun, j.Notifies()
	f.Expr, f.TZ = j.Schedule.Expr, j.Schedule.TZ
	if j.Missed != "" {
		f.Missed = j.Missed
	}
	switch j.Schedule.Kind {
	case protocol.CronAt:
		f.Repeat = RepeatOnce
	case protocol.CronEvery:
		f.Repeat = RepeatEvery
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
func (f *ScheduleForm) setCalendar(expr string) {
	c, ok := repeat.Parse(expr)
	if !ok {
		f.Repeat = RepeatCron
		return
	}
	f.Times = strings.Join(lists.Map(c.Times, repeat.Clock.String), ", ")
	switch {
	case c.Day > 0:
		f.Repeat, f.Day = RepeatMonthly, c.Day
	case len(c.Days) == 0:
		f.Repeat = RepeatDaily
	case slices.Equal(c.Days, repeat.Workdays):
		f.Repeat = RepeatWeekdays
	default:
		f.Repeat, f.Days = RepeatWeekly, [7]bool{}
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
func (f ScheduleForm) Copy() ScheduleForm {
	f.ID, f.Name, f.job, f.original = "", f.Name+" (copy)", protocol.CronJob{}, scheduleTime{}
	return f
}

// schedule parses the time. The gateway validates what this does not.
func (f ScheduleForm) schedule(now time.Time) (s protocol.CronSchedule, err error) {
	switch f.Repeat {
	case RepeatOnce:
		at, err := wording.ParseWhen(f.At, now)
		if err == nil && f.timeChanged() && !at.After(now) {
			err = fmt.Errorf("%s is in the past. Enter a future time", at.Format("2006-01-02 15:04"))
		}
		if err != nil {
			return s, &FieldError{FieldAt, err}
		}
		return protocol.CronSchedule{Kind: protocol.CronAt, AtMs: new(at.UnixMilli())}, nil
	case RepeatEvery:
		n, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(f.Every), ",", ".", 1), 64)
		if err != nil || n <= 0 || n > 1e6 {
			return s, &FieldError{FieldEvery, fmt.Errorf("“%s” is not a number of %s", f.Every, f.Unit)}
		}
		length := time.Minute
		for _, u := range repeat.Units {
			if u.Name == f.Unit {
				length = u.Length
			}
		}
		return protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: int64(n * float64(length.Milliseconds())), AnchorMs: f.job.Schedule.AnchorMs}, nil
	case RepeatCron:
		return protocol.CronSchedule{Kind: protocol.CronExpr, Expr: strings.TrimSpace(f.Expr), TZ: strings.TrimSpace(f.TZ)}, nil
	}
	expr, err := f.calendarExpr()
	return protocol.CronSchedule{Kind: protocol.CronExpr, Expr: expr, TZ: strings.TrimSpace(f.TZ)}, err
}

func (f ScheduleForm) calendarExpr() (string, error) {
	var c repeat.Form
	var err error
	if c.Times, err = repeat.ParseTimes(f.Times); err != nil {
		return "", &FieldError{FieldTimes, err}
	}
	switch f.Repeat {
	case RepeatWeekdays:
		c.Days = repeat.Workdays
	case RepeatMonthly:
		c.Day = f.Day
	case RepeatWeekly:
		for day, on := range f.Days {
			if on {
				c.Days = append(c.Days, time.Weekday(day))
			}
		}
		if len(c.Days) == 0 {
			return "", &FieldError{FieldDays, errors.New("choose at least one day")}
		}
		if len(c.Days) == 7 {
			c.Days = nil
		}
	}
	return c.Expr(), nil
}

// parse parses the form. Its errors are of type [FieldError].
func (f ScheduleForm) parse(now time.Time) (s protocol.CronSchedule, m protocol.CronMode, err error) {
	if strings.TrimSpace(f.Name) == "" {
		return s, m, &FieldError{FieldName, errors.New("enter a name")}
	}
	if s, err = f.schedule(now); err != nil {
		return s, m, err
	}
	if strings.TrimSpace(f.Text) == "" {
		return s, m, &FieldError{FieldText, errors.New("enter what the agent should do")}
	}
	m.Mode = f.Mode
	if f.Mode == protocol.CronSystemEvent {
		m.Text = f.Text
	} else {
		m.Message = f.Text
	}
	return s, m, nil
}
