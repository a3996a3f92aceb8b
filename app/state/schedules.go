package state

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

// UndoTime is how long a deletion can be undone.
const UndoTime = 10 * time.Second

// SchedulesView is the state of the page of schedules.
type SchedulesView struct {
	Loaded    bool
	Problem   string // reason why loading failed
	Jobs      []protocol.CronJob
	Status    protocol.CronStatus
	Heartbeat protocol.HeartbeatState // of the main agent
	// Every is the heartbeat's interval from the configuration; "0m" is never.
	Every string
	// Shown is the schedule whose history is loaded. Runs is that history, newest first; RunsInAll
	// is the number of all its runs.
	Shown     protocol.CronJobID
	Runs      []protocol.CronRun
	RunsInAll int
}

// Job finds a schedule.
func (v SchedulesView) Job(id protocol.CronJobID) (protocol.CronJob, bool) {
	for _, j := range v.Jobs {
		if j.ID == id {
			return j, true
		}
	}
	return protocol.CronJob{}, false
}

// Schedules is the view model of the page of schedules. Its methods are safe for concurrent use.
type Schedules struct {
	Value   *Value[SchedulesView]
	app     *App
	deleted *Value[map[protocol.CronJobID]bool] // deleted in this window, can still be undone
}

// NewSchedules returns an empty view model; Follow loads it.
func NewSchedules(a *App) *Schedules {
	return &Schedules{Value: NewValue(SchedulesView{}), app: a, deleted: NewValue(map[protocol.CronJobID]bool{})}
}

// schedulesPace is the polling interval while the page is open: the feed does not report schedules.
const schedulesPace = 4 * time.Second

