package state

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// SchedulesView is the state of the page of schedules.
type SchedulesView struct {
	Loaded    bool
	Problem   string // reason why loading failed
	Jobs      []protocol.CronJob
	Status    protocol.CronStatus
	Heartbeat protocol.HeartbeatState // of the main agent
	// Every is the heartbeat's interval from the configuration; "0m" is never.
	Every string
	// Shown is the schedule with a loaded history: the latest Runs out of RunsInAll.
	Shown     protocol.CronJobID
	Runs      []protocol.CronRun
	RunsInAll int

	deleted map[protocol.CronJobID]bool // schedules that the person deleted and can still restore
}

// Job finds a schedule.
func (v SchedulesView) Job(id protocol.CronJobID) (protocol.CronJob, bool) {
	return find(v.Jobs, func(j protocol.CronJob) bool { return j.ID == id })
}

func (v SchedulesView) withoutDeleted() SchedulesView {
	v.Jobs = without(v.Jobs, func(j protocol.CronJob) bool { return v.deleted[j.ID] })
	return v
}

// Schedules is the view model of the page of schedules. Its methods are safe for concurrent use.
type Schedules struct{ loader[SchedulesView] }

// schedulesInterval is the polling interval: the feed does not report schedules.
const schedulesInterval = 4 * time.Second

// NewSchedules returns an empty view model; Follow loads it.
func NewSchedules(a *App) *Schedules {
	s := &Schedules{}
	s.loader = loader[SchedulesView]{
		Value: NewValue(SchedulesView{}), app: a, problem: func(v *SchedulesView) *string { return &v.Problem },
		key: func(View) string { return "" }, interval: schedulesInterval,
		fetch: func(ctx context.Context) (func(*SchedulesView), error) {
			next, err := s.read(ctx, s.Value.Get().Shown)
			return func(v *SchedulesView) {
				if v.Shown != next.Shown {
					next.Shown, next.Runs, next.RunsInAll = v.Shown, v.Runs, v.RunsInAll
				}
				next.deleted = v.deleted
				*v = next.withoutDeleted()
			}, err
		},
	}
	return s
}

func (s *Schedules) read(ctx context.Context, shown protocol.CronJobID) (v SchedulesView, err error) {
	v.Loaded, v.Shown = true, shown
	if v.Jobs, err = s.jobs(ctx); err != nil {
		return v, err
	}
	if v.Status, err = Call(ctx, s.app, protocol.CronStatusGet, protocol.CronStatusParams{}); err != nil {
		return v, err
	}
	heartbeat, err := Call(ctx, s.app, protocol.HeartbeatStatus, protocol.Empty{})
	if err != nil {
		return v, err
	}
	v.Heartbeat = heartbeat.Agents["main"]
	v.Every, _ = ConfigAt[string](ctx, s.app, "agents.defaultHeartbeat.every") // unknown without the right to read it
	if shown != "" {
		runs, err := Call(ctx, s.app, protocol.CronRuns, protocol.CronRunsParams{JobID: shown, Limit: new(100)})
		if err != nil {
			return v, err
		}
		v.Runs, v.RunsInAll = runs.Runs, runs.Count
	}
	return v, nil
}

func (s *Schedules) jobs(ctx context.Context) ([]protocol.CronJob, error) {
	var all []protocol.CronJob
	for {
		r, err := Call(ctx, s.app, protocol.CronList, protocol.CronListParams{Limit: new(500), Offset: len(all)})
		if err != nil {
			return nil, err
		}
		all = append(all, r.Jobs...)
		if len(r.Jobs) == 0 || len(all) >= r.Count {
			return all, nil
		}
	}
}

// Show includes the history of a schedule in the next Load; empty means none.
func (s *Schedules) Show(id protocol.CronJobID) {
	s.Value.Update(func(v *SchedulesView) {
		if v.Shown != id {
			v.Shown, v.Runs, v.RunsInAll = id, nil, 0
		}
	})
	s.Reload()
}

