package cron

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// resume continues the runs that an earlier start left, so that no crash leaves a job stuck.
func (p *planner) resume() {
	open, err := p.o.Store.Jobs.UnfinishedRuns(p.ctx)
	if err != nil {
		slog.Error("Runs of jobs could not be read", "err", err)
		return
	}
	for _, r := range open {
		j := p.jobs[r.Job]
		if j == nil || j.run != nil {
			if err := p.o.Store.Jobs.DeleteRun(p.ctx, r.ID); err != nil {
				slog.Error("A run of a job could not be removed", "job", r.Job, "err", err)
			}
			continue
		}
		slog.Info("Resuming a run of a job", "job", j.ID, "run", r.Run)
		p.launch(j, r)
	}
}

// start stores a run and starts it, or tries again later if it cannot be stored. A run with due 0 is
// outside of the schedule. A due time that has run already only moves the job to its next time.
func (p *planner) start(j *job, due, at int64) {
	r := store.JobRun{Job: j.ID, Due: due, Run: protocol.RunID(protocol.NewID()), StartedAt: at, Session: p.o.mainSession(j.AgentID)}
	if j.Spec.Mode == protocol.CronTask {
		r.Session = protocol.SessionKey(fmt.Sprintf("agent:%s%s%s", j.AgentID, ownChat(j.ID), r.Run))
	}
	next := j.Job
	if due > 0 {
		next.LastDue = due
		next.State.NextRunAtMs = p.nextAfter(j, due, at)
	}
	next.State.RunningAtMs = at
	r, err := p.o.Store.Jobs.StartRun(p.ctx, next, r)
	switch {
	case errors.Is(err, protocol.ErrConflict):
		next.State.RunningAtMs = 0
		next.Enabled = next.Enabled && j.Schedule.Kind != protocol.CronAt
		j.Job = next
		p.save(j)
	case err != nil:
		slog.Error("A job could not be started", "job", j.ID, "err", err)
		j.retryAt = at + retryAfter.Milliseconds()
	default:
		j.Job, j.retryAt = next, 0
		p.launch(j, r)
	}
}

// nextAfter returns a job's next due time after the due time due was run at the time at.
func (p *planner) nextAfter(j *job, due, at int64) int64 {
	if j.Schedule.Kind == protocol.CronAt {
		return 0
	}
	if j.Missed == protocol.MissedAll {
		at = due
	}
	return nextRun(j.Schedule, j.Base, at, p.o.zone())
}

// launch executes a stored run in a goroutine and reports its end to the loop.
func (p *planner) launch(j *job, r store.JobRun) {
	run := &running{JobRun: r, done: make(chan struct{})}
	j.withdrawQuestion()
	j.run = run
	j.State.RunningAtMs, p.changed = r.StartedAt, true
	snapshot := j.Job
	p.wg.Go(func() {
		end := p.runner.execute(p.ctx, snapshot, r, func(waiting bool) { p.report(func() { run.waiting = waiting }) })
		if p.ctx.Err() == nil {
			p.report(func() { p.finish(run, end) })
		}
	})
}

// outcome is the end of a run.
type outcome struct{ status, err, summary string }

func failedOutcome(err error) outcome { return outcome{status: protocol.CronError, err: err.Error()} }

// finish stores the end of a run and notifies the waiting requests.
func (p *planner) finish(run *running, end outcome) {
	at := now()
	run.EndedAt, run.Status, run.Error, run.Summary = at, end.status, end.err, end.summary
	duration := max(at-run.StartedAt, 0)
	run.result = protocol.CronRunResult{JobID: run.Job, Status: end.status, Error: end.err, Summary: end.summary, DurationMs: duration}
	defer close(run.done)
	j := p.jobs[run.Job]
	if j == nil || j.run != run {
		return // the job was removed meanwhile
	}
	j.run = nil
	// Notify once, and not at every run of a job that keeps failing.
	if end.status == protocol.CronError && j.State.LastStatus != protocol.CronError {
		p.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
			Level: "warning", At: at,
			Text: fmt.Sprintf("The scheduled job %q failed: %s", j.Name, display.Clip(end.err, maxSummary)),
		}})
	}
	j.State.RunningAtMs, j.State.LastRunAtMs = 0, run.StartedAt
	j.State.LastStatus, j.State.LastError, j.State.LastDurationMs = end.status, end.err, &duration
	remove := false
	// Without a next time, nobody ran the job early or changed its time meanwhile.
	if j.Schedule.Kind == protocol.CronAt && j.State.NextRunAtMs == 0 {
		j.Enabled = false
		remove = j.DeleteAfterRun && end.status == protocol.CronOK
	}
	run.NextRunAt, run.result.NextRunAtMs = j.State.NextRunAtMs, j.State.NextRunAtMs
	p.record(j, run.JobRun, remove)
}

// record stores a finished run and its job, and deletes the oldest runs.
func (p *planner) record(j *job, r store.JobRun, remove bool) {
	p.changed = true
	if remove {
		delete(p.jobs, j.ID)
	}
	dropped, err := p.o.Store.Jobs.EndRun(context.WithoutCancel(p.ctx), j.Job, r, p.o.Config().Cron.MaxRuns, remove)
	if err != nil {
		slog.Error("The end of a job's run could not be stored", "job", j.ID, "run", r.Run, "err", err)
		return
	}
	for _, key := range dropped {
		if !strings.Contains(string(key), ownChat(j.ID)) {
			continue // a systemEvent ran in the person's own chat, which stays
		}
		p.wg.Go(func() {
			_, err := p.o.Sessions.Delete(p.ctx, protocol.SessionParams{SessionKey: key})
			if err != nil && !errors.Is(err, protocol.ErrNotFound) && p.ctx.Err() == nil {
				slog.Warn("The chat of an old run could not be removed", "session", key, "err", err)
			}
		})
	}
}

// ownChat returns the part between agent and run in the key of a task's chat.
func ownChat(id protocol.CronJobID) string { return ":cron:" + string(id) + ":" }
