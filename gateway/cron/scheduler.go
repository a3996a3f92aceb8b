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
	Seen        bool                // it stands in the main chat already: only a channel is left, when the person wrote over one
}

// Options are what a scheduler needs. All fields but LastActive are required.
type Options struct {
	Store  *store.Store
	Bus    *event.Bus
	Config func() config.Config
	// Deliver brings an answer to the person and says where it went, in words. It may block.
	Deliver func(ctx context.Context, d Delivery) (where string, err error)
	// Ask puts a question and waits for its end.
	Ask func(ctx context.Context, a protocol.Approval, limit time.Duration, put func()) (protocol.Approval, error)
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

	// What was told last to those who show schedules.
	told       bool
	shown      []protocol.CronJob
	shownBeats map[protocol.AgentID]protocol.HeartbeatState
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
	return &Scheduler{
		o: o, inbox: make(chan func()), wake: make(chan struct{}, 1), ended: make(chan struct{}),
		jobs: make(map[protocol.CronJobID]*job), beats: make(map[protocol.AgentID]*beat),
	}
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

// tell lets those who show schedules know when there is something new.
func (s *Scheduler) tell() {
	shown := []protocol.CronJob{}
	for _, j := range s.byNextRun() {
		shown = append(shown, j.CronJob.CronJob)
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
