package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/repeat"
)

// View is the state of the page of schedules.
type View struct {
	Loaded    bool
	Problem   string // reason why loading failed
	Jobs      []protocol.CronJob
	Status    protocol.CronStatus
	Heartbeat Heartbeat // of the main agent
	// Shown is the schedule with a loaded history: the latest Runs out of RunsInAll.
	Shown     protocol.CronJobID
	Preview   protocol.CronPreviewResult // the next runs of the shown schedule
	Runs      []protocol.CronRun
	RunsInAll int

	deleted map[protocol.CronJobID]bool // schedules that the person deleted and can still restore
}

// Job finds a schedule.
func (v View) Job(id protocol.CronJobID) (protocol.CronJob, bool) {
	return lists.Find(v.Jobs, func(j protocol.CronJob) bool { return j.ID == id })
}

func (v View) withoutDeleted() View {
	v.Jobs = lists.Without(v.Jobs, func(j protocol.CronJob) bool { return v.deleted[j.ID] })
	return v
}

// Model is the view model of the page of schedules. Its methods are safe for concurrent use.
type Model struct{ feed.Loader[View] }

// newModel returns an empty view model; Follow loads it.
func newModel(f *feed.Feed) *Model {
	s := &Model{}
	s.Loader = feed.Loader[View]{
		Value: feed.NewValue(View{}), Feed: f, Problem: func(v *View) *string { return &v.Problem },
		Facts: []feed.Fact{f.Changed},
		Key:   func(v feed.View) string { return fmt.Sprint(v.Changed.Schedules, v.Changed.Config) },
		Fetch: func(ctx context.Context) (func(*View), error) {
			next, err := s.read(ctx, s.Value.Get().Shown)
			return func(v *View) {
				if v.Shown != next.Shown {
					next.Shown, next.Runs, next.RunsInAll, next.Preview = v.Shown, v.Runs, v.RunsInAll, v.Preview
				}
				next.deleted = v.deleted
				*v = next.withoutDeleted()
			}, err
		},
	}
	return s
}

func (s *Model) read(ctx context.Context, shown protocol.CronJobID) (v View, err error) {
	v.Loaded, v.Shown = true, shown
	if v.Jobs, err = s.jobs(ctx); err != nil {
		return v, err
	}
	if v.Status, err = feed.Call(ctx, s.Feed, protocol.CronStatusGet, protocol.CronStatusParams{}); err != nil {
		return v, err
	}
	if v.Heartbeat, err = readHeartbeat(ctx, s.Feed); err != nil {
		return v, err
	}
	job, ok := v.Job(shown)
	if !ok {
		return v, nil
	}
	runs, err := feed.Call(ctx, s.Feed, protocol.CronRuns, protocol.CronRunsParams{JobID: shown, Limit: new(100)})
	if err != nil {
		return v, err
	}
	v.Runs, v.RunsInAll = runs.Runs, runs.Count
	schedule := job.Schedule
	if next := job.State.NextRunAtMs; schedule.Kind == protocol.CronEvery && next > 0 {
		schedule.AnchorMs = &next // an interval without an anchor starts at an unknown time
	}
	v.Preview, err = feed.Call(ctx, s.Feed, protocol.CronPreview, protocol.CronPreviewParams{Schedule: &schedule})
	return v, err
}

