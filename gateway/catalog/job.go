package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// Limits of calls.
const (
	// keepOutcome is how long the outcome of a call that waited for the person, or that has an
	// idempotency key, can be fetched.
	keepOutcome = 10 * time.Minute
	maxJobs     = 4096
	maxOfCaller = maxJobs / 4 // so that one caller leaves room for others
)

// jobs are the calls in progress and the outcomes that somebody may still fetch. A call that waits
// for the person goes on without its caller.
type jobs struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     crash.Group
	lost   func(*job) // ends what a call has opened whose result nobody gets

	mu      sync.Mutex // guards the fields below
	running map[string]*job
	count   map[string]int // of the running ones, by owner
}

// identity says which calls are the same call.
type identity struct {
	owner string
	key   string // idempotency key; empty for none
	hash  string // of the tool and its arguments
	need  []protocol.Scope
}

// slot is the identity's key in the map of jobs.
func (i identity) slot() string {
	if i.key != "" {
		return i.owner + " key " + i.key
	}
	return i.owner + " call " + i.hash
}

func identify(p auth.Principal, r Request, need []protocol.Scope) identity {
	sum := sha256.Sum256(append([]byte(r.Tool+"\x00"), r.Args...))
	return identity{p.Caller(), r.IdempotencyKey, hex.EncodeToString(sum[:]), need}
}

// job is a call. Its goroutine owns the fields result and err until done is closed.
type job struct {
	identity
	slot   string
	cancel context.CancelFunc
	done   chan struct{}
	result Result
	err    error

	news chan struct{} // capacity 1: parts or waiting changed

	mu      sync.Mutex // guards the fields below
	parts   []Part
	waiting *Waiting          // the question that the person has not answered yet; nil without one
	asked   []protocol.CallID // calls that the person was asked about
	keep    bool              // the outcome stays after the call, because its caller has gone
	callers int
	machine protocol.NodeID // that it calls; empty before
	opened  []string        // IDs of the sessions that the call has begun

	isOver, isAbandoned, isFetched bool // it has ended; its callers have gone; one has got its result
}

func (j *job) openedIDs() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.opened
}

// close cancels the jobs, and waits for them.
func (s *jobs) close() {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.wg.Wait()
}

// spawn runs f in the background, until close.
func (s *jobs) spawn(f func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.wg.Go(func() { f(s.ctx) })
	}
}

// join returns the job of the same call, or starts one in the background if admit allows it. The
// release that admit returned is called when the new job ends.
func (s *jobs) join(id identity, admit func() (release func(), err error), run func(context.Context, *job) (Result, error)) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(id)
	if j != nil || err != nil {
		return j, err
	}
	if s.ctx.Err() != nil || len(s.running) >= maxJobs || s.count[id.owner] >= maxOfCaller {
		return nil, protocol.NewFault(protocol.FaultResourceExhausted, "too many calls are in progress, or have outcomes that are kept").With(map[string]int{"retry_after_ms": 1000})
	}
	release, err := admit()
	if err != nil {
		return nil, err
	}
	return s.start(id, release, run), nil
}

// find returns the job of the same call, if there is one: with the same idempotency key, or one
// that waits for the person and whose caller has gone. The caller holds mu.
func (s *jobs) find(id identity) (*job, error) {
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

// canRunAgain reports whether the call has failed for a reason that may pass, and surely without an
// effect: repeating it with its idempotency key is what the program should do.
func (j *job) canRunAgain() bool {
	select {
	case <-j.done:
		f, ok := errors.AsType[*protocol.Fault](j.err)
		return ok && f.Retryable && !j.isKept()
	default:
		return false
	}
}

func (j *job) isKept() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.keep
}

// start runs a call in the background. The caller holds mu.
func (s *jobs) start(id identity, release func(), run func(context.Context, *job) (Result, error)) *job {
	ctx, cancel := context.WithCancel(s.ctx)
	j := &job{identity: id, slot: id.slot(), cancel: cancel, done: make(chan struct{}), news: make(chan struct{}, 1)}
	if s.running[j.slot] != nil {
		j.slot += " " + protocol.NewID()
	}
	s.running[j.slot] = j
	s.count[j.owner]++
	s.wg.Go(func() {
		defer cancel()
		if err := crash.Run("call", func() { j.result, j.err = run(ctx, j) }); err != nil {
			j.err = protocol.NewFault(protocol.FaultInternal, err.Error())
		}
		release()
		isLost := j.finish()
		close(j.done)
		if isLost {
			s.lost(j)
		}
		if j.key != "" || j.isKept() {
			crash.AfterFunc(keepOutcome, func() { s.expire(j) })
			return
		}
		s.remove(j)
	})
	return j
}

// finish records that a job has ended, and reports whether nobody will get what it has opened.
func (j *job) finish() (isLost bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.isOver = true
	return j.err != nil || j.isAbandoned && j.key == ""
}

// expire forgets an outcome that was kept for somebody.
func (s *jobs) expire(j *job) {
	s.remove(j)
	j.mu.Lock()
	isLost := !j.isFetched
	j.mu.Unlock()
	if isLost {
		s.lost(j)
	}
}

func (s *jobs) remove(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(j)
}

func (s *jobs) removeLocked(j *job) {
	if s.running[j.slot] != j {
		return
	}
	delete(s.running, j.slot)
	if s.count[j.owner]--; s.count[j.owner] == 0 {
		delete(s.count, j.owner)
	}
}

// byCall returns the job of p that goes on without its caller, by a call about which the person was
// asked. A token with fewer scopes than the job needs does not find it.
func (s *jobs) byCall(p auth.Principal, id protocol.CallID) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.running {
		j.mu.Lock()
		found := j.owner == p.Caller() && j.keep && slices.Contains(j.asked, id) && tool.CheckScopes(p, j.need) == nil
		j.mu.Unlock()
		if found {
			return j
		}
	}
	return nil
}

// cancelOf cancels the calls of an owner.
func (s *jobs) cancelOf(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.running {
		if j.owner == owner {
			j.cancel()
		}
	}
}

// emit queues a part for the caller. It does not block.
func (j *job) emit(p Part) {
	j.mu.Lock()
	if n := len(j.parts); p.Kind == PartProgress && n > 0 && j.parts[n-1].Kind == PartProgress {
		j.parts[n-1] = p // a newer report replaces one that is not sent yet
	} else {
		j.parts = append(j.parts, p)
	}
	j.mu.Unlock()
	j.signal()
}

func (j *job) signal() {
	select {
	case j.news <- struct{}{}:
	default:
	}
}

// recordApproval records that the person is asked, or has answered.
func (j *job) recordApproval(q protocol.Question) {
	var waiting *Waiting
	if q.State == protocol.QuestionPending {
		waiting = &Waiting{ApprovalID: q.ID, CallID: q.CallID, Message: "Fairlead asks its owner about this call."}
	}
	j.mu.Lock()
	j.waiting = waiting
	if waiting != nil {
		j.asked = append(j.asked, q.CallID)
	}
	j.mu.Unlock()
	if waiting != nil {
		j.emit(Part{PartWaiting, encode(waiting)})
	}
}

// take returns the queued parts.
func (j *job) take() []Part {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := j.parts
	j.parts = nil
	return list
}