// Save creates or changes a schedule. It blocks. Errors of the gateway stay unchanged.
func (s *Schedules) Save(ctx context.Context, f ScheduleForm, now time.Time) (protocol.CronJob, error) {
	sched, mode, err := f.parts(now)
	if err != nil {
		return protocol.CronJob{}, err
	}
	var r protocol.CronJobResult
	once := f.Once && f.Kind == protocol.CronAt
	if f.ID == "" {
		r, err = Call(ctx, s.app, protocol.CronAdd, protocol.CronAddParams{Name: f.Name, Schedule: &sched, Spec: &mode, Missed: f.Missed, DeleteAfterRun: once})
	} else {
		patch := protocol.CronModePatch{Mode: mode.Mode, Message: &mode.Message}
		if mode.Mode == protocol.CronSystemEvent {
			patch.Message, patch.Text = nil, &mode.Text
		}
		job := protocol.CronJobPatch{Name: &f.Name, Spec: &patch, Missed: &f.Missed, DeleteAfterRun: &once}
		if f.timeChanged() {
			job.Schedule = &sched
			if IsFinished(f.job, now) {
				job.Enabled = new(true)
			}
		}
		r, err = Call(ctx, s.app, protocol.CronUpdate, protocol.CronUpdateParams{ID: f.ID, Patch: &job})
	}
	if err == nil {
		s.Reload()
	}
	return r.Job, err
}

// Enable pauses or resumes a schedule.
func (s *Schedules) Enable(id protocol.CronJobID, on bool) { s.do(s.enable(id, on)) }

func (s *Schedules) enable(id protocol.CronJobID, on bool) func(context.Context) error {
	return func(ctx context.Context) error {
		return send(ctx, s.app, protocol.CronUpdate, protocol.CronUpdateParams{ID: id, Patch: &protocol.CronJobPatch{Enabled: &on}})
	}
}

// Run starts a schedule now, even if it is not due.
func (s *Schedules) Run(id protocol.CronJobID) {
	s.do(func(ctx context.Context) error {
		r, err := Call(ctx, s.app, protocol.CronRunNow, protocol.CronRunParams{ID: id, Mode: protocol.CronRunForce, Wait: new(false)})
		if err == nil && len(r.Results) > 0 && r.Results[0].Status != protocol.CronRunning && r.Results[0].Error != "" {
			return fmt.Errorf("it did not start: %s", r.Results[0].Error)
		}
		return err
	})
}

// RunHeartbeat triggers a heartbeat now.
func (s *Schedules) RunHeartbeat() {
	s.do(func(ctx context.Context) error {
		r, err := Call(ctx, s.app, protocol.HeartbeatTrigger, protocol.HeartbeatTriggerParams{})
		if err == nil {
			s.app.Notify("info", display.Capital(r.Message))
		}
		return err
	})
}

// SetHeartbeat sets the heartbeat's interval, such as 30m, or 0m for never.
func (s *Schedules) SetHeartbeat(every string) {
	s.do(func(ctx context.Context) error { return s.app.Set(ctx, "agents.defaultHeartbeat.every", every) })
}

// Delete deletes a schedule with its history after UndoTime, as in [App.deleteLater]. Until then it is
// paused. If the program exits earlier, it stays, paused.
func (s *Schedules) Delete(j protocol.CronJob) (undo func()) {
	pause, resume := s.enable(j.ID, false), s.enable(j.ID, true)
	if !j.Enabled {
		pause, resume = doNothing, doNothing
	}
	hide := func(on bool) {
		s.Value.Update(func(v *SchedulesView) {
			v.deleted = mapWith(v.deleted, true, on, j.ID)
			*v = v.withoutDeleted()
		})
		if !on {
			s.Reload()
		}
	}
	return s.app.deleteLater(hide, pause, func(ctx context.Context) error {
		return send(ctx, s.app, protocol.CronRemove, protocol.CronJobParams{ID: j.ID})
	}, resume)
}

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
		s.AtMs = new(at.UnixMilli())
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
