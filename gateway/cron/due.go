package cron

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// due handles a job whose time has come, or has passed while the gateway was off, the machine slept
// or an earlier run was in progress.
func (s *Scheduler) due(j *job, at int64) {
	first := j.State.NextRunAtMs
	latest := s.latestDue(j, at)
	onTime := func(due int64) bool { return at-due <= grace.Milliseconds() || due == j.onTime }
	run := func(due int64) {
		if err := s.start(j, due, at); err != nil {
			slog.Error("A job could not be started", "job", j.ID, "err", err)
		}
	}
	switch {
	case onTime(first):
		run(first)
	case j.Missed == protocol.MissedSkip && onTime(latest):
		s.skip(j, first, at, latest-1)
		run(latest)
	case j.Missed == protocol.MissedSkip:
		s.skip(j, latest, at, at)
	case j.Missed == protocol.MissedAll:
		for n, t := 1, first; ; n++ {
			t = nextRun(j.Schedule, j.Base, t, s.zone())
			if j.Schedule.Kind == protocol.CronAt || t == 0 || t > at {
				break
			}
			if n == maxCatchUp {
				s.skip(j, first, at, latest-1)
				run(latest)
				return
			}
		}
		run(first)
	case j.Missed == protocol.MissedAsk:
		s.ask(j, latest)
	default:
		run(latest)
	}
}

// latestDue returns the last due time of a job that is not after at, but at least its next planned
// time.
func (s *Scheduler) latestDue(j *job, at int64) int64 {
	first := j.State.NextRunAtMs
	if j.Schedule.Kind == protocol.CronAt || first == 0 || first > at {
		return first
	}
	zone := s.zone()
	latest := first
	// Search backwards in growing steps, because the last step contains few due times.
	for back := time.Hour.Milliseconds(); ; back *= 2 {
		from := max(at-back, first-1)
		for t := nextRun(j.Schedule, j.Base, from, zone); t != 0 && t <= at; t = nextRun(j.Schedule, j.Base, t, zone) {
			latest = max(latest, t)
		}
		if latest > first || from == first-1 {
			return latest
		}
	}
}

// skip stores that due times up to until were skipped.
func (s *Scheduler) skip(j *job, due, at, until int64) {
	next := j.Job
	next.LastDue = due
	next.State.NextRunAtMs = 0
	if j.Schedule.Kind == protocol.CronAt {
		next.Enabled = false
	} else {
		next.State.NextRunAtMs = nextRun(j.Schedule, j.Base, until, s.zone())
	}
	next.State.LastStatus, next.State.LastError = protocol.CronSkipped, "Its time passed while it could not run."
	r := store.JobRun{
		Job: j.ID, Due: due, StartedAt: at, EndedAt: at, Status: protocol.CronSkipped, Error: next.State.LastError,
		NextRunAt: next.State.NextRunAtMs,
	}
	stored, err := s.o.Store.Jobs.StartRun(s.ctx, next, r)
	j.Job = next
	if err != nil {
		slog.Warn("It could not be written down that a job was left out", "job", j.ID, "err", err)
		s.put(j)
		return
	}
	s.log(j, stored, false)
}

// question is a pending approval about a job.
type question struct{ withdraw context.CancelFunc }

// ask asks the person whether to run a missed job now. The job waits meanwhile. The next start asks
// again.
func (s *Scheduler) ask(j *job, due int64) {
	ctx, cancel := context.WithCancel(s.ctx)
	q := &question{cancel}
	j.asking = q
	a := protocol.Approval{
		Kind: protocol.AskContinue, SessionKey: s.mainSession(j.AgentID), AskedBy: protocol.AskedBy{Kind: "schedule", Name: j.Name},
		Why: fmt.Sprintf("the job %q should have run on %s, but its time passed while it could not; allow to run it now, or deny to leave it out", j.Name,
			time.UnixMilli(due).In(s.zone()).Format("2 January 2006 at 15:04 (MST)")),
		Choices: []string{protocol.ScopeOnce},
	}
	id := j.ID
	s.wg.Go(func() {
		defer cancel()
		end, err := s.o.Ask(ctx, a, 0, nil)
		if ctx.Err() != nil {
			return
		}
		s.report(func() {
			if j := s.jobs[id]; j != nil && j.asking == q {
				j.asking = nil
				s.answered(j, end, err)
			}
		})
	})
}

func (s *Scheduler) answered(j *job, end protocol.Approval, err error) {
	at := now()
	switch {
	case err != nil:
		slog.Error("The person could not be asked about a missed job", "job", j.ID, "err", err)
		j.retryAt = at + retryAfter.Milliseconds()
	case end.Allowed():
		if err := s.start(j, s.latestDue(j, at), at); err != nil {
			slog.Error("A job could not be started", "job", j.ID, "err", err)
		}
	default:
		s.skip(j, s.latestDue(j, at), at, at)
	}
}

// withdraw cancels the question about a job, because the job was changed, removed or run meanwhile.
func (j *job) withdraw() {
	if j.asking != nil {
		j.asking.withdraw()
		j.asking = nil
	}
}
