package cron

import (
	"cmp"
	"context"
	"fmt"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/repeat"
)

// Status returns the number of jobs and their states.
func (s *Scheduler) Status(ctx context.Context, in protocol.CronStatusParams) (out protocol.CronStatus, err error) {
	of, err := ofAgent(in.AgentID)
	if err != nil {
		return out, err
	}
	err = s.do(ctx, func() error {
		cfg := s.o.Config().Cron
		out = protocol.CronStatus{Enabled: cfg.Enabled, MaxJobs: cfg.MaxJobs, MaxConcurrentRuns: cfg.MaxConcurrent}
		at := now()
		for _, j := range s.planner.jobs {
			if !of(j) {
				continue
			}
			out.Count++
			if j.run != nil {
				out.RunningCount++
			}
			next := j.State.NextRunAtMs
			if j.Enabled && next > 0 && (out.NextRunAtMs == 0 || next < out.NextRunAtMs) {
				out.NextRunAtMs = next
			}
			if j.isDue(at) {
				out.DueCount++
			}
		}
		return nil
	})
	return out, err
}

// ofAgent returns a filter for the jobs of an agent, or of all agents when agent is empty.
func ofAgent(agent protocol.AgentID) (func(*job) bool, error) {
	if agent == "" {
		return func(*job) bool { return true }, nil
	}
	agent, err := protocol.ParseAgentID(agent)
	return func(j *job) bool { return j.AgentID == agent }, err
}

// checkPage checks the offset and the limit of a page, and returns the limit to use.
func checkPage(offset int, requested *int, usual, most int) (limit int, err error) {
	limit = usual
	set(&limit, requested)
	switch {
	case limit < 1 || limit > most:
		return 0, protocol.ErrBadRequest.With(fmt.Sprintf("limit must be a number from 1 to %d", most))
	case offset < 0:
		return 0, protocol.ErrBadRequest.With("offset must not be negative")
	}
	return limit, nil
}

// List returns a page of the jobs.
func (s *Scheduler) List(ctx context.Context, in protocol.CronListParams) (out protocol.CronListResult, err error) {
	limit, err := checkPage(in.Offset, in.Limit, 200, 500)
	if err != nil {
		return out, err
	}
	of, err := ofAgent(in.AgentID)
	if err != nil {
		return out, err
	}
	out.Jobs = []protocol.CronJob{}
	err = s.do(ctx, func() error {
		for _, j := range s.planner.sortedJobs() {
			if !of(j) || !j.Enabled && in.IncludeDisabled != nil && !*in.IncludeDisabled {
				continue
			}
			if out.Count >= in.Offset && len(out.Jobs) < limit {
				shown := j.Job.CronJob
				shown.State.NeedsApproval = j.run != nil && j.run.waiting
				shown.Note = repeat.Caution(j.Schedule.Expr)
				out.Jobs = append(out.Jobs, shown)
			}
			out.Count++
		}
		return nil
	})
	return out, err
}

// Preview returns the next runs of a schedule. A one-time schedule has one, unless it is over.
func (s *Scheduler) Preview(_ context.Context, in protocol.CronPreviewParams) (out protocol.CronPreviewResult, err error) {
	if in.Schedule == nil {
		return out, protocol.ErrBadRequest.With("schedule required")
	}
	count := cmp.Or(in.Count, 3)
	if count < 1 || count > 50 {
		return out, protocol.ErrBadRequest.With("count must be a number from 1 to 50")
	}
	zone := s.o.zone()
	sched, err := s.resolveSchedule(*in.Schedule)
	if err == nil {
		sched, err = checkSchedule(sched, zone)
	}
	if err != nil {
		return out, bad(err)
	}
	out = protocol.CronPreviewResult{Schedule: sched, TimeZone: cmp.Or(sched.TZ, zone.String()), NextRunsMs: []int64{}}
	at := now()
	base, last := at, at
	for len(out.NextRunsMs) < count {
		next := nextRun(sched, base, last, zone)
		if next <= last { // none, or the time of a one-time schedule
			break
		}
		out.NextRunsMs, last = append(out.NextRunsMs, next), next
	}
	return out, nil
}

