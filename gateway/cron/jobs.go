package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/repeat"
	"fairlead/gateway/store"
)

// Limits of a job, in characters.
const (
	maxName        = 200
	maxDescription = 2000
	maxText        = 64 << 10
	maxTimeout     = 7 * 24 * 3600 // seconds
)

func bad(err error) error {
	if err == nil {
		return nil
	}
	return protocol.ErrBadRequest.With(err.Error())
}

func unknown(id protocol.CronJobID) error {
	return protocol.ErrNotFound.With(fmt.Sprintf("Unknown cron job id: %s", id))
}

// Add creates a job.
func (s *Scheduler) Add(ctx context.Context, in protocol.CronAddParams) (out protocol.CronJobResult, err error) {
	if in.Name == "" || in.Schedule == nil || in.Spec == nil {
		return out, protocol.ErrBadRequest.With("name, schedule and spec required")
	}
	when, err := s.resolveSchedule(*in.Schedule)
	if err != nil {
		return out, bad(err)
	}
	at := now()
	j := store.Job{Base: at, CronJob: protocol.CronJob{
		ID: protocol.CronJobID(protocol.NewID()), AgentID: in.AgentID, Name: in.Name,
		Description: in.Description, Enabled: in.Enabled == nil || *in.Enabled, DeleteAfterRun: in.DeleteAfterRun, CreatedAtMs: at, UpdatedAtMs: at,
		Schedule: when, Spec: *in.Spec, Missed: in.Missed, Notify: in.Notify,
	}}
	if err := s.check(&j.CronJob); err != nil {
		return out, bad(err)
	}
	if j.Enabled {
		j.State.NextRunAtMs = nextRun(j.Schedule, j.Base, at, s.o.zone())
	}
	err = s.do(ctx, func() error {
		if limit := s.o.Config().Cron.MaxJobs; len(s.planner.jobs) >= limit {
			return protocol.ErrConflict.With(fmt.Sprintf("Cron job limit reached (%d)", limit))
		}
		if err := s.o.Stores.Jobs.Put(context.WithoutCancel(ctx), j); err != nil {
			return err
		}
		s.planner.jobs[j.ID], s.changed = &job{Job: j}, true
		return nil
	})
	return protocol.CronJobResult{OK: true, Job: j.CronJob, Note: repeat.Caution(j.Schedule.Expr)}, err
}

// check validates a job and normalizes it.
func (s *Scheduler) check(j *protocol.CronJob) (err error) {
	if j.AgentID, err = protocol.ParseAgentID(j.AgentID); err != nil {
		return err
	}
	j.Name, j.Description = strings.TrimSpace(j.Name), strings.TrimSpace(j.Description)
	switch {
	case j.Name == "" || utf8.RuneCountInString(j.Name) > maxName || strings.ContainsFunc(j.Name, unicode.IsControl):
		return fmt.Errorf("name must be one line of 1 to %d characters", maxName)
	case utf8.RuneCountInString(j.Description) > maxDescription:
		return fmt.Errorf("description must have at most %d characters", maxDescription)
	case !slices.Contains([]string{"", protocol.MissedSkip, protocol.MissedLatest, protocol.MissedAll, protocol.MissedAsk}, j.Missed):
		return fmt.Errorf("missed must be skip, latest, all or ask, not %.20q", j.Missed)
	case !slices.Contains([]string{"", protocol.NotifyAlways, protocol.NotifyNews, protocol.NotifyNever}, j.Notify):
		return fmt.Errorf("notify must be always, news or never, not %.20q", j.Notify)
	}
	if j.Schedule, err = checkSchedule(j.Schedule, s.o.zone()); err != nil {
		return err
	}
	j.Spec, err = checkSpec(j.Spec)
	return err
}

// checkSpec returns a spec without the fields of other modes.
func checkSpec(m protocol.CronMode) (protocol.CronMode, error) {
	text, field := m.Text, "spec.text"
	switch m.Mode {
	case protocol.CronSystemEvent:
		m = protocol.CronMode{Mode: m.Mode, Text: m.Text}
	case protocol.CronTask:
		text, field = m.Message, "spec.message"
		m.Text = ""
	default:
		return m, fmt.Errorf("spec.mode must be %s or %s, not %.20q", protocol.CronSystemEvent, protocol.CronTask, m.Mode)
	}
	m.Thinking = strings.ToLower(strings.TrimSpace(m.Thinking))
	if m.Thinking == "off" {
		m.Thinking = "none"
	}
	m.Model = strings.TrimSpace(m.Model)
	switch {
	case strings.TrimSpace(text) == "":
		return m, fmt.Errorf("%s required", field)
	case len(text) > maxText:
		return m, fmt.Errorf("%s must have at most %d bytes", field, maxText)
	case m.Thinking != "" && !slices.Contains(protocol.ThinkingLevels, m.Thinking):
		return m, fmt.Errorf("spec.thinking must be one of %s, not %.20q", strings.Join(protocol.ThinkingLevels, ", "), m.Thinking)
	case strings.ContainsAny(m.Model, " \t\r\n") || strings.HasSuffix(m.Model, "/") || strings.HasPrefix(m.Model, "/"):
		return m, errors.New("spec.model is written PROVIDER/ID, without spaces")
	case m.TimeoutSeconds < 0 || m.TimeoutSeconds > maxTimeout:
		return m, fmt.Errorf("spec.timeoutSeconds must be a number from 0 to %d", maxTimeout)
	}
	return m, nil
}

