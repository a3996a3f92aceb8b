// Package cron runs the agent on schedules: jobs at a time, at an interval or by a cron expression,
// and the heartbeat. Jobs and their runs are in the store. One goroutine, that of [Scheduler.Run],
// owns the timer and makes every decision.
//
// A run is stored before it begins, so that each due time runs at most once, even after a crash.
// The next start continues runs that a crash interrupted.
package cron

import (
	"context"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Stores are the tables that schedules use.
type Stores struct {
	Jobs       *store.Jobs
	Heartbeats *store.Heartbeats
	Runs       *store.Runs
	Messages   *store.Messages
	Questions  *store.Questions
	Calls      *store.Calls
}

// Chats are the chats in which jobs run.
type Chats interface {
	Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error)
	Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error)
}

// Messages accepts the messages of jobs to the agent.
type Messages interface {
	Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error)
}

// Runs are the agent's runs.
type Runs interface {
	Cancel(ctx context.Context, in protocol.ChatCancelParams) (protocol.ChatCancelResult, error)
	// Stats returns a chat's counters.
	Stats(ctx context.Context, in protocol.SessionParams) (protocol.SessionStats, error)
}

// Trash deletes the chats of old runs.
type Trash interface {
	Delete(ctx context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error)
}

// Delivery is an answer for the person on a channel. Without Channel and To it goes to where they
// wrote last.
type Delivery struct {
	Agent       protocol.AgentID
	Channel, To string
	Text        string
}

// IsAddressed reports whether the delivery names its receiver.
func (d Delivery) IsAddressed() bool { return d.Channel != "" || d.To != "" }

// Options configure a scheduler. All fields except LastActive are required.
type Options struct {
	Stores   Stores
	Bus      *event.Bus
	Chats    Chats
	Messages Messages
	Runs     Runs
	Trash    Trash
	// PromptTokens estimates the tokens of the system prompt and the tools in a chat.
	PromptTokens func(ctx context.Context, key protocol.SessionKey) int64
	Config       func() config.Config
	// Deliver sends an answer to the person over a channel and returns a description of where; "" if
	// it names no receiver and they write over none. It may block.
	Deliver func(ctx context.Context, d Delivery) (where string, err error)
	// Ask publishes an approval, calls put, and waits for the approval's end.
	Ask func(ctx context.Context, a protocol.Question, limit time.Duration, put func()) (protocol.Question, error)
	// HeartbeatFile reads an agent's HEARTBEAT.md. It returns fs.ErrNotExist without one.
	HeartbeatFile func(agent protocol.AgentID) (string, error)
	// LastActive returns the channel on which the person wrote last, or nil.
	LastActive func(ctx context.Context, agent protocol.AgentID) *protocol.LastActive
}

// maxSleep is the longest sleep of the loop while there are jobs: timers stop while the machine
// sleeps, and the wall clock may be set forward.
const maxSleep = time.Minute

// zone returns the person's time zone. A schedule cannot name the zone Local, so it counts as UTC.
func (o *Options) zone() *time.Location {
	if zone := o.Config().Zone(); zone != time.Local {
		return zone
	}
	return time.UTC
}

func (o *Options) mainSession(agent protocol.AgentID) protocol.SessionKey {
	return o.Config().Session.Main(agent)
}

// Scheduler runs jobs and heartbeats. It is safe for concurrent use. Call Load, then Run, once.
type Scheduler struct {
	*loop
	o          *Options
	planner    *planner
	heartbeats *heartbeats
	wake       wake.Signal // holds a token when the loop should check again
}

// New returns a scheduler.
func New(o Options) *Scheduler {
	l := &loop{inbox: make(chan func()), ended: make(chan struct{})}
	x := &runner{&o}
	return &Scheduler{
		loop: l, o: &o, wake: wake.New(),
		planner:    &planner{loop: l, o: &o, runner: x, jobs: make(map[protocol.CronJobID]*job)},
		heartbeats: &heartbeats{loop: l, o: &o, runner: x, beats: make(map[protocol.AgentID]*beat)},
	}
}

// Load reads the jobs from the store.
func (s *Scheduler) Load(ctx context.Context) error {
	jobs, err := s.o.Stores.Jobs.List(ctx)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		j.State.RunningAtMs = 0 // Run resumes a run that an earlier start left
		s.planner.jobs[j.ID] = &job{Job: j}
	}
	beats, err := s.o.Stores.Heartbeats.List(ctx)
	if err != nil {
		return err
	}
	for _, b := range beats {
		s.heartbeats.beats[b.AgentID] = &beat{state: b}
	}
	return nil
}

// Run executes the scheduler until ctx is cancelled and everything that it started has stopped.
// Runs of the agent continue in their sessions. No run starts before ready is closed.
func (s *Scheduler) Run(ctx context.Context, ready <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer close(s.ended)
	defer s.wg.Wait()
	defer cancel()
	s.ctx = ctx
	p := s.planner
	p.last = now()
	p.realign(p.last)
	for {
		var alarm <-chan time.Time
		if p.ready && ctx.Err() == nil {
			wait := retryAfter
			crash.Run("schedules", func() { wait = s.tick() })
			if wait > 0 {
				alarm = time.After(wait)
			}
		}
		if s.changed {
			s.changed = false
			s.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeSchedules})
		}
		select {
		case f := <-s.inbox:
			f()
		case <-s.wake:
			crash.Run("schedules", func() { p.realign(now()) })
		case <-alarm:
		case <-ready:
			ready, p.ready = nil, true
			crash.Run("schedules", p.resume)
		case <-ctx.Done():
			return
		}
	}
}

// tick starts what is due and returns the time to sleep; 0 means until something changes.
func (s *Scheduler) tick() time.Duration {
	at := now()
	next := s.planner.tick(at)
	longest := maxSleep
	if next == 0 {
		longest = 10 * maxSleep // heartbeats may be that late after a sleep
	}
	if beat := s.heartbeats.tick(at); beat > 0 && (next == 0 || beat < next) {
		next = beat
	}
	if next == 0 {
		return 0
	}
	return min(max(time.Duration(next-at)*time.Millisecond, time.Millisecond), longest)
}

// ConfigChanged makes Run follow a changed setting. It does not wait.
func (s *Scheduler) ConfigChanged(string) {
	s.wake.Send()
}

func now() int64 { return time.Now().UnixMilli() }

// loop passes functions to the goroutine that owns all state.
type loop struct {
	inbox chan func()
	ended chan struct{} // closed when the goroutine ends

	ctx     context.Context // of the goroutine; set before the first function runs
	wg      crash.Group     // what the goroutine has started
	changed bool            // a schedule or heartbeat has changed since this was published
}

var errStopping = protocol.ErrUnavailable.With("the gateway is stopping")

// do runs f on the loop's goroutine and waits for its result.
func (l *loop) do(ctx context.Context, f func() error) error {
	result := make(chan error, 1)
	select {
	case l.inbox <- func() { result <- crash.Call("schedules", f) }:
		return <-result
	case <-l.ended:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// report passes f to the loop from another goroutine. f is dropped when the loop has ended.
func (l *loop) report(f func()) {
	select {
	case l.inbox <- func() { crash.Run("schedules", f) }:
	case <-l.ctx.Done():
	}
}
