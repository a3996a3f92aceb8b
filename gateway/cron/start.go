package cron

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// takeUp goes on with the runs that an earlier start left, so that no crash leaves a job stuck.
func (s *Scheduler) takeUp() {
	open, err := s.o.Store.OpenCronRuns(s.ctx)
	if err != nil {
		slog.Error("Runs of jobs could not be read", "err", err)
		return
	}
	for _, r := range open {
		j := s.jobs[r.Job]
		if j == nil || j.run != nil {
			if err := s.o.Store.DropCronRun(s.ctx, r.ID); err != nil {
				slog.Error("A run of a job could not be removed", "job", r.Job, "err", err)
			}
			continue
		}
		slog.Info("A run of a job goes on", "job", j.ID, "run", r.Run)
		s.begin(j, r)
	}
}

// start writes a run down and begins it. due 0 is a run outside the schedule. A due time that was served already only moves the job on.
func (s *Scheduler) start(j *job, due, at int64) error {
	r := store.CronRun{Job: j.ID, Due: due, Run: protocol.RunID(protocol.NewID()), StartedAt: at, Session: s.mainSession(j.AgentID)}
	if j.Spec.Mode == protocol.CronTask {
		r.Session = protocol.SessionKey(fmt.Sprintf("agent:%s%s%s", j.AgentID, ownChat(j.ID), r.Run))
	}
	next := j.CronJob
	if due > 0 {
		next.LastDue = due
		next.State.NextRunAtMs = s.following(j, due, at)
	}
	next.State.RunningAtMs = at
	r, err := s.o.Store.StartCronRun(s.ctx, next, r)
	if errors.Is(err, protocol.ErrConflict) {
		next.State.RunningAtMs = 0
		next.Enabled = next.Enabled && j.Schedule.Kind != protocol.CronAt
		j.CronJob = next
		s.put(j)
		return nil
	}
	if err != nil {
		j.retryAt = at + retryAfter.Milliseconds()
		return err
	}
	j.CronJob, j.retryAt = next, 0
	s.begin(j, r)
	return nil
}

// following is when a job comes after a due time was served at a moment.
func (s *Scheduler) following(j *job, due, at int64) int64 {
	switch {
	case j.Schedule.Kind == protocol.CronAt:
		return 0
	case j.Missed == protocol.MissedAll:
		return nextRun(j.Schedule, j.Base, due, s.zone())
	}
	return nextRun(j.Schedule, j.Base, at, s.zone())
}

// begin follows a run that is written down.
func (s *Scheduler) begin(j *job, r store.CronRun) {
	run := &running{CronRun: r, done: make(chan struct{})}
	j.withdraw()
	j.run = run
	j.State.RunningAtMs = r.StartedAt
	snapshot := j.CronJob
	s.wg.Go(func() {
		end := s.execute(s.ctx, snapshot, r, func(waiting bool) { s.report(func() { run.waiting = waiting }) })
		if s.ctx.Err() == nil {
			s.report(func() { s.finish(run, end) })
		}
	})
}

// outcome is how a run ended.
type outcome struct{ status, err, summary string }

func failed(err error) outcome { return outcome{status: protocol.CronError, err: err.Error()} }

// finish writes a run's end down and tells who waits for it.
func (s *Scheduler) finish(run *running, end outcome) {
	at := now()
	run.EndedAt, run.Status, run.Error, run.Summary = at, end.status, end.err, end.summary
	took := max(at-run.StartedAt, 0)
	run.result = protocol.CronRunResult{JobID: run.Job, Status: end.status, Error: end.err, Summary: end.summary, DurationMs: took}
	defer close(run.done)
	j := s.jobs[run.Job]
	if j == nil || j.run != run {
		return // it was removed meanwhile
	}
	j.run = nil
	if end.status == protocol.CronError && j.State.LastStatus != protocol.CronError { // once, not at every run of a job that keeps failing
		s.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
			Level: "warning", At: at,
			Text: fmt.Sprintf("The scheduled job %q failed: %s", j.Name, cut(end.err, maxSummary)),
		}})
	}
	j.State.RunningAtMs, j.State.LastRunAtMs = 0, run.StartedAt
	j.State.LastStatus, j.State.LastError, j.State.LastDurationMs = end.status, end.err, &took
	remove := false
	if j.Schedule.Kind == protocol.CronAt && j.State.NextRunAtMs == 0 { // else somebody ran it before its time, or gave it another meanwhile
		j.Enabled = false
		remove = j.DeleteAfterRun && end.status == protocol.CronOK
	}
	run.NextRunAt, run.result.NextRunAtMs = j.State.NextRunAtMs, j.State.NextRunAtMs
	s.log(j, run.CronRun, remove)
}

// log stores a run that has ended with its job, and lets the oldest ones go.
func (s *Scheduler) log(j *job, r store.CronRun, remove bool) {
	if remove {
		delete(s.jobs, j.ID)
	}
	dropped, err := s.o.Store.EndCronRun(context.WithoutCancel(s.ctx), j.CronJob, r, s.o.Config().Cron.MaxRuns, remove)
	if err != nil {
		slog.Error("The end of a job's run could not be stored", "job", j.ID, "run", r.Run, "err", err)
		return
	}
	for _, key := range dropped {
		if !strings.Contains(string(key), ownChat(j.ID)) {
			continue // a systemEvent was told in a chat of the person's
		}
		s.wg.Go(func() {
			_, err := s.sessions.Delete(s.ctx, protocol.SessionParams{SessionKey: key})
			if err != nil && !errors.Is(err, protocol.ErrNotFound) && s.ctx.Err() == nil {
				slog.Warn("The chat of an old run could not be removed", "session", key, "err", err)
			}
		})
	}
}

// ownChat is what the key of a chat of a job's tasks has between agent and run.
func ownChat(id protocol.CronJobID) string { return ":cron:" + string(id) + ":" }

func (s *Scheduler) mainSession(agent protocol.AgentID) protocol.SessionKey {
	return s.o.Config().Session.Main(agent)
}