// Follow keeps the view up to date until ctx ends. It blocks.
func (s *Schedules) Follow(ctx context.Context) {
	tick := time.NewTicker(schedulesPace)
	defer tick.Stop()
	for {
		s.Load(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Load loads the schedules once. It blocks.
func (s *Schedules) Load(ctx context.Context) {
	list, err := s.jobs(ctx)
	if err != nil {
		s.problem(ctx, err)
		return
	}
	status, err := Call(ctx, s.app, protocol.CronStatusGet, protocol.CronStatusParams{})
	if err != nil {
		s.problem(ctx, err)
		return
	}
	heartbeat, err := Call(ctx, s.app, protocol.HeartbeatStatus, protocol.Empty{})
	if err != nil {
		s.problem(ctx, err)
		return
	}
	every, err := configAt[string](ctx, s.app, "agents.defaultHeartbeat.every")
	if err != nil {
		every = ""
	}
	shown := s.Value.Get().Shown
	var runs protocol.CronRunsResult
	if shown != "" {
		limit := 100
		if runs, err = Call(ctx, s.app, protocol.CronRuns, protocol.CronRunsParams{JobID: shown, Limit: &limit}); err != nil {
			s.problem(ctx, err)
			return
		}
	}
	gone := s.deleted.Get()
	list = slices.DeleteFunc(list, func(j protocol.CronJob) bool { return gone[j.ID] })
	s.Value.Update(func(v SchedulesView) SchedulesView {
		v.Loaded, v.Problem, v.Jobs, v.Status, v.Heartbeat, v.Every = true, "", list, status, heartbeat.Agents["main"], every
		if v.Shown == shown {
			v.Runs, v.RunsInAll = runs.Runs, runs.Count
		}
		return v
	})
}

// jobs loads all schedules, page by page.
func (s *Schedules) jobs(ctx context.Context) ([]protocol.CronJob, error) {
	var all []protocol.CronJob
	for limit := 500; ; {
		r, err := Call(ctx, s.app, protocol.CronList, protocol.CronListParams{Limit: &limit, Offset: len(all)})
		if err != nil {
			return nil, err
		}
		all = append(all, r.Jobs...)
		if len(r.Jobs) == 0 || len(all) >= r.Count {
			return all, nil
		}
	}
}

func (s *Schedules) problem(ctx context.Context, err error) {
	if ctx.Err() == nil {
		s.Value.Update(func(v SchedulesView) SchedulesView { v.Problem = sentence(err); return v })
	}
}

// Show includes the history of a schedule in the next Load; empty means none.
func (s *Schedules) Show(id protocol.CronJobID) {
	s.Value.Update(func(v SchedulesView) SchedulesView {
		if v.Shown != id {
			v.Shown, v.Runs, v.RunsInAll = id, nil, 0
		}
		return v
	})
	s.reload()
}

func (s *Schedules) reload() { s.app.start(s.Load) }

// Save creates a schedule, or changes the one of the form. It blocks. Errors of the gateway are
// returned unchanged.
func (s *Schedules) Save(ctx context.Context, f ScheduleForm, now time.Time) (protocol.CronJob, error) {
	sched, mode, err := f.parts(now)
	if err != nil {
		return protocol.CronJob{}, err
	}
	var r protocol.CronJobResult
	if f.ID == "" {
		r, err = Call(ctx, s.app, protocol.CronAdd, protocol.CronAddParams{Name: f.Name, Schedule: &sched, Spec: &mode, Missed: f.Missed, DeleteAfterRun: f.Once && f.Kind == protocol.CronAt})
	} else {
		once := f.Once && f.Kind == protocol.CronAt
		patch := protocol.CronModePatch{Mode: mode.Mode}
		if mode.Mode == protocol.CronTask {
			patch.Message = &mode.Message
		} else {
			patch.Text = &mode.Text
		}
		job := protocol.CronJobPatch{Name: &f.Name, Spec: &patch, Missed: &f.Missed, DeleteAfterRun: &once}
		if f.timeChanged() {
			job.Schedule = &sched
			if again := true; IsFinished(f.job, now) {
				job.Enabled = &again
			}
		}
		r, err = Call(ctx, s.app, protocol.CronUpdate, protocol.CronUpdateParams{ID: f.ID, Patch: &job})
	}
	if err == nil {
		s.reload()
	}
	return r.Job, err
}

// Enable pauses or resumes a schedule.
func (s *Schedules) Enable(id protocol.CronJobID, on bool) {
	s.do(func(ctx context.Context) error {
		_, err := Call(ctx, s.app, protocol.CronUpdate, protocol.CronUpdateParams{ID: id, Patch: &protocol.CronJobPatch{Enabled: &on}})
		return err
	})
}

// Run starts a schedule now, even if it is not due.
func (s *Schedules) Run(id protocol.CronJobID) {
	s.do(func(ctx context.Context) error {
		wait := false
		r, err := Call(ctx, s.app, protocol.CronRunNow, protocol.CronRunParams{ID: id, Mode: protocol.CronRunForce, Wait: &wait})
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
			s.app.Notify("info", sentence(fmt.Errorf("%s", r.Message)))
		}
		return err
	})
}

// SetHeartbeat sets the heartbeat's interval, such as 30m, or 0m for never.
func (s *Schedules) SetHeartbeat(every string) {
	s.do(func(ctx context.Context) error { return s.app.Set(ctx, "agents.defaultHeartbeat.every", every) })
}

func (s *Schedules) do(f func(context.Context) error) {
	s.app.do(func(ctx context.Context) error {
		defer s.Load(ctx)
		return f(ctx)
	})
}

// Delete deletes a schedule. It leaves the view at once and does not run any more, but is deleted
// only after UndoTime: until then undo restores it with its history. If the program exits earlier,
// the schedule stays, paused.
func (s *Schedules) Delete(j protocol.CronJob) (undo func()) {
	back := make(chan struct{}, 1)
	s.hide(j.ID, true)
	s.app.start(func(ctx context.Context) {
		off := false
		if j.Enabled {
			if _, err := Call(ctx, s.app, protocol.CronUpdate, protocol.CronUpdateParams{ID: j.ID, Patch: &protocol.CronJobPatch{Enabled: &off}}); err != nil {
				s.hide(j.ID, false)
				s.app.fail(err)
				return
			}
		}
		timer := time.NewTimer(UndoTime)
		defer timer.Stop()
		var err error
		select {
		case <-timer.C:
			_, err = Call(ctx, s.app, protocol.CronRemove, protocol.CronJobParams{ID: j.ID})
		case <-back:
			if j.Enabled {
				on := true
				_, err = Call(ctx, s.app, protocol.CronUpdate, protocol.CronUpdateParams{ID: j.ID, Patch: &protocol.CronJobPatch{Enabled: &on}})
			}
		case <-ctx.Done():
			return
		}
		s.hide(j.ID, false)
		if err != nil {
			s.app.fail(err)
		}
		s.Load(ctx)
	})
	return func() {
		select {
		case back <- struct{}{}:
		default:
		}
	}
}

func (s *Schedules) hide(id protocol.CronJobID, gone bool) {
	s.deleted.Update(func(m map[protocol.CronJobID]bool) map[protocol.CronJobID]bool {
		next := maps.Clone(m)
		if next[id] = gone; !gone {
			delete(next, id)
		}
		return next
	})
	if gone {
		s.Value.Update(func(v SchedulesView) SchedulesView {
			v.Jobs = without(v.Jobs, func(j protocol.CronJob) bool { return j.ID == id })
			return v
		})
	}
}