func (s *Model) jobs(ctx context.Context) ([]protocol.CronJob, error) {
	var all []protocol.CronJob
	for {
		r, err := feed.Call(ctx, s.Feed, protocol.CronList, protocol.CronListParams{Limit: new(500), Offset: len(all)})
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
func (s *Model) Show(id protocol.CronJobID) {
	s.Value.Update(func(v *View) {
		if v.Shown != id {
			v.Shown, v.Runs, v.RunsInAll, v.Preview = id, nil, 0, protocol.CronPreviewResult{}
		}
	})
	s.Reload()
}

// timeError makes an error of the gateway about a schedule one of the field that it is about.
func (f fields) timeError(err error) error {
	if !errors.Is(err, protocol.ErrBadRequest) {
		return err
	}
	field := map[string]string{repeatEvery: fieldEvery, repeatOnce: fieldAt, repeatCron: fieldExpr}[f.Repeat]
	if field == "" {
		field = fieldTimes
	}
	if strings.Contains(err.Error(), "time zone") {
		field = fieldZone
	}
	return &fieldError{field, err}
}

// Preview describes the time in the form with its next runs. It blocks. Errors about the time are of
// type [fieldError].
func (s *Model) Preview(ctx context.Context, f fields, now time.Time) (string, error) {
	schedule, err := f.schedule(now)
	if err != nil {
		return "", err
	}
	p, err := feed.Call(ctx, s.Feed, protocol.CronPreview, protocol.CronPreviewParams{Schedule: &schedule})
	if err != nil {
		return "", f.timeError(err)
	}
	return repeat.Sentence(p, now), nil
}

// Save creates or changes a schedule. It blocks.
func (s *Model) Save(ctx context.Context, f fields, now time.Time) (protocol.CronJob, error) {
	schedule, mode, err := f.parse(now)
	if err != nil {
		return protocol.CronJob{}, err
	}
	var r protocol.CronJobResult
	once := f.Once && f.Repeat == repeatOnce
	if f.ID == "" {
		r, err = feed.Call(ctx, s.Feed, protocol.CronAdd, protocol.CronAddParams{
			Name: f.Name, Schedule: &schedule, Spec: &mode, Missed: f.Missed, Notify: f.Notify, DeleteAfterRun: once,
		})
	} else {
		r, err = feed.Call(ctx, s.Feed, protocol.CronUpdate, protocol.CronUpdateParams{ID: f.ID, Patch: f.patch(schedule, mode, once, now)})
	}
	if err != nil {
		if strings.Contains(err.Error(), "cron expression") || strings.Contains(err.Error(), "time zone") {
			err = f.timeError(err)
		}
		return r.Job, err
	}
	s.Reload()
	return r.Job, nil
}

// patch returns the changes to the schedule that is edited.
func (f fields) patch(schedule protocol.CronSchedule, mode protocol.CronMode, once bool, now time.Time) *protocol.CronJobPatch {
	spec := protocol.CronModePatch{Mode: mode.Mode, Message: &mode.Message}
	if mode.Mode == protocol.CronSystemEvent {
		spec.Message, spec.Text = nil, &mode.Text
	}
	patch := protocol.CronJobPatch{Name: &f.Name, Spec: &spec, Missed: &f.Missed, DeleteAfterRun: &once}
	if f.Notify != f.job.Notifies() {
		patch.Notify = &f.Notify
		spec.Deliver = new(f.Notify != protocol.NotifyNever)
	}
	if f.timeChanged() {
		patch.Schedule = &schedule
		if isFinished(f.job, now) {
			patch.Enabled = new(true)
		}
	}
	return &patch
}

// Enable pauses or resumes a schedule.
func (s *Model) Enable(id protocol.CronJobID, on bool) { s.Do(s.enable(id, on)) }

func (s *Model) enable(id protocol.CronJobID, on bool) func(context.Context) error {
	return func(ctx context.Context) error {
		return feed.Send(ctx, s.Feed, protocol.CronUpdate, protocol.CronUpdateParams{ID: id, Patch: &protocol.CronJobPatch{Enabled: &on}})
	}
}

// Run starts a schedule now, even if it is not due.
func (s *Model) Run(id protocol.CronJobID) {
	s.Do(func(ctx context.Context) error {
		r, err := feed.Call(ctx, s.Feed, protocol.CronRunNow, protocol.CronRunParams{ID: id, Mode: protocol.CronRunForce, Wait: new(false)})
		if err == nil && len(r.Results) > 0 && r.Results[0].Status != protocol.CronRunning && r.Results[0].Error != "" {
			return fmt.Errorf("it did not start: %s", r.Results[0].Error)
		}
		return err
	})
}

// Delete deletes a schedule with its history after UndoTime, as in [feed.Tasks.DeleteLater]. Until
// then it is paused. If the program exits earlier, it stays, paused.
func (s *Model) Delete(j protocol.CronJob) (undo func()) {
	pause, resume := s.enable(j.ID, false), s.enable(j.ID, true)
	if !j.Enabled {
		pause, resume = feed.DoNothing, feed.DoNothing
	}
	hide := func(on bool) {
		s.Value.Update(func(v *View) {
			v.deleted = lists.MapWith(v.deleted, true, on, j.ID)
			*v = v.withoutDeleted()
		})
		if !on {
			s.Reload()
		}
	}
	return s.Feed.Tasks.DeleteLater(hide, pause, func(ctx context.Context) error {
		return feed.Send(ctx, s.Feed, protocol.CronRemove, protocol.CronJobParams{ID: j.ID})
	}, resume)
}

// isFinished reports whether a one-time schedule has run: it is not paused, and cannot be resumed.
func isFinished(j protocol.CronJob, now time.Time) bool {
	return j.Schedule.AtMs != nil && !j.Enabled && j.State.LastStatus != "" && *j.Schedule.AtMs <= now.UnixMilli()
}

// Heartbeat is the state of the main agent's heartbeat.
type Heartbeat struct {
	protocol.HeartbeatState
	// Every is the interval from the configuration; "0m" is off, and empty unknown.
	Every string
	// Hours are the active hours from the configuration, such as 08:00 and 23:00.
	Start, End string
}

// usualHeartbeat is the interval of a heartbeat that is turned on.
const usualHeartbeat = "30m"

func readHeartbeat(ctx context.Context, a feed.Gateway) (h Heartbeat, err error) {
	st, err := feed.Call(ctx, a, protocol.HeartbeatStatus, protocol.Empty{})
	if err != nil {
		return h, err
	}
	h.HeartbeatState = st.Agents[protocol.MainAgent]
	settings, _ := feed.ConfigAt[struct { // unknown without the right to read it
		Every       string
		ActiveHours struct{ Start, End string }
	}](ctx, a, "agents.defaultHeartbeat")
	h.Every, h.Start, h.End = settings.Every, settings.ActiveHours.Start, settings.ActiveHours.End
	return h, nil
}

// On reports whether the heartbeat is turned on.
func (h Heartbeat) On() bool { return h.interval() > 0 }

// interval returns the interval, or 0.
func (h Heartbeat) interval() time.Duration {
	d, err := time.ParseDuration(strings.ReplaceAll(h.Every, " ", ""))
	if err != nil && h.NextHeartbeatAt != nil {
		return time.Hour // an interval in words
	}
	return d
}

// RunHeartbeat triggers a heartbeat now.
func (s *Model) RunHeartbeat() {
	s.Do(func(ctx context.Context) error {
		r, err := feed.Call(ctx, s.Feed, protocol.HeartbeatTrigger, protocol.HeartbeatTriggerParams{})
		if err == nil {
			s.Feed.Notify("info", format.Capital(r.Message))
		}
		return err
	})
}

// SwitchHeartbeat switches the heartbeat on, at the usual interval, or off.
func (s *Model) SwitchHeartbeat(on bool) {
	every := "0m"
	if on {
		every = usualHeartbeat
	}
	s.SetHeartbeat(every)
}

// SetHeartbeat sets the heartbeat's interval, such as 30m, or 0m for never.
func (s *Model) SetHeartbeat(every string) {
	s.Do(func(ctx context.Context) error { return feed.Set(ctx, s.Feed, "agents.defaultHeartbeat.every", every) })
}
