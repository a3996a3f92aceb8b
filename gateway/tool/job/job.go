package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// identity says which calls are the same call.
type identity struct {
	owner string
	key   string // idempotency key; empty for none
	hash  string // of the tool and its arguments
	need  []protocol.Scope
}

func identify(r Request) identity {
	sum := sha256.Sum256(append([]byte(r.Tool+"\x00"), r.Args...))
	return identity{r.Caller.Caller(), r.Key, hex.EncodeToString(sum[:]), r.Need}
}

// slot is the identity's key in the map of jobs.
func (i identity) slot() string {
	if i.key != "" {
		return i.owner + " key " + i.key
	}
	return i.owner + " call " + i.hash
}

// Job is a call in progress. Its goroutine owns the fields result and err until done is closed.
type Job struct {
	identity
	slot   string
	cancel context.CancelFunc
	done   chan struct{}
	result Result
	err    error

	news wake.Signal // capacity 1: parts or waiting changed

	mu      sync.Mutex // guards the fields below
	parts   []Part
	waiting *Waiting          // the question that the person has not answered yet; nil without one
	asked   []protocol.CallID // calls that the person was asked about
	keep    bool              // the outcome stays after the call, because its caller has gone
	callers int
	machine protocol.NodeID // that it calls; empty before
	ifLost  []func()

	isOver, isAbandoned, isFetched bool // it has ended; its callers have gone; one has got its result
}

// SetMachine records the machine that the call uses now: the call ends when its caller may not use
// it any more.
func (j *Job) SetMachine(id protocol.NodeID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.machine = id
}

// IfLost adds a function that ends what the call has opened. It is called once if nobody gets the
// call's result. It must not block.
func (j *Job) IfLost(undo func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ifLost = append(j.ifLost, undo)
}

func (j *Job) lose() {
	j.mu.Lock()
	list := j.ifLost
	j.ifLost = nil
	j.mu.Unlock()
	for _, undo := range list {
		undo()
	}
}

// Emit queues a part for the caller. It does not block.
func (j *Job) Emit(p Part) {
	j.mu.Lock()
	if n := len(j.parts); p.Kind == PartProgress && n > 0 && j.parts[n-1].Kind == PartProgress {
		j.parts[n-1] = p // a newer report replaces one that is not sent yet
	} else {
		j.parts = append(j.parts, p)
	}
	j.mu.Unlock()
	j.news.Send()
}

// RecordQuestion records that the person is asked, or has answered.
func (j *Job) RecordQuestion(q protocol.Question) {
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
		j.Emit(Part{PartWaiting, protocol.Encode(waiting)})
	}
}

// take returns the queued parts.
func (j *Job) take() []Part {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := j.parts
	j.parts = nil
	return list
}

// send passes the queued parts on. Without a receiver they stay for one that comes later.
func (j *Job) send(ctx context.Context, emit func(context.Context, Part) error) error {
	if emit == nil {
		return nil
	}
	for _, p := range j.take() {
		if err := emit(ctx, p); err != nil {
			return protocol.NewFault(protocol.FaultCanceled, "the caller has gone")
		}
	}
	return nil
}

// collect returns the result with the matches of the parts, for a caller without a stream.
func (j *Job) collect() Result {
	var chunks []json.RawMessage
	for _, p := range j.take() {
		if p.Kind == PartChunk {
			chunks = append(chunks, p.Data)
		}
	}
	return Result{WithMatches(j.result.Data, chunks), j.result.Message, j.result.Call}
}

// reminder returns the part that says that the call goes on.
func (j *Job) reminder() Part {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting != nil {
		return Part{PartWaiting, protocol.Encode(j.waiting)}
	}
	return Part{PartWaiting, protocol.Encode(Waiting{Message: "The call is still running."})}
}

// detach makes a call that waits for the person go on without its caller.
func (j *Job) detach() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting == nil {
		return nil
	}
	select {
	case <-j.done:
		return nil
	default:
	}
	j.keep = true
	w := *j.waiting
	f := protocol.NewFault(protocol.FaultApprovalRequired, "Fairlead's owner has not answered yet. Repeat the same call, or ask for its outcome, to go on.")
	return f.With(map[string]any{"approval_id": w.ApprovalID, "call_id": w.CallID, "poll": "/api/v1/calls/" + string(w.CallID), "retry_after_ms": 5000})
}

// canRunAgain reports whether the call has failed for a reason that may pass, and surely without an
// effect: repeating it with its idempotency key is what the program should do.
func (j *Job) canRunAgain() bool {
	select {
	case <-j.done:
		f, ok := errors.AsType[*protocol.Fault](j.err)
		return ok && f.Retryable && !j.isKept()
	default:
		return false
	}
}

func (j *Job) isKept() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.keep
}

// isWaitingFor reports whether the job goes on without its caller p after a call about which the
// person was asked. A token with fewer scopes than the job needs does not find it.
func (j *Job) isWaitingFor(p auth.Principal, id protocol.CallID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.owner == p.Caller() && j.keep && slices.Contains(j.asked, id) && tool.CheckAccess(p, "", j.need...) == nil
}

// isAllowed reports whether its caller may still make the call with its present rights.
func (j *Job) isAllowed(p auth.Principal) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return tool.CheckAccess(p, j.machine, j.need...) == nil
}

// finish records that a job has ended, and reports whether nobody will get what it has opened.
func (j *Job) finish() (isLost bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.isOver = true
	return j.err != nil || j.isAbandoned && j.key == ""
}

// abandon cancels a call whose only caller has gone, unless somebody will fetch its outcome. What
// the call has opened ends: nobody has got its ID.
func (j *Job) abandon() {
	j.mu.Lock()
	last := j.callers <= 1 && !j.keep
	j.isAbandoned = j.isAbandoned || last
	isLost := last && j.isOver && j.key == "" && !j.isFetched
	j.mu.Unlock()
	if last {
		j.cancel()
	}
	if isLost {
		j.lose()
	}
}