// Runs returns a page of the history.
func (s *Scheduler) Runs(ctx context.Context, in protocol.CronRunsParams) (protocol.CronRunsResult, error) {
	out := protocol.CronRunsResult{Runs: []protocol.CronRun{}}
	limit, err := checkPage(in.Offset, in.Limit, 200, 2000)
	if err != nil {
		return out, err
	}
	list, total, err := s.o.Stores.Jobs.FinishedRuns(ctx, in.JobID, in.Offset, limit)
	out.Count = total
	if err != nil {
		return out, err
	}
	ids := make([]protocol.RunID, len(list))
	for i, r := range list {
		ids[i] = r.Run
	}
	denied, err := s.o.Stores.Calls.DeniedCounts(ctx, ids)
	for _, r := range list {
		out.Runs = append(out.Runs, protocol.CronRun{
			ID: r.ID, JobID: r.Job, Ts: r.StartedAt, Status: r.Status, Error: r.Error, Summary: r.Summary,
			DurationMs: max(r.EndedAt-r.StartedAt, 0), NextRunAtMs: r.NextRunAt, DueAtMs: r.Due, SessionKey: r.Session, RunID: r.Run,
			Denied: denied[r.Run],
		})
	}
	return out, err
}

// RunNow runs a job, or all due jobs, and waits for their ends unless Wait is false. When ctx is
// cancelled the runs continue.
func (s *Scheduler) RunNow(ctx context.Context, in protocol.CronRunParams) (protocol.CronRunNowResult, error) {
	out := protocol.CronRunNowResult{OK: true, Results: []protocol.CronRunResult{}}
	force := in.Mode == protocol.CronRunForce
	switch {
	case in.Mode != "" && in.Mode != protocol.CronRunDue && !force:
		return out, protocol.ErrBadRequest.With(fmt.Sprintf("mode must be due or force, not %.20q", in.Mode))
	case force && in.ID == "":
		return out, protocol.ErrBadRequest.With("cron.run with mode=force requires id")
	}
	add := func(res protocol.CronRunResult) {
		if res.Status != protocol.CronSkipped {
			out.Ran++
		}
		out.Results = append(out.Results, res)
	}
	var wanted, joined []*running
	err := s.do(ctx, func() error {
		if in.ID != "" && s.planner.jobs[in.ID] == nil {
			return unknown(in.ID)
		}
		at := now()
		for _, j := range s.planner.sortedJobs() {
			switch {
			case in.ID != "" && j.ID != in.ID:
			case force && j.run != nil && j.Schedule.Kind == protocol.CronAt:
				joined = append(joined, j.run) // its only time has come just now
			case force && j.run != nil:
				add(protocol.CronRunResult{
					JobID: j.ID, Status: protocol.CronSkipped, Error: "It is already running.", NextRunAtMs: j.State.NextRunAtMs,
				})
			case force || j.isDue(at) && s.o.Config().Cron.Enabled:
				wanted = append(wanted, newRun(j.ID, force))
			}
		}
		s.planner.requests = append(s.planner.requests, wanted...)
		if s.planner.ready {
			s.planner.serveRequests(at)
		}
		wanted = append(wanted, joined...)
		if in.Wait != nil && !*in.Wait {
			for _, r := range wanted {
				if r.err != nil {
					return r.err
				}
				add(r.progress())
			}
			wanted = nil
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	for _, r := range wanted {
		res, err := s.await(ctx, r)
		if err != nil {
			return out, err
		}
		add(res)
	}
	return out, nil
}

// await waits for the end of a run.
func (s *Scheduler) await(ctx context.Context, r *running) (protocol.CronRunResult, error) {
	select {
	case <-r.done:
		return r.result, r.err
	case <-s.ended:
		return protocol.CronRunResult{}, errStopping
	case <-ctx.Done():
		return protocol.CronRunResult{}, ctx.Err()
	}
}
