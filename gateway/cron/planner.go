package cron

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

const (
	// onTimeLimit is the delay up to which a run counts as on time.
	onTimeLimit = 2 * time.Minute
	// retryAfter is the delay before a retry when a job's start could not be stored.
	retryAfter = time.Minute
	// maxCatchUp is the largest number of missed times that MissedAll runs.
	maxCatchUp = 100
)

// planner decides when jobs run. Its fields belong to the loop's goroutine.
type planner struct {
	*loop
	o        *Options
	runner   *runner
	jobs     map[protocol.CronJobID]*job
	requests []*running // that have not started
	ready    bool       // runs may start
	last     int64      // the wall clock at the last check
	unsaved  bool       // a next time could not be stored: tick plans again
}

// job is a job with its state in memory.
type job struct {
	store.Job
	run     *running           // nil when the job is not running
	unask   context.CancelFunc // withdraws the question about missed times; nil without one
	onTime  int64              // a due time that came on time but without a free slot
	retryAt int64
}

// isDue reports whether a time of the job has come.
func (j *job) isDue(at int64) bool {
	return j.Enabled && j.State.NextRunAtMs > 0 && j.State.NextRunAtMs <= at && j.run == nil
}

// canCatchUp reports whether at most maxCatchUp times of the job are due.
func (j *job) canCatchUp(at int64, zone *time.Location) bool {
	due := j.State.NextRunAtMs
	for range maxCatchUp {
		if due = nextRun(j.Schedule, j.Base, due, zone); due == 0 || due > at || j.Schedule.Kind == protocol.CronAt {
			return true
		}
	}
	return false
}

// latestDue returns the job's last due time up to at, but at least its next planned time.
func (j *job) latestDue(at int64, zone *time.Location) int64 {
	first := j.State.NextRunAtMs
	if j.Schedule.Kind == protocol.CronAt || first == 0 || first > at {
		return first
	}
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

// nextAfter returns the job's next due time after the due time due was run at the time at.
func (j *job) nextAfter(due, at int64, zone *time.Location) int64 {
	if j.Schedule.Kind == protocol.CronAt {
		return 0
	}
	if j.Missed == protocol.MissedAll {
		at = due
	}
	return nextRun(j.Schedule, j.Base, at, zone)
}

// running is a run that was requested or is in progress.
type running struct {
	store.JobRun
	force   bool          // requested for a time that need not be due
	waiting bool          // for an approval; it occupies no slot
	ended   bool          // but its end is not stored yet; it occupies no slot
	done    chan struct{} // closed when result or err is set
	result  protocol.CronRunResult
	err     error // the run, or its end, could not be stored
}

// notifyWaiters notifies those who wait for the run.
func (r *running) notifyWaiters(result protocol.CronRunResult, err error) {
	if r.result.Status == "" && r.err == nil {
		r.result, r.err = result, err
		close(r.done)
	}
}

func newRun(id protocol.CronJobID, force bool) *running {
	return &running{JobRun: store.JobRun{Job: id}, force: force, done: make(chan struct{})}
}

// progress returns the result of a run for somebody who does not wait for it.
func (r *running) progress() protocol.CronRunResult {
	switch {
	case r.result.Status != "":
		return r.result
	case r.Run != "":
		return protocol.CronRunResult{JobID: r.Job, Status: protocol.CronRunning, Summary: "started in " + string(r.Session)}
	}
	return protocol.CronRunResult{JobID: r.Job, Status: protocol.CronRunning, Summary: "waiting for another job to finish"}
}

// tick starts the due jobs and returns when to look again; 0 means when something changes.
func (p *planner) tick(at int64) (next int64) {
	if at < p.last-time.Minute.Milliseconds() {
		slog.Info("The clock was set back; planning all schedules again", "by", time.Duration(p.last-at)*time.Millisecond)
		p.unsaved = true
	}
	p.last = at
	if p.unsaved {
		p.realign(at)
	}
	p.serveRequests(at)
	if !p.o.Config().Cron.Enabled {
		return 0
	}
	sooner := func(t int64) {
		if t > 0 && (next == 0 || t < next) {
			next = t
		}
	}
	for _, j := range p.sortedJobs() {
		switch due := j.State.NextRunAtMs; {
		case !j.Enabled || due == 0 || j.run != nil || j.unask != nil:
		case j.retryAt > at:
			sooner(j.retryAt)
		case due > at:
			sooner(due)
		case p.freeSlots() <= 0:
			if at-due <= onTimeLimit.Milliseconds() {
				j.onTime = due // the end of a run wakes the loop
			}
		default:
			p.runDue(j, at)
			sooner(j.retryAt)
			if j.run == nil && j.unask == nil {
				sooner(j.State.NextRunAtMs)
			}
		}
	}
	return next
}

// freeSlots returns the number of further runs that may work at the same time. Runs that wait for
// an approval do not count, or a few unanswered ones would block all jobs.
func (p *planner) freeSlots() int {
	n := p.o.Config().Cron.MaxConcurrent
	for _, j := range p.jobs {
		if j.run != nil && !j.run.waiting && !j.run.ended {
			n--
		}
	}
	return n
}

// sortedJobs returns the jobs in the order of their next runs. Jobs without one come last.
func (p *planner) sortedJobs() []*job {
	next := func(j *job) int64 { return cmp.Or(j.State.NextRunAtMs, math.MaxInt64) }
	return slices.SortedFunc(maps.Values(p.jobs), func(a, b *job) int {
		return cmp.Or(cmp.Compare(next(a), next(b)), cmp.Compare(a.CreatedAtMs, b.CreatedAtMs), cmp.Compare(a.ID, b.ID))
	})
}

// realign recomputes the next times of recurring jobs, because the clock or the time zone may have
// changed.
func (p *planner) realign(at int64) {
	zone := p.o.zone()
	p.unsaved = false
	for _, j := range p.jobs {
		if !j.Enabled || j.Schedule.Kind == protocol.CronAt || j.run != nil || j.State.NextRunAtMs != 0 && j.State.NextRunAtMs <= at {
			continue
		}
		if at := nextRun(j.Schedule, j.Base, at, zone); at != j.State.NextRunAtMs {
			next := j.Job
			next.State.NextRunAtMs = at
			if p.save(j, next) != nil {
				p.unsaved = true
			}
		}
	}
}

// save stores a changed job. If that fails, the job stays as it is.
func (p *planner) save(j *job, next store.Job) error {
	if err := p.o.Stores.Jobs.Put(context.WithoutCancel(p.ctx), next); err != nil {
		slog.Error("A job could not be stored", "job", j.ID, "err", err)
		return err
	}
	j.Job, p.changed = next, true
	return nil
}

// serveRequests starts the requested runs, as far as slots are free.
func (p *planner) serveRequests(at int64) {
	for len(p.requests) > 0 {
		r := p.requests[0]
		j := p.jobs[r.Job]
		if j != nil && j.run == nil {
			if p.freeSlots() <= 0 {
				return
			}
			due := int64(0)
			if !r.force {
				due = j.latestDue(at, p.o.zone())
			}
			if err := p.startRun(j, due, at, r); err != nil {
				r.notifyWaiters(protocol.CronRunResult{}, err)
			}
		}
		if j == nil || j.run != r {
			r.notifyWaiters(protocol.CronRunResult{
				JobID: r.Job, Status: protocol.CronSkipped, Error: "It is already running, was removed, or could not be started.",
			}, nil)
		}
		p.requests = p.requests[1:]
	}
}
