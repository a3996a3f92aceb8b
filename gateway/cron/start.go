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

// takeUp resumes the runs that an earlier start left, so that no crash leaves a job stuck.
func (s *Scheduler) takeUp() {
	open, err := s.o.Store.Jobs.UnfinishedRuns(s.ctx)
	if err != nil {
		slog.Error("Runs of jobs could not be read", "err", err)
		return
	}
	for _, r := range open {
		j := s.jobs[r.Job]
		if j == nil || j.run != nil {
			if err := s.o.Store.Jobs.DeleteRun(s.ctx, r.ID); err != nil {
				slog.Error("A run of a job could not be removed", "job", r.Job, "err", err)
			}
			continue
		}
		slog.Info("A run of a job goes on", "job", j.ID, "run", r.Run)
		s.begin(j, r)
	}
}

// start stores a run and starts it. A run with due 0 is outside of the schedule. A due time that
// has run already only moves the job to its next time.
func (s *Scheduler) start(j *job, due, at int64) error {
	r := store.JobRun{Job: j.ID, Due: due, Run: protocol.RunID(protocol.NewID()), StartedAt: at, Session: s.mainSession(j.AgentID)}
	if j.Spec.Mode == protocol.CronTask {
		r.Session = protocol.SessionKey(fmt.Sprintf("agent:%s%s%s", j.AgentID, ownChat(j.ID), r.Run))
	}
	next := j.Job
	if due > 0 {
		next.LastDue = due
		next.State.NextRunAtMs = s.following(j, due, at)
	}
	next.State.RunningAtMs = at
	r, err := s.o.Store.Jobs.StartRun(s.ctx, next, r)
	if errors.Is(err, protocol.ErrConflict) {
		next.State.RunningAtMs = 0
		next.Enabled = next.Enabled && j.Schedule.Kind != protocol.CronAt
		j.Job = next
		s.put(j)
		return nil
	}
	if err != nil {
		j.retryAt = at + retryAfter.Milliseconds()
		return err
	}
	j.Job, j.retryAt = next, 0
	s.begin(j, r)
	return nil
}

// following returns a job's next due time after the due time due was run at the time at.
func (s *Scheduler) following(j *job, due, at int64) int64 {
	switch {
	case j.Schedule.Kind == protocol.CronAt:
		return 0
	case j.Missed == protocol.MissedAll:
		return nextRun(j.Schedule, j.Base, due, s.zone())
	}
	return nextRun(j.Schedule, j.Base, at, s.zone())
}

// begin executes a stored run in a goroutine and reports its end to the loop.
func (s *Scheduler) begin(j *job, r store.JobRun) {
	run := &running{JobRun: r, done: make(chan struct{})}
	j.withdraw()
	j.run = run
	j.State.RunningAtMs = r.StartedAt
	snapshot := j.Job
	s.wg.Go(func() {
		end := s.execute(s.ctx, snapshot, r, func(waiting bool) { s.report(func() { run.waiting = waiting }) })
		if s.ctx.Err() == nil {
			s.report(func() { s.finish(run, end) })
		}
	})
}

// outcome is the end of a run.
type outcome struct{ status, err, summary string }

func failed(err error) outcome { return outcome{status: protocol.CronError, err: err.Error()} }

// finish stores the end of a run and notifies the waiting requests.
func (s *Scheduler) finish(run *running, end outcome) {
	at := now()
	run.EndedAt, run.Status, run.Error, run.Summary = at, end.status, end.err, end.summary
	took := max(at-run.StartedAt, 0)
	run.result = protocol.CronRunResult{JobID: run.Job, Status: end.status, Error: end.err, Summary: end.summary, DurationMs: took}
	defer close(run.done)
	j := s.jobs[run.Job]
	if j == nil || j.run != run {
		return // the job was removed meanwhile
	}
	j.run = nil
	// Notify once, and not at every run of a job that keeps failing.
	if end.status == protocol.CronError && j.State.LastStatus != protocol.CronError {
		s.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
			Level: "warning", At: at,
			Text: fmt.Sprintf("The scheduled job %q failed: %s", j.Name, cut(end.err, maxSummary)),
		}})
	}
	j.State.RunningAtMs, j.State.LastRunAtMs = 0, run.StartedAt
	j.State.LastStatus, j.State.LastError, j.State.LastDurationMs = end.status, end.err, &took
	remove := false
	// Without a next time, nobody ran the job early or changed its time meanwhile.
	if j.Schedule.Kind == protocol.CronAt && j.State.NextRunAtMs == 0 {
		j.Enabled = false
		remove = j.DeleteAfterRun && end.status == protocol.CronOK
	}
	run.NextRunAt, run.result.NextRunAtMs = j.State.NextRunAtMs, j.State.NextRunAtMs
	s.log(j, run.JobRun, remove)
}

// log stores a finished run and its job, and deletes the oldest runs.
func (s *Scheduler) log(j *job, r store.JobRun, remove bool) {
	if remove {
		delete(s.jobs, j.ID)
	}
	dropped, err := s.o.Store.Jobs.EndRun(context.WithoutCancel(s.ctx), j.Job, r, s.o.Config().Cron.MaxRuns, remove)
	if err != nil {
		slog.Error("The end of a job's run could not be stored", "job", j.ID, "run", r.Run, "err", err)
		return
	}
	for _, key := range dropped {
		if !strings.Contains(string(key), ownChat(j.ID)) {
			continue // a systemEvent ran in the person's own chat, which stays
		}
		s.wg.Go(func() {
			_, err := s.sessions.Delete(s.ctx, protocol.SessionParams{SessionKey: key})
			if err != nil && !errors.Is(err, protocol.ErrNotFound) && s.ctx.Err() == nil {
				slog.Warn("The chat of an old run could not be removed", "session", key, "err", err)
			}
		})
	}
}

// ownChat returns the part between agent and run in the key of a task's chat.
func ownChat(id protocol.CronJobID) string { return ":cron:" + string(id) + ":" }

func (s *Scheduler) mainSession(agent protocol.AgentID) protocol.SessionKey {
	return s.o.Config().Session.Main(agent)
}