// Update changes a job. A new schedule, or enabling the job, recomputes the next run.
func (s *Scheduler) Update(ctx context.Context, in protocol.CronUpdateParams) (out protocol.CronJobResult, err error) {
	if in.ID == "" || in.Patch == nil {
		return out, protocol.ErrBadRequest.With("id and patch required")
	}
	err = s.do(ctx, func() error {
		j := s.planner.jobs[in.ID]
		if j == nil {
			return unknown(in.ID)
		}
		next, err := s.applyPatch(j.Job, *in.Patch)
		if err != nil {
			return bad(err)
		}
		if err := s.o.Stores.Jobs.Put(context.WithoutCancel(ctx), next); err != nil {
			return err
		}
		if next.State.NextRunAtMs != j.State.NextRunAtMs || next.Missed != j.Missed {
			j.withdrawQuestion()
		}
		j.Job, s.changed = next, true
		out = protocol.CronJobResult{OK: true, Job: next.CronJob, Note: repeat.Caution(next.Schedule.Expr)}
		return nil
	})
	return out, err
}

func (s *Scheduler) applyPatch(previous store.Job, p protocol.CronJobPatch) (store.Job, error) {
	j := previous
	set(&j.AgentID, p.AgentID)
	set(&j.Name, p.Name)
	set(&j.Description, p.Description)
	set(&j.Enabled, p.Enabled)
	set(&j.DeleteAfterRun, p.DeleteAfterRun)
	if p.Schedule != nil {
		when, err := s.resolveSchedule(*p.Schedule)
		if err != nil {
			return previous, err
		}
		j.Schedule = when
	}
	set(&j.Missed, p.Missed)
	set(&j.Notify, p.Notify)
	if p.Spec != nil {
		if p.Spec.Mode == "" {
			return previous, errors.New("spec.mode required")
		}
		if p.Spec.Mode != j.Spec.Mode {
			j.Spec = protocol.CronMode{Mode: p.Spec.Mode}
		}
		m := &j.Spec
		set(&m.Text, p.Spec.Text)
		set(&m.Message, p.Spec.Message)
		set(&m.Model, p.Spec.Model)
		set(&m.Thinking, p.Spec.Thinking)
		set(&m.TimeoutSeconds, p.Spec.TimeoutSeconds)
		set(&m.Channel, p.Spec.Channel)
		set(&m.To, p.Spec.To)
		m.Deliver = cmp.Or(p.Spec.Deliver, m.Deliver)
		m.BestEffortDeliver = cmp.Or(p.Spec.BestEffortDeliver, m.BestEffortDeliver)
	}
	if err := s.check(&j.CronJob); err != nil {
		return previous, err
	}
	at := now()
	j.UpdatedAtMs = at
	if p.Schedule != nil {
		j.Base = at
	}
	switch {
	case !j.Enabled:
		j.State.NextRunAtMs = 0
	case p.Schedule == nil && previous.Enabled:
	case j.Schedule.Kind == protocol.CronAt && *j.Schedule.AtMs == j.LastDue:
		return previous, protocol.ErrConflict.With("The job has already run at its time: set a new time")
	default:
		j.State.NextRunAtMs = nextRun(j.Schedule, j.Base, at, s.o.zone())
	}
	return j, nil
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Remove deletes a job with its history and its chat, which also stops a run in progress there. If
// only the chat cannot be deleted, the error says so.
func (s *Scheduler) Remove(ctx context.Context, in protocol.CronJobParams) (out protocol.CronRemoveResult, err error) {
	if in.ID == "" {
		return out, protocol.ErrBadRequest.With("id required")
	}
	var chat chan error // receives the outcome of deleting the chat; nil if there was no such job
	err = s.do(ctx, func() error {
		j := s.planner.jobs[in.ID]
		if err := s.o.Stores.Jobs.Delete(context.WithoutCancel(ctx), in.ID); err != nil || j == nil {
			return err
		}
		j.withdrawQuestion()
		delete(s.planner.jobs, in.ID)
		s.changed, chat = true, s.planner.deleteChat(j)
		return nil
	})
	if err != nil || chat == nil {
		return protocol.CronRemoveResult{OK: err == nil}, err
	}
	select {
	case err := <-chat:
		if err != nil {
			return out, fmt.Errorf("the schedule was deleted, but not its chat: %w", err)
		}
		return protocol.CronRemoveResult{OK: true, Removed: true}, nil
	case <-ctx.Done(): // such as a run that removes its own schedule, which ends with its chat
		return out, ctx.Err()
	}
}
