package cron

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// resume continues the runs that an earlier start left, so that no crash leaves a job stuck.
func (p *planner) resume() {
	open, err := p.o.Stores.Jobs.UnfinishedRuns(p.ctx)
	if err != nil {
		slog.Error("Runs of jobs could not be read", "err", err)
		return
	}
	for _, r := range open {
		j := p.jobs[r.Job]
		if j == nil || j.run != nil {
			if err := p.o.Stores.Jobs.DeleteRun(p.ctx, r.ID); err != nil {
				slog.Error("A run of a job could not be removed", "job", r.Job, "err", err)
			}
			continue
		}
		slog.Info("Resuming a run of a job", "job", j.ID, "run", r.Run)
		run := newRun(j.ID, false)
		run.JobRun = r
		p.launch(j, run)
	}
}

// start starts a run of a job. If it cannot be stored, it is tried again later.
func (p *planner) start(j *job, due, at int64) {
	if err := p.startRun(j, due, at, newRun(j.ID, false)); err != nil {
		slog.Error("A job could not be started", "job", j.ID, "err", err)
		j.retryAt = at + retryAfter.Milliseconds()
	}
}

// startRun stores a run and starts it. A run with due 0 is outside of the schedule. A due time that
// has run already only moves the job to its next time.
func (p *planner) startRun(j *job, due, at int64, run *running) error {
	r := store.JobRun{Job: j.ID, Due: due, Run: protocol.RunID(protocol.NewID()), StartedAt: at}
	r.Session = p.chatOf(j, r.Run)
	next := j.Job
	if due > 0 {
		next.LastDue = due
		next.State.NextRunAtMs = j.nextAfter(due, at, p.o.zone())
	}
	next.State.RunningAtMs = at
	r, err := p.o.Stores.Jobs.StartRun(p.ctx, next, r)
	switch {
	case errors.Is(err, protocol.ErrConflict):
		next.State.RunningAtMs = 0
		next.Enabled = next.Enabled && j.Schedule.Kind != protocol.CronAt
		return p.save(j, next)
	case err != nil:
		return err
	}
	j.Job, j.retryAt, run.JobRun = next, 0, r
	p.launch(j, run)
	return nil
}

// launch executes a stored run in a goroutine and reports its end to the loop.
func (p *planner) launch(j *job, run *running) {
	j.withdrawQuestion()
	j.run = run
	j.State.RunningAtMs, p.changed = run.StartedAt, true
	snapshot, stored := j.Job, run.JobRun
	p.wg.Go(func() {
		var end outcome
		if err := crash.Run("schedule", func() {
			end = p.runner.execute(p.ctx, snapshot, stored, func(waiting bool) { p.report(func() { run.waiting, p.changed = waiting, true }) })
		}, "job", snapshot.ID); err != nil {
			end = failedOutcome(err)
		}
		if p.ctx.Err() == nil {
			p.report(func() { p.finish(run, end, now()) })
		}
	})
}

// chatOf returns the chat for a run of a job: a task's own one, which all its runs share, or the
// main chat. A task that deletes itself runs in an ordinary chat, which stays.
func (p *planner) chatOf(j *job, run protocol.RunID) protocol.SessionKey {
	switch {
	case j.Spec.Mode != protocol.CronTask:
		return p.o.mainSession(j.AgentID)
	case j.Schedule.Kind == protocol.CronAt && j.DeleteAfterRun:
		return protocol.SessionKey(fmt.Sprintf("agent:%s:cron:%s:%s", j.AgentID, j.ID, run))
	}
	return protocol.ScheduleChat(j.AgentID, j.ID)
}

// deleteChat deletes a job's chat and returns the outcome.
func (p *planner) deleteChat(j *job) chan error {
	key, outcome := protocol.ScheduleChat(j.AgentID, j.ID), make(chan error, 1)
	p.wg.Go(func() {
		_, err := p.o.Trash.Delete(p.ctx, protocol.SessionParams{SessionKey: key})
		if errors.Is(err, protocol.ErrNotFound) {
			err = nil
		}
		outcome <- err
	})
	return outcome
}

