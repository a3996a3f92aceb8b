package tools

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

const (
	// keepFinished is how long the result of a finished background command stays available, as in
	// the original system.
	keepFinished = 30 * time.Minute
	// maxWaited bounds the commands that run at once and that someone waits for; the others wait their turn.
	maxWaited = 64
	// maxBackground bounds those that run in the background. They may run for ever, so nobody waits for their end: one more is refused.
	maxBackground = 128
	// maxHeld bounds the output of finished background commands, in bytes. Beyond it the oldest ones keep their tail only.
	maxHeld = 64 << 20
)

// JobOptions say how commands run.
type JobOptions struct {
	// Box contains commands and holds what comes from them together; without one they are plain children of this process.
	Box *sandbox.Box
	// Profile is what they may do in the box.
	Profile sandbox.Profile
	// AskNetwork says that single commands get the network when the person allows it for them.
	AskNetwork bool
	// Env declares more variables that contained commands get: NAME or NAME=value; see [sandbox.Environ].
	Env []string
	// Home is the program's own data folder, which no call is ever given.
	Home string
	// Events receives the start and the end of each background command
	// (docs/protocol.md#background-commands). It may be nil and must not block.
	Events func(protocol.NodeExecEvent)
	// Ledger is a folder of the node's own that keeps which commands run, and which ends nobody has confirmed, for [Jobs.Recover]; it is made when
	// needed. Empty: none is kept.
	Ledger string
}

// Jobs are the commands of a node, running and recently finished. They outlive connections, not the node. It is safe for use by many
// goroutines.
type Jobs struct {
	opts   JobOptions
	ledger ledger
	turns  chan struct{} // one for each command that someone waits for
	wg     sync.WaitGroup

	mu         sync.Mutex // guards what follows
	jobs       map[string]*job
	background int // commands that run in the background or are about to
	closed     bool

	telling sync.Mutex                        // guards untold; taken with mu or without
	untold  map[string]protocol.NodeExecEvent // ends that nobody has confirmed
}

// NewJobs makes an empty table. The box stays the caller's, who closes it after the table.
func NewJobs(o JobOptions) *Jobs {
	if o.Events == nil {
		o.Events = func(protocol.NodeExecEvent) {}
	}
	return &Jobs{opts: o, ledger: ledger{o.Ledger}, turns: make(chan struct{}, maxWaited), jobs: make(map[string]*job), untold: make(map[string]protocol.NodeExecEvent)}
}

// Close ends all commands with everything they started, and waits for that. Ends that were not confirmed are kept for the next [Jobs.Recover].
func (t *Jobs) Close() {
	t.mu.Lock()
	t.closed = true
	for _, j := range t.jobs {
		j.quit(byCancel)
	}
	t.mu.Unlock()
	t.wg.Wait()
	t.handDown()
}

var errClosing = errors.New("this node is shutting down")

// start starts a command that stays in the background or that someone waits for, in its turn.
func (t *Jobs) start(ctx context.Context, o order, background bool) (*job, error) {
	if !background {
		select {
		case t.turns <- struct{}{}:
		case <-ctx.Done():
			return nil, failf("cancelled while it waited for one of the %d commands that run on this machine to end", maxWaited)
		}
	}
	j, err := t.startNow(o, background)
	if err != nil && !background {
		<-t.turns
	}
	return j, err
}

func (t *Jobs) startNow(o order, background bool) (*job, error) {
	if err := t.reserve(background); err != nil {
		return nil, err
	}
	j, err := t.startJob(o, background)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		if background {
			t.background--
		}
		t.wg.Done()
		return nil, err
	}
	if j.running() { // else it has been finished already
		t.jobs[j.id] = j
	}
	if t.closed {
		j.quit(byCancel)
	}
	return j, nil
}

// finish is the last thing a job's goroutine does: whoever sees the job done sees it in its place in the table.
func (t *Jobs) finish(j *job) {
	defer t.wg.Done()
	t.mu.Lock()
	if j.mayStay {
		t.background--
	} else {
		<-t.turns
	}
	close(j.done)
	stays := j.background.Load()
	if stays {
		t.trim()
	} else {
		delete(t.jobs, j.id)
	}
	t.mu.Unlock()
	if stays {
		t.tell(j.endEvent())
	} else {
		t.ledger.remove(j.id)
	}
}

// reserve takes a place for one more command.
func (t *Jobs) reserve(background bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prune()
	switch {
	case t.closed:
		return errClosing
	case background && t.background >= maxBackground:
		return failf("%d background commands are running on this machine already. Wait for one, or end one with Process.", t.background)
	}
	if background {
		t.background++
	}
	t.wg.Add(1)
	return nil
}

// trim keeps the output of finished commands within maxHeld. Who looks at an old one finds its tail, marked as truncated.
func (t *Jobs) trim() {
	var finished []*job
	held := 0
	for _, j := range t.jobs {
		if !j.running() && !j.result.open {
			finished = append(finished, j)
			held += j.out.held()
		}
	}
	if held <= maxHeld {
		return
	}
	slices.SortFunc(finished, func(a, b *job) int { return a.result.at.Compare(b.result.at) })
	for _, j := range finished {
		if held <= maxHeld {
			return
		}
		before := j.out.held()
		j.out.settle(tailBytes)
		held -= before - j.out.held()
	}
}

// putAway makes a command a background one: it stays in the table, and its end is told. A command that ended in between is told of here.
func (t *Jobs) putAway(j *job) {
	t.mu.Lock()
	j.background.Store(true)
	t.opts.Events(j.event(protocol.ExecStarted))
	over := !j.running()
	if over {
		t.jobs[j.id] = j
	}
	t.mu.Unlock()
	if over {
		t.tell(j.endEvent())
	}
}

// prune forgets what finished long ago.
func (t *Jobs) prune() {
	for id, j := range t.jobs {
		if !j.running() && time.Since(j.result.at) > keepFinished {
			delete(t.jobs, id)
		}
	}
}

func (t *Jobs) get(id string) *job {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prune()
	return t.jobs[id]
}

// list gives the background commands, newest first.
func (t *Jobs) list() []*job {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prune()
	var list []*job
	for _, j := range t.jobs {
		if j.background.Load() {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *job) int { return b.started.Compare(a.started) })
	return list
}
