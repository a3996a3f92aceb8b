package job

import (
	"context"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

// Limits of calls.
const (
	// OutcomeTime is how long the outcome of a call that waited for the person, or that has an
	// idempotency key, can be fetched.
	OutcomeTime = 10 * time.Minute
	maxJobs     = 4096
	// MaxOfCaller leaves room for other callers.
	MaxOfCaller = maxJobs / 4
)

// Jobs are the calls in progress and the outcomes that somebody may still fetch. A call that waits
// for the person goes on without its caller. It is safe for concurrent use.
type Jobs struct {
	config  func() config.Config
	limits  limits
	workers *crash.Workers

	mu      sync.Mutex // guards the fields below
	running map[string]*Job
	count   map[string]int // of the running ones, by owner
}

// New returns Jobs. Close ends them.
func New(c func() config.Config) *Jobs {
	return &Jobs{config: c, workers: crash.NewWorkers(), running: make(map[string]*Job), count: make(map[string]int)}
}

// Close cancels the running calls and waits for them.
func (s *Jobs) Close() { s.workers.Close(nil) }

// Run runs a call, or joins the same one, and blocks until it ends, or until the person has not
// answered for a while. Its error is a *protocol.Fault.
func (s *Jobs) Run(ctx context.Context, r Request, run func(context.Context, *Job) (Result, error)) (Result, error) {
	j, err := s.join(r, run)
	if err != nil {
		return Result{}, err
	}
	return s.await(ctx, j, r.Emit)
}

// Outcome returns the result of a call of p that waited for the person. Its error is a
// *protocol.Fault; approval_required while the person has still not answered.
func (s *Jobs) Outcome(ctx context.Context, p auth.Principal, id protocol.CallID) (Result, error) {
	j := s.byCall(p, id)
	if j == nil {
		return Result{}, errNotWaiting
	}
	return s.await(ctx, j, nil)
}

// Withdraw cancels a call of p that waits for the person, and with it the question. It returns the
// call's outcome: the failure canceled, unless the call had ended before.
func (s *Jobs) Withdraw(ctx context.Context, p auth.Principal, id protocol.CallID) (Result, error) {
	j := s.byCall(p, id)
	if j == nil {
		return Result{}, errNotWaiting
	}
	j.cancel()
	return s.await(ctx, j, nil)
}

var errNotWaiting = protocol.NewFault(protocol.FaultNotFound, "no call with this ID waits for its outcome")

// CancelOf cancels the calls of an app, and with them the questions to the person. It does not wait
// for their ends.
func (s *Jobs) CancelOf(id protocol.AppID) {
	s.cancelAll(func(j *Job) bool { return j.owner == string(id) })
}

// Limit cancels the calls of a caller that its present rights p do not allow. It does not wait for
// their ends.
func (s *Jobs) Limit(p auth.Principal) {
	s.cancelAll(func(j *Job) bool { return j.owner == p.Caller() && !j.isAllowed(p) })
}

func (s *Jobs) cancelAll(isMeant func(*Job) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.running {
		if isMeant(j) {
			j.cancel()
		}
	}
}

// join returns the job of the same call, or starts one in the background if the limits allow it.
func (s *Jobs) join(r Request, run func(context.Context, *Job) (Result, error)) (*Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := identify(r)
	j, err := s.find(id)
	if j != nil || err != nil {
		return j, err
	}
	if len(s.running) >= maxJobs || s.count[id.owner] >= MaxOfCaller || !s.workers.Begin() {
		return nil, protocol.NewFault(protocol.FaultResourceExhausted, "too many calls are in progress, or have outcomes that are kept").With(map[string]int{"retry_after_ms": 1000})
	}
	defer s.workers.Done()
	release, err := s.limits.take(s.config().API, r)
	if err != nil {
		return nil, err
	}
	return s.start(id, release, run), nil
}

// find returns the job of the same call, if there is one: with the same idempotency key, or one
// that waits for the person and whose caller has gone. The caller holds mu.
func (s *Jobs) find(id identity) (*Job, error) {
	j := s.running[id.slot()]
	switch {
	case j == nil:
		return nil, nil
	case id.key != "" && j.hash != id.hash:
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "this idempotency key was used for another call")
	case id.key == "" && !j.isKept():
		return nil, nil // the same call at the same time is another call
	case id.key != "" && j.canRunAgain():
		s.removeLocked(j)
		return nil, nil
	}
	return j, nil
}

// start runs a call in the background, and calls release at its end. The caller holds mu.
func (s *Jobs) start(id identity, release func(), run func(context.Context, *Job) (Result, error)) *Job {
	ctx, cancel := context.WithCancel(s.workers.Context())
	j := &Job{identity: id, slot: id.slot(), cancel: cancel, done: make(chan struct{}), news: wake.New()}
	if s.running[j.slot] != nil {
		j.slot += " " + protocol.NewID()
	}
	s.running[j.slot] = j
	s.count[j.owner]++
	s.workers.Go(func() {
		defer cancel()
		if err := crash.Run("call", func() { j.result, j.err = run(ctx, j) }); err != nil {
			j.err = protocol.NewFault(protocol.FaultInternal, err.Error())
		}
		release()
		isLost := j.finish()
		close(j.done)
		if isLost {
			j.lose()
		}
		if j.key != "" || j.isKept() {
			crash.AfterFunc(OutcomeTime, func() { s.expire(j) })
			return
		}
		s.remove(j)
	})
	return j
}

// forgetFetched forgets the outcome of a call that waited for the person. One with an idempotency key
// stays for repetitions.
func (s *Jobs) forgetFetched(j *Job) {
	j.mu.Lock()
	j.isFetched = true
	j.mu.Unlock()
	if j.key == "" {
		s.remove(j)
	}
}

// expire forgets an outcome that was kept for somebody.
func (s *Jobs) expire(j *Job) {
	s.remove(j)
	j.mu.Lock()
	isLost := !j.isFetched
	j.mu.Unlock()
	if isLost {
		j.lose()
	}
}

func (s *Jobs) remove(j *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(j)
}

func (s *Jobs) removeLocked(j *Job) {
	if s.running[j.slot] != j {
		return
	}
	delete(s.running, j.slot)
	if s.count[j.owner]--; s.count[j.owner] == 0 {
		delete(s.count, j.owner)
	}
}

// byCall returns the job of p that goes on without its caller, after a call with a question; nil if
// no job does.
func (s *Jobs) byCall(p auth.Principal, id protocol.CallID) *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.running {
		if j.isWaitingFor(p, id) {
			return j
		}
	}
	return nil
}
