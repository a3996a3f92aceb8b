package shell

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/baseline"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

const (
	// retention is how long the result of a finished background command stays available, as in GSV.
	retention = 30 * time.Minute
	// maxForeground bounds the commands of each program, and of the chats, that run at the same time
	// with a caller that waits for them; further ones wait for a free place.
	maxForeground = 64
	// maxBackground bounds the commands of each program, and of the chats, that run in the
	// background. They may run forever, so further ones are refused instead of waiting.
	maxBackground = 128
	// maxRetained bounds the stored output of finished background commands, in bytes. Beyond it,
	// the output of the oldest is cut to its tail.
	maxRetained = 64 << 20
)

// JobOptions configure how commands run.
type JobOptions struct {
	// Box contains commands and tracks all of their processes. If it is nil, they are plain
	// children of this process.
	Box *sandbox.Box
	// Profile is the restrictions of commands in the box.
	Profile sandbox.Profile
	// AskNetwork says that the person may allow the network for single commands.
	AskNetwork bool
	// Env names further variables that contained commands get: NAME or NAME=value; see
	// [sandbox.Environ].
	Env []string
	// Home is the program's own data folder, to which no call gets access.
	Home string
	// Events receives the start and the end of each background command
	// (docs/protocol.md#background-commands). It may be nil and must not block.
	Events func(protocol.NodeExecEvent)
	// Baseline puts protected files back that commands change unasked; nil where none is kept.
	Baseline *baseline.Store
	// Log receives a warning when a login profile does not start commands. It may be nil.
	Log *slog.Logger
	// RecordDir is the node's own folder that records running commands, and ends that were not
	// confirmed, for [Jobs.Recover]. It is created when needed. If it is empty, nothing is
	// recorded.
	RecordDir string
}

// Jobs is the table of a node's commands, running and recently finished. Commands outlive
// connections, but not the node. It is safe for use by many goroutines.
type Jobs struct {
	confinement *confinement
	launcher    *launcher
	records     recordDir
	baseline    *baseline.Store              // see [JobOptions]
	events      func(protocol.NodeExecEvent) // see [JobOptions]
	foreground  *access.Slots                // for commands with a waiting caller
	wg          crash.Group

	mu         sync.Mutex // guards the fields below
	jobs       map[string]*job
	background counts // commands that run in the background or are about to, by caller
	closed     bool
}

// NewJobs makes an empty table. The caller owns the box and closes it after the table.
func NewJobs(o JobOptions) *Jobs {
	if o.Events == nil {
		o.Events = func(protocol.NodeExecEvent) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := newConfinement(o)
	return &Jobs{
		confinement: c, launcher: newLauncher(c, o.Log), records: recordDir{o.RecordDir}, baseline: o.Baseline, events: o.Events,
		foreground: access.NewSlots(maxForeground), jobs: make(map[string]*job), background: make(counts),
	}
}

// Close ends all commands with every process they started, and waits for that. Ends that were not
// confirmed are stored for the next [Jobs.Recover].
func (t *Jobs) Close() {
	t.mu.Lock()
	if !t.closed {
		close(t.launcher.closing)
	}
	t.closed = true
	for _, j := range t.jobs {
		j.requestStop(byCancel)
	}
	t.mu.Unlock()
	t.wg.Wait()
	t.releaseEnds()
}

var (
	errClosing = errors.New("this node is shutting down")
	errTooMany = errors.New("background commands are already running on this machine")
)

// start starts a command. One with a waiting caller first waits for a free place.
func (t *Jobs) start(ctx context.Context, o startRequest, background bool) (*job, error) {
	o.release = func() {}
	if !background {
		release, err := t.foreground.Take(ctx, o.caller)
		if err != nil {
			return nil, toolkit.Failf("cancelled while waiting: %d commands are running on this machine", maxForeground)
		}
		o.release = release
	}
	j, err := t.startNow(ctx, o, background)
	if err != nil {
		o.release()
	}
	return j, err
}

func (t *Jobs) startNow(ctx context.Context, o startRequest, background bool) (*job, error) {
	if err := t.reserve(o.caller, background); err != nil {
		return nil, err
	}
	j, err := t.startJob(ctx, o, background)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		if background {
			t.background.leave(o.caller)
		}
		t.wg.Done()
		return nil, err
	}
	if j.isRunning() { // otherwise it has already been finished
		t.jobs[j.id] = j
	}
	if t.closed {
		j.requestStop(byCancel)
	}
	return j, nil
}

// finish is the last action of a job's goroutine: whoever sees the job as done sees its final entry
// in the table.
func (t *Jobs) finish(j *job) {
	defer t.wg.Done()
	j.result.found = j.look.End()
	if len(j.result.refused)+len(j.result.ruled) > 0 {
		j.result.tree = t.launcher.stoppedGit(context.Background(), j.command, j.dir)
	}
	if j.look != nil {
		baseline.RestrictModes(t.confinement.home, false)
	}
	t.mu.Lock()
	if j.canBackground {
		t.background.leave(j.caller)
	}
	j.release()
	close(j.done)
	stays := j.background.Load()
	if stays {
		t.trimOutput()
	} else {
		delete(t.jobs, j.id)
	}
	t.mu.Unlock()
	if stays {
		t.reportEnd(j.endEvent())
		return
	}
	t.records.remove(j.id)
	if j.isOfProgram() {
		j.ended(j)
	}
	if j.isOfProgram() && j.caller != nil {
		t.events(j.endEvent())
	}
}

// beginLook looks at the protected files before a command starts; not for full access.
func (t *Jobs) beginLook(id string, o startRequest) *baseline.Run {
	if t.confinement.profile.Mode == sandbox.Full {
		return nil
	}
	c := baseline.Command{ID: id, Call: o.call, Text: o.command, Direct: o.direct}
	for _, path := range o.lifts {
		c.Lifts = append(c.Lifts, workspace.RealPath(workspace.Unspell(path)))
	}
	if o.rules != nil {
		c.Denied = o.rules.ReadOnly
	}
	return t.baseline.Begin(c)
}

func (t *Jobs) reserve(caller *protocol.ToolCaller, background bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prune()
	switch {
	case t.closed:
		return errClosing
	case background && !t.background.enter(caller, maxBackground):
		return toolkit.Failf("%d %w. Wait for one to finish, or end one with Process.", maxBackground, errTooMany)
	}
	t.wg.Add(1)
	return nil
}

// counts are numbers of things by the ID of the caller that has them.
type counts map[string]int

// enter counts one more, unless there are max already.
func (c counts) enter(caller *protocol.ToolCaller, max int) bool {
	id := access.CallerID(caller)
	if c[id] >= max {
		return false
	}
	c[id]++
	return true
}

func (c counts) leave(caller *protocol.ToolCaller) {
	id := access.CallerID(caller)
	if c[id]--; c[id] == 0 {
		delete(c, id)
	}
}
