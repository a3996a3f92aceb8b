package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Sessions are the conversations that jobs run in.
type Sessions interface {
	Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error)
	Cancel(ctx context.Context, in protocol.ChatCancelParams) (protocol.ChatCancelResult, error)
	Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error)
	Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error)
	Delete(ctx context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error)
	Stats(ctx context.Context, in protocol.SessionParams) (protocol.SessionStats, error)
}

// Delivery is an answer on its way to the person. Empty Channel and To mean where the person wrote last.
type Delivery struct {
	Agent       protocol.AgentID
	Name        string // of the job; "Heartbeat"
	Channel, To string
	Text        string
	From        protocol.SessionKey // where the answer was given
}

// Options are what a scheduler needs. All fields but LastActive are required.
type Options struct {
	Store  *store.Store
	Bus    *event.Bus
	Config func() config.Config
	// Deliver brings an answer to the person and says where it went, in words. It may block.
	Deliver func(ctx context.Context, d Delivery) (where string, err error)
	// Ask puts a question and waits for its end.
	Ask func(ctx context.Context, a protocol.Approval, limit time.Duration) (protocol.Approval, error)
	// HeartbeatFile reads an agent's HEARTBEAT.md; fs.ErrNotExist says that there is none.
	HeartbeatFile func(agent protocol.AgentID) (string, error)
	// LastActive says where the person wrote last; nil is no channel yet.
	LastActive func(agent protocol.AgentID) *protocol.LastActive
}

const (
	// lookAgain is how long the loop sleeps at most while there are jobs: timers stand still while the machine sleeps, and the wall clock may
	// be put forward.
	lookAgain = time.Minute
	// grace is how late a run may begin and still count as on time.
	grace = 2 * time.Minute
	// retryAfter is how long a job waits when its start could not be written down.
	retryAfter = time.Minute
	// maxCatchUp is how many missed times MissedAll makes up for.
	maxCatchUp = 100
)

// Scheduler runs jobs and heartbeats. It is safe for use by many goroutines. Serve and Load, then Run, each once.
type Scheduler struct {
	o        Options
	sessions Sessions
	inbox    chan func()
	wake     chan struct{} // holds a token when the loop should look again
	ended    chan struct{} // closed when Run returns

	// What follows belongs to Run's goroutine, and to Load before it.
	ctx      context.Context
	wg       sync.WaitGroup
	jobs     map[protocol.CronJobID]*job
	requests []*request
	beats    map[protocol.AgentID]*beat
	ready    bool
	last     int64 // the wall clock when it was last looked at
}

// job is a job with what the loop knows of it.
type job struct {
	store.CronJob
	run     *running  // nil when it does not run
	asking  *question // not nil while the person is asked whether to make up for missed times
	onTime  int64     // the due time that was seen in time, though no slot was free
	retryAt int64
}

// running is a run in progress.
type running struct {
	store.CronRun
	waiting bool          // for the person: it takes no slot
	done    chan struct{} // closed when result is set
	result  protocol.CronRunResult
}

// request is a run that somebody asked for.
type request struct {
	id    protocol.CronJobID
	force bool
	began chan *running // gets the run once, nil when there will be none
}

// New makes a scheduler. Serve gives it the chats.
func New(o Options) *Scheduler {
	return &Scheduler{o: o, inbox: make(chan func()), wake: make(chan struct{}, 1), ended: make(chan struct{}),
		jobs: make(map[protocol.CronJobID]*job), beats: make(map[protocol.AgentID]*beat)}
}

// Serve gives the scheduler the chats, once, before Run: the chats need the tools first, and gsv__Cron is one.
func (s *Scheduler) Serve(sessions Sessions) { s.sessions = sessions }

// Load reads the jobs.
func (s *Scheduler) Load(ctx context.Context) error {
	jobs, err := s.o.Store.CronJobs(ctx)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		j.State.RunningAtMs = 0 // a run that an earlier start left is taken up by Run
		s.jobs[j.ID] = &job{CronJob: j}
	}
	beats, err := s.o.Store.Heartbeats(ctx)
	if err != nil {
		return err
	}
	for _, b := range beats {
		s.beats[b.AgentID] = &beat{state: b}
	}
	return nil
}

