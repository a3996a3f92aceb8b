package tools

import (
	"errors"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

const (
	// keepFinished is how long a finished background command can be looked at (seed 000, Process).
	keepFinished = 30 * time.Minute
	// maxJobs bounds the commands that run at once, and with them the memory of their output.
	maxJobs = 256
)

// Jobs are the commands of a node, running and recently finished. They outlive connections, not the node. It is safe for use by many
// goroutines.
type Jobs struct {
	events func(protocol.NodeExecEvent)
	wg     sync.WaitGroup

	mu      sync.Mutex // guards what follows
	jobs    map[string]*job
	running int // commands that run or are about to
	closed  bool
}

// NewJobs makes an empty table. events hears when a background command starts and ends (seed 004, node.exec.event); it may be nil and
// must not block.
func NewJobs(events func(protocol.NodeExecEvent)) *Jobs {
	if events == nil {
		events = func(protocol.NodeExecEvent) {}
	}
	return &Jobs{events: events, jobs: make(map[string]*job)}
}

// Close ends all commands with everything they started, and waits for that.
func (t *Jobs) Close() {
	t.mu.Lock()
	t.closed = true
	for _, j := range t.jobs {
		j.quit(byCancel)
	}
	t.mu.Unlock()
	t.wg.Wait()
}

func (t *Jobs) start(command, dir string, timeout time.Duration, stdin bool) (*job, error) {
	if err := t.reserve(); err != nil {
		return nil, err
	}
	j, err := startJob(command, dir, timeout, stdin, t.finish)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.running--
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
	defer t.mu.Unlock()
	t.running--
	close(j.done)
	if j.background.Load() {
		t.events(j.endEvent())
	} else {
		delete(t.jobs, j.id)
	}
}

// reserve takes a place for one more command.
func (t *Jobs) reserve() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prune()
	switch {
	case t.closed:
		return errors.New("this node is shutting down")
	case t.running >= maxJobs:
		return failf("%d commands are running on this machine already; wait for one, or end one with Process", t.running)
	}
	t.running++
	t.wg.Add(1)
	return nil
}

// putAway makes a command a background one: it stays in the table, and its end is reported. A command that ended in between is
// reported here.
func (t *Jobs) putAway(j *job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	j.background.Store(true)
	t.events(j.event("started"))
	if !j.running() {
		t.jobs[j.id] = j
		t.events(j.endEvent())
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

func (j *job) event(name string) protocol.NodeExecEvent {
	return protocol.NodeExecEvent{EventID: protocol.NewID(), SessionID: j.id, Event: name, StartedAt: j.started.UnixMilli()}
}

func (j *job) endEvent() protocol.NodeExecEvent {
	e := j.event("failed")
	switch {
	case j.result.ok():
		e.Event = "finished"
	case j.result.why == byTimeout:
		e.Event = "timed_out"
	}
	e.ExitCode, e.Signal, e.OutputTail, e.EndedAt = j.result.code, j.result.signal, j.out.tail(), j.result.at.UnixMilli()
	return e
}