// outcome is the end of a run.
type outcome struct {
	status, err, summary string
	news                 string // text for a notification of the person; "" if there is nothing to say
}

func failedOutcome(err error) outcome { return outcome{status: protocol.CronError, err: err.Error()} }

// finish stores the end of a run and notifies the waiting requests. If it cannot be stored, that is
// tried again until it can, or until the next start continues the run.
func (p *planner) finish(run *running, end outcome, at int64) {
	j := p.jobs[run.Job]
	duration := max(at-run.StartedAt, 0)
	result := protocol.CronRunResult{JobID: run.Job, Status: end.status, Error: end.err, Summary: end.summary, DurationMs: duration}
	if end.status == protocol.CronOK { // clients use it to find the chat of the run
		result.Summary = strings.TrimSpace("ran in " + string(run.Session) + "\n" + end.summary)
	}
	if j == nil || j.run != run { // the job was removed meanwhile
		run.notifyWaiters(result, nil)
		return
	}
	next := j.Job
	next.State.RunningAtMs, next.State.LastRunAtMs = 0, run.StartedAt
	next.State.LastStatus, next.State.LastError, next.State.LastDurationMs = end.status, end.err, &duration
	remove := false
	// Without a next time, nobody ran the job early or changed its time meanwhile.
	if j.Schedule.Kind == protocol.CronAt && j.State.NextRunAtMs == 0 {
		next.Enabled = false
		remove = j.DeleteAfterRun && end.status == protocol.CronOK
	}
	stored := run.JobRun
	stored.EndedAt, stored.Status, stored.Error, stored.Summary = at, end.status, end.err, end.summary
	stored.NextRunAt, result.NextRunAtMs = j.State.NextRunAtMs, j.State.NextRunAtMs
	if err := p.record(j, next, stored, remove); err != nil {
		run.ended, p.changed = true, true
		run.notifyWaiters(protocol.CronRunResult{}, fmt.Errorf("the run has ended, but that could not be stored: %w", err))
		p.later(func() { p.finish(run, end, at) })
		return
	}
	j.run = nil
	p.notify(j, run.Session, end)
	j.Job = next
	run.notifyWaiters(result, nil)
}

// later runs f on the loop after [retryAfter].
func (p *planner) later(f func()) {
	p.wg.Go(func() {
		select {
		case <-time.After(retryAfter):
			p.report(f)
		case <-p.ctx.Done():
		}
	})
}

// record stores a finished run and its job, and deletes the oldest runs.
func (p *planner) record(j *job, next store.Job, r store.JobRun, remove bool) error {
	if err := p.o.Stores.Jobs.EndRun(context.WithoutCancel(p.ctx), next, r, p.o.Config().Cron.MaxRuns, remove); err != nil {
		slog.Error("The end of a job's run could not be stored", "job", j.ID, "run", r.Run, "err", err)
		return err
	}
	p.changed = true
	if remove {
		delete(p.jobs, j.ID)
	}
	return nil
}

// notify notifies the person of a run's end as they chose. Of a job that keeps failing they hear
// once.
func (p *planner) notify(j *job, chat protocol.SessionKey, end outcome) {
	n := protocol.Notice{Level: "info", Title: j.Name, Text: end.news, SessionKey: chat}
	switch {
	case j.Notifies() == protocol.NotifyNever:
		return
	case end.status != protocol.CronError:
	case j.State.LastStatus == protocol.CronError:
		return
	default:
		n.Level, n.Title, n.Text = "warning", fmt.Sprintf("The schedule “%s” failed", j.Name), format.Line(end.err, maxNotice)
	}
	if n.Text != "" {
		p.o.Bus.PublishNoticeOf(n)
	}
}
