package cron

import (
	"context"
	"reflect"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Sessions are the conversations in which jobs run.
type Sessions interface {
	Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error)
	Cancel(ctx context.Context, in protocol.ChatCancelParams) (protocol.ChatCancelResult, error)
	Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error)
	Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error)
	Delete(ctx context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error)
	Stats(ctx context.Context, in protocol.SessionParams) (protocol.SessionStats, error)
}

// Delivery is an answer to be delivered to the person. With empty Channel and To it goes to where
// the person wrote last.
type Delivery struct {
	Agent       protocol.AgentID
	Name        string // the job's name, or "Heartbeat"
	Channel, To string
	Text        string
	From        protocol.SessionKey // the chat that produced the answer
	Seen        bool                // the main chat already has it, so it is only sent to a channel, if the person wrote over one
}

// Options configure a scheduler. All fields except LastActive are required.
type Options struct {
	Store  *store.DB
	Bus    *event.Bus
	Config func() config.Config
	// Deliver delivers an answer to the person and returns a description of where. It may block.
	Deliver func(ctx context.Context, d Delivery) (where string, err error)
	// Ask publishes an approval, calls put, and waits for the approval's end.
	Ask func(ctx context.Context, a protocol.Approval, limit time.Duration, put func()) (protocol.Approval, error)
	// HeartbeatFile reads an agent's HEARTBEAT.md. It returns fs.ErrNotExist when there is no such
	// file.
	HeartbeatFile func(agent protocol.AgentID) (string, error)
	// LastActive returns the channel on which the person wrote last; nil means none yet.
	LastActive func(ctx context.Context, agent protocol.AgentID) *protocol.LastActive
}

const (
	// lookAgain is the longest sleep of the loop while there are jobs: timers stop while the
	// machine sleeps, and the wall clock may be set forward.
	lookAgain = time.Minute
	// grace is the delay up to which a run counts as on time.
	grace = 2 * time.Minute
	// retryAfter is the delay before a retry when a job's start could not be stored.
	retryAfter = time.Minute
	// maxCatchUp is the largest number of missed times that MissedAll runs.
	maxCatchUp = 100
)

// Scheduler runs jobs and heartbeats. It is safe for concurrent use. Call Serve and Load, then Run,
// each once.
type Scheduler struct {
	o        Options
	sessions Sessions
	inbox    chan func()
	wake     chan struct{} // holds a token when the loop should check again
	ended    chan struct{} // closed when Run returns

	// The fields below belong to Run's goroutine, and to Load before it.
	ctx      context.Context
	wg       sync.WaitGroup
	jobs     map[protocol.CronJobID]*job
	requests []*request
	beats    map[protocol.AgentID]*beat
	ready    bool
	last     int64 // the wall clock at the last check

	// The state at the last published change of schedules.
	told       bool
	shown      []protocol.CronJob
	shownBeats map[protocol.AgentID]protocol.HeartbeatState
}

// job is a job with its state in memory.
type job struct {
	store.Job
	run     *running  // nil when the job is not running
	asking  *question // not nil while the person is asked about missed times
	onTime  int64     // a due time that came on time but without a free slot
	retryAt int64
}

// running is a run in progress.
type running struct {
	store.JobRun
	waiting bool          // for an approval; it occupies no slot
	done    chan struct{} // closed when result is set
	result  protocol.CronRunResult
}

// request is a requested run of a job.
type request struct {
	id    protocol.CronJobID
	force bool
	began chan *running // receives the run once, or nil when there will be none
}

// New returns a scheduler. Serve connects it to the sessions.
func New(o Options) *Scheduler {
	return &Scheduler{
		o: o, inbox: make(chan func()), wake: make(chan struct{}, 1), ended: make(chan struct{}),
		jobs: make(map[protocol.CronJobID]*job), beats: make(map[protocol.AgentID]*beat),
	}
}

// Serve connects the scheduler to the sessions. Call it once, before Run. It is separate from New
// because the sessions need the tools first, and gsv__Cron is one of them.
func (s *Scheduler) Serve(sessions Sessions) { s.sessions = sessions }

// Load reads the jobs from the store.
func (s *Scheduler) Load(ctx context.Context) error {
	jobs, err := s.o.Store.Jobs.List(ctx)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		j.State.RunningAtMs = 0 // Run resumes a run that an earlier start left
		s.jobs[j.ID] = &job{Job: j}
	}
	beats, err := s.o.Store.Heartbeats.List(ctx)
	if err != nil {
		return err
	}
	for _, b := range beats {
		s.beats[b.AgentID] = &beat{state: b}
	}
	return nil
}

// Run executes the scheduler until ctx is cancelled and everything that it started has stopped.
// Runs of the agent continue in their sessions and are resumed by the next start. No run starts
// before ready is closed; all other requests are served at once.
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
		s.tell()
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

// tell publishes a change when schedules or heartbeats have changed.
func (s *Scheduler) tell() {
	shown := []protocol.CronJob{}
	for _, j := range s.byNextRun() {
		shown = append(shown, j.Job.CronJob)
	}
	beats := make(map[protocol.AgentID]protocol.HeartbeatState)
	for id, b := range s.beats {
		beats[id] = b.state
	}
	if s.told && reflect.DeepEqual(shown, s.shown) && reflect.DeepEqual(beats, s.shownBeats) {
		return
	}
	if s.told {
		s.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeSchedules})
	}
	s.shown, s.shownBeats, s.told = shown, beats, true
}

// Wake makes the scheduler read the configuration again.
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

// report passes f to the loop from another goroutine. f is dropped when the loop has ended.
func (s *Scheduler) report(f func()) {
	select {
	case s.inbox <- f:
	case <-s.ctx.Done():
	}
}

func now() int64 { return time.Now().UnixMilli() }
