package cron

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// runDue handles a job whose time has come or was missed.
func (p *planner) runDue(j *job, at int64) {
	first := j.State.NextRunAtMs
	latest := j.latestDue(at, p.o.zone())
	onTime := func(due int64) bool { return at-due <= onTimeLimit.Milliseconds() || due == j.onTime }
	switch {
	case onTime(first), j.Missed == protocol.MissedAll && j.canCatchUp(at, p.o.zone()):
		p.start(j, first, at)
	case j.Missed == protocol.MissedAll, j.Missed == protocol.MissedSkip && onTime(latest):
		if p.skip(j, first, at, latest-1) {
			p.start(j, latest, at)
		}
	case j.Missed == protocol.MissedSkip:
		p.skip(j, latest, at, at)
	case j.Missed == protocol.MissedAsk:
		p.ask(j, latest)
	default:
		p.start(j, latest, at)
	}
}

// skip stores that due times up to until were skipped. If that cannot be stored, it returns false, and
// the job is looked at again later.
func (p *planner) skip(j *job, due, at, until int64) bool {
	next := j.Job
	next.LastDue = due
	next.State.NextRunAtMs = 0
	if j.Schedule.Kind == protocol.CronAt {
		next.Enabled = false
	} else {
		next.State.NextRunAtMs = nextRun(j.Schedule, j.Base, until, p.o.zone())
	}
	next.State.LastStatus, next.State.LastError = protocol.CronSkipped, "Fairlead was not running at that time."
	r := store.JobRun{
		Job: j.ID, Due: due, StartedAt: at, EndedAt: at, Status: protocol.CronSkipped, Error: next.State.LastError,
		NextRunAt: next.State.NextRunAtMs,
	}
	stored, err := p.o.Stores.Jobs.StartRun(p.ctx, next, r)
	switch {
	case errors.Is(err, protocol.ErrConflict): // it has run already
		err = p.save(j, next)
	case err == nil:
		j.Job = next
		err = p.record(j, next, stored, false)
	}
	if err != nil {
		slog.Warn("A skipped run could not be stored", "job", j.ID, "err", err)
		j.retryAt = at + retryAfter.Milliseconds()
	}
	return err == nil
}

// ask asks the person whether to run a missed job now. The next start asks again.
func (p *planner) ask(j *job, due int64) {
	ctx, cancel := context.WithCancel(p.ctx)
	j.unask = cancel
	a := protocol.Question{
		Kind: protocol.AskContinue, SessionKey: p.o.mainSession(j.AgentID), AskedBy: protocol.AskedBy{Kind: "schedule", Name: j.Name},
		Why: fmt.Sprintf("the schedule %q missed its run on %s; allow to run it now, deny to skip it", j.Name,
			time.UnixMilli(due).In(p.o.zone()).Format("2 January 2006 at 15:04 (MST)")),
		Choices: []string{protocol.ScopeOnce},
	}
	p.wg.Go(func() {
		var end protocol.Question
		err := crash.Call("question of a schedule", func() (err error) {
			end, err = p.o.Ask(ctx, a, 0, nil)
			return err
		}, "job", j.ID)
		p.report(func() {
			if ctx.Err() == nil { // the question was not withdrawn
				j.withdrawQuestion()
				p.handleAnswer(j, end, err)
			}
		})
	})
}

func (p *planner) handleAnswer(j *job, end protocol.Question, err error) {
	at := now()
	switch {
	case err != nil:
		slog.Error("The approval of a missed job failed", "job", j.ID, "err", err)
		j.retryAt = at + retryAfter.Milliseconds()
	case end.Allowed():
		p.start(j, j.latestDue(at, p.o.zone()), at)
	default:
		p.skip(j, j.latestDue(at, p.o.zone()), at, at)
	}
}

// withdrawQuestion ends the question about a job.
func (j *job) withdrawQuestion() {
	if j.unask != nil {
		j.unask()
		j.unask = nil
	}
}
