package state

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// ScheduleForm has the fields of the form for a schedule, as they were typed.
type ScheduleForm struct {
	ID    protocol.CronJobID // empty for a new one
	Name  string
	Kind  string // at, every or cron
	At    string // 18:30, tomorrow 9:00 or 2026-05-03 18:30, in the person's time zone
	Every string // a number
	Unit  string // unit of Every: minutes, hours or days
	Expr  string
	TZ    string
	Mode  string // task or systemEvent
	Text  string
	// Missed defines what happens with times at which the gateway was not running.
	Missed string
	Once   bool // delete an at schedule after its run

	originalTime [6]string // the schedule's original time fields
	job          protocol.CronJob
}

func (f ScheduleForm) timeFields() [6]string {
	return [6]string{f.Kind, f.At, f.Every, f.Unit, f.Expr, f.TZ}
}

// timeChanged reports whether the time was changed; otherwise it is retained to the second.
func (f ScheduleForm) timeChanged() bool { return f.timeFields() != f.originalTime }

// units are the units of intervals, from the shortest.
var units = []string{"minutes", "hours", "days"}

var unitLength = map[string]time.Duration{"minutes": time.Minute, "hours": time.Hour, "days": 24 * time.Hour}

// NewScheduleForm returns an empty form.
func NewScheduleForm() ScheduleForm {
	return ScheduleForm{Kind: protocol.CronEvery, Every: "1", Unit: "hours", Mode: protocol.CronTask, Missed: protocol.MissedLatest, Once: true}
}

// FormOf returns the form of a schedule.
func FormOf(j protocol.CronJob) ScheduleForm {
	f := NewScheduleForm()
	f.ID, f.Name, f.Kind, f.Mode, f.Once = j.ID, j.Name, j.Schedule.Kind, j.Spec.Mode, j.DeleteAfterRun
	f.Expr, f.TZ = j.Schedule.Expr, j.Schedule.TZ
	if j.Missed != "" {
		f.Missed = j.Missed
	}
	if j.Schedule.AtMs != nil {
		f.At = time.UnixMilli(*j.Schedule.AtMs).Format("2006-01-02 15:04")
	}
	if every := time.Duration(j.Schedule.EveryMs) * time.Millisecond; every > 0 {
		f.Unit = "minutes"
		for _, u := range units {
			if every%unitLength[u] == 0 {
				f.Unit = u
			}
		}
		f.Every = strconv.FormatFloat(float64(every)/float64(unitLength[f.Unit]), 'g', -1, 64)
	}
	f.Text = j.Spec.Message
	if j.Spec.Mode == protocol.CronSystemEvent {
		f.Text = j.Spec.Text
	}
	f.originalTime, f.job = f.timeFields(), j
	return f
}

// IsFinished reports whether a one-time schedule has run: it is not paused, and cannot be resumed.
func IsFinished(j protocol.CronJob, now time.Time) bool {
	return j.Schedule.AtMs != nil && !j.Enabled && j.State.LastStatus != "" && *j.Schedule.AtMs <= now.UnixMilli()
}

// parts parses the form. Of its values it validates only times; the gateway validates the rest.
func (f ScheduleForm) parts(now time.Time) (s protocol.CronSchedule, m protocol.CronMode, err error) {
	s.Kind, m.Mode = f.Kind, f.Mode
	switch f.Kind {
	case protocol.CronAt:
		at, err := ParseWhen(f.At, now)
		if err != nil {
			return s, m, err
		}
		if f.timeChanged() && !at.After(now) {
			return s, m, fmt.Errorf("%s is in the past. Enter a future time", at.Format("2006-01-02 15:04"))
		}
		ms := at.UnixMilli()
		s.AtMs = &ms
	case protocol.CronEvery:
		n, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(f.Every), ",", ".", 1), 64)
		if err != nil || n <= 0 || n > 1e6 {
			return s, m, fmt.Errorf("%q is not a number of %s", f.Every, f.Unit)
		}
		s.EveryMs, s.AnchorMs = int64(n*float64(unitLength[f.Unit].Milliseconds())), f.job.Schedule.AnchorMs
	default:
		s.Expr, s.TZ = strings.TrimSpace(f.Expr), strings.TrimSpace(f.TZ)
	}
	if f.Mode == protocol.CronSystemEvent {
		m.Text = f.Text
	} else {
		m.Message = f.Text
	}
	return s, m, nil
}

// ParseWhen parses a point in time: 18:30, tomorrow 9:00, today 18:30, 2026-05-03 18:30. A time
// without a day is the next such time. A time that a clock change skips is an error.
func ParseWhen(text string, now time.Time) (time.Time, error) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	day, clock, named := now, text, false
	for word, add := range map[string]int{"today": 0, "tomorrow": 1} {
		if rest, ok := strings.CutPrefix(text, word); ok {
			day, clock, named = now.AddDate(0, 0, add), strings.TrimPrefix(strings.TrimSpace(rest), "at "), true
		}
	}
	if t, err := time.Parse("15:04", clock); err == nil {
		at, err := clockTime(day, t, now.Location())
		if !named && err == nil && !at.After(now) {
			return clockTime(day.AddDate(0, 0, 1), t, now.Location())
		}
		return at, err
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02t15:04", "2.1.2006 15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return clockTime(t, t, now.Location())
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time. Enter 18:30, tomorrow 9:00 or %s 18:30", text, now.Format("2006-01-02"))
}

// clockTime returns the time at which a clock in zone shows this time on this day.
func clockTime(day, clock time.Time, zone *time.Location) (time.Time, error) {
	at := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), 0, 0, zone)
	if at.Hour() != clock.Hour() || at.Minute() != clock.Minute() {
		return at, fmt.Errorf("%s does not exist on %s: the clocks go forward then", clock.Format("15:04"), day.Format("2 January 2006"))
	}
	return at, nil
}
