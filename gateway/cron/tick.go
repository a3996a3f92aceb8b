package cron

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

// zone returns the person's time zone. An unknown one counts as UTC, as in the original system.
func (s *Scheduler) zone() *time.Location {
	zone, err := time.LoadLocation(s.o.Config().UserTimezone)
	if err != nil || s.o.Config().UserTimezone == "Local" {
		return time.UTC
	}
	return zone
}

// tick starts the due jobs and returns the time to sleep; 0 means until something changes.
func (s *Scheduler) tick() time.Duration {
	at := now()
	if at < s.last-time.Minute.Milliseconds() {
		slog.Info("The clock was put back, the schedule is looked at again", "by", time.Duration(s.last-at)*time.Millisecond)
		s.realign(at)
	}
	s.last = at
	s.serveRequests(at)
	cfg := s.o.Config().Cron
	next := int64(0)
	sooner := func(t int64) {
		if t > 0 && (next == 0 || t < next) {
			next = t
		}
	}
	if cfg.Enabled {
		for _, j := range s.byNextRun() {
			switch due := j.State.NextRunAtMs; {
			case !j.Enabled || due == 0 || j.run != nil || j.asking != nil:
			case j.retryAt > at:
				sooner(j.retryAt)
			case due > at:
				sooner(due)
			case s.slots() <= 0:
				if at-due <= grace.Milliseconds() {
					j.onTime = due // the end of a run wakes the loop
				}
			default:
				s.due(j, at)
				sooner(j.retryAt)
				if j.run == nil && j.asking == nil {
					sooner(j.State.NextRunAtMs)
				}
			}
		}
	}
	longest := lookAgain
	if next == 0 {
		longest = 10 * lookAgain // heartbeats may be that late after a sleep
	}
	sooner(s.tickBeats(at))
	if next == 0 {
		return 0
	}
	return min(max(time.Duration(next-at)*time.Millisecond, time.Millisecond), longest)
}

// slots returns the number of further runs that may work at the same time. Runs that wait for an
// approval do not count: otherwise a few unanswered approvals would block all jobs.
func (s *Scheduler) slots() int {
	n := s.o.Config().Cron.MaxConcurrent
	for _, j := range s.jobs {
		if j.run != nil && !j.run.waiting {
			n--
		}
	}
	return n
}

// byNextRun returns the jobs in the order of their next runs. Jobs without one come last.
func (s *Scheduler) byNextRun() []*job {
	list := make([]*job, 0, len(s.jobs))
	for _, j := range s.jobs {
		list = append(list, j)
	}
	never := func(j *job) int {
		if j.State.NextRunAtMs == 0 {
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(a, b *job) int {
		return cmp.Or(cmp.Compare(never(a), never(b)), cmp.Compare(a.State.NextRunAtMs, b.State.NextRunAtMs),
			cmp.Compare(a.CreatedAtMs, b.CreatedAtMs), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// realign recomputes the next times of recurring jobs if these lie in the future, because the clock
// or the person's time zone may have changed.
func (s *Scheduler) realign(at int64) {
	zone := s.zone()
	for _, j := range s.jobs {
		if !j.Enabled || j.Schedule.Kind == protocol.CronAt || j.run != nil || j.State.NextRunAtMs != 0 && j.State.NextRunAtMs <= at {
			continue
		}
		if next := nextRun(j.Schedule, j.Base, at, zone); next != j.State.NextRunAtMs {
			j.State.NextRunAtMs = next
			s.put(j)
		}
	}
}

// put stores a job. If that fails, the job continues from memory and is stored at its next change.
func (s *Scheduler) put(j *job) {
	if err := s.o.Store.Jobs.Put(context.WithoutCancel(s.ctx), j.Job); err != nil {
		slog.Error("A job could not be stored", "job", j.ID, "err", err)
	}
}

// serveRequests starts the requested runs, as far as slots are free.
func (s *Scheduler) serveRequests(at int64) {
	for len(s.requests) > 0 {
		r := s.requests[0]
		j := s.jobs[r.id]
		switch {
		case j == nil || j.run != nil:
			r.began <- nil
		case s.slots() <= 0:
			return
		default:
			due := int64(0)
			if !r.force {
				due = s.latestDue(j, at)
			}
			if err := s.start(j, due, at); err != nil {
				slog.Error("A job could not be started", "job", j.ID, "err", err)
			}
			r.began <- j.run
		}
		s.requests = s.requests[1:]
	}
}