// Run works until ctx ends and what it started has stopped; runs of the agent go on in their sessions and are taken up by the next start.
// Nothing is started before ready is closed; everything else is served at once.
func (s *Scheduler) Run(ctx context.Context, ready <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer close(s.ended)
	defer s.wg.Wait()
	defer cancel()
	s.ctx = ctx
	s.last = now()
	s.realign(s.last)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := time.Duration(0)
		if s.ready && ctx.Err() == nil {
			wait = s.tick()
		}
		timer.Stop()
		var alarm <-chan time.Time
		if wait > 0 {
			timer.Reset(wait)
			alarm = timer.C
		}
		select {
		case f := <-s.inbox:
			f()
		case <-s.wake:
			s.realign(now())
		case <-alarm:
		case <-ready:
			ready, s.ready = nil, true
			s.takeUp()
		case <-ctx.Done():
			for _, r := range s.requests {
				r.began <- nil
			}
			return
		}
	}
}

// Wake makes the scheduler look at the configuration again.
func (s *Scheduler) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

var errStopping = protocol.ErrUnavailable.With("the gateway stops")

// do runs f on the loop's goroutine and waits for it.
func (s *Scheduler) do(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case s.inbox <- func() { defer close(done); f() }:
		<-done
		return nil
	case <-s.ended:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// report hands f to the loop from a goroutine of its own; it is lost when the loop has ended.
func (s *Scheduler) report(f func()) {
	select {
	case s.inbox <- f:
	case <-s.ctx.Done():
	}
}

func now() int64 { return time.Now().UnixMilli() }

// zone is the person's time zone; an unknown one is UTC, as in the original.
func (s *Scheduler) zone() *time.Location {
	zone, err := time.LoadLocation(s.o.Config().UserTimezone)
	if err != nil || s.o.Config().UserTimezone == "Local" {
		return time.UTC
	}
	return zone
}

// tick starts what is due and returns how long to sleep; 0 is until something changes.
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
					j.onTime = due // a run's end wakes the loop
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
		longest = 10 * lookAgain // heartbeats may be late by that after a sleep
	}
	sooner(s.tickBeats(at))
	if next == 0 {
		return 0
	}
	return min(max(time.Duration(next-at)*time.Millisecond, time.Millisecond), longest)
}

// slots is how many more runs may work at once. One that waits for the person does not work: else a few questions that nobody answers would
// hold up everything.
func (s *Scheduler) slots() int {
	n := s.o.Config().Cron.MaxConcurrent
	for _, j := range s.jobs {
		if j.run != nil && !j.run.waiting {
			n--
		}
	}
	return n
}

// byNextRun lists the jobs in the order in which they run; those that never do come last.
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

// realign works out anew when recurring jobs come next, where that still lies ahead: the clock may have been put back, or the person's time
// zone changed.
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

// put stores a job; when that fails the job goes on from memory and is stored at its next change.
func (s *Scheduler) put(j *job) {
	if err := s.o.Store.PutCronJob(context.WithoutCancel(s.ctx), j.CronJob); err != nil {
		slog.Error("A job could not be stored", "job", j.ID, "err", err)
	}
}

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

// serveRequests starts the runs that somebody asked for, as far as there are slots.
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

// start writes a run down and begins it. due 0 is a run outside the schedule. A due time that was served already only moves the job on.
func (s *Scheduler) start(j *job, due, at int64) error {
	r := store.CronRun{Job: j.ID, Due: due, Run: protocol.RunID(protocol.NewID()), StartedAt: at, Session: mainSession(j.AgentID)}
	if j.Spec.Mode == protocol.CronTask {
		r.Session = protocol.SessionKey(fmt.Sprintf("agent:%s:cron:%s:%s", j.AgentID, j.ID, r.Run))
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
	j.State.RunningAtMs, j.State.LastRunAtMs = 0, run.StartedAt
	j.State.LastStatus, j.State.LastError, j.State.LastDurationMs = end.status, end.err, &took
	remove := false
	if j.Schedule.Kind == protocol.CronAt {
		j.Enabled, j.State.NextRunAtMs = false, 0
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
		if key == mainSession(j.AgentID) {
			continue
		}
		s.wg.Go(func() {
			_, err := s.sessions.Delete(s.ctx, protocol.SessionParams{SessionKey: key})
			if err != nil && !errors.Is(err, protocol.ErrNotFound) && s.ctx.Err() == nil {
				slog.Warn("The chat of an old run could not be removed", "session", key, "err", err)
			}
		})
	}
}

func mainSession(agent protocol.AgentID) protocol.SessionKey {
	return protocol.SessionKey("agent:" + string(agent) + ":main")
}
