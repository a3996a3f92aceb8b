package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// Limits of the sessions of the tool command.
const (
	defaultIdle = 5 * time.Second
	// maxIdle is the maximum idle_timeout, and maxWait how long one call waits for a command that
	// keeps printing.
	maxIdle = 10 * time.Minute
	maxWait = protocol.MaxCommandWait
	// maxCallOutput is the number of bytes after which a call returns, and the maximum that it
	// returns; the rest comes with the next call.
	maxCallOutput = 256 << 10
	// grace is how long the end of a command can be read.
	grace = 30 * time.Second
	// abandoned is how long a running command stays without a call before it is ended.
	abandoned = time.Hour
	// maxSessions bounds the open sessions of each program.
	maxSessions = 64
)

// sessions are the commands that the tool command has started. They are safe for concurrent use.
type sessions struct {
	jobs             *Jobs
	ws               *workspace.Root
	grace, abandoned time.Duration

	mu    sync.Mutex // guards the fields below
	open  map[string]*session
	count counts // of sessions, by caller, with those that are about to open
}

// Command makes the tool command, which programs use over MCP, REST or the command line: it starts
// a command, and later calls with its command_id read its output, write to it and send signals.
//
// A session ends 30 seconds after its command, and a command that nobody asks about for an hour is
// ended. So is one whose caller has gone before it got the ID. A program has at most 64 sessions.
func Command(ws *workspace.Root, jobs *Jobs) toolkit.Tool[access.Call] {
	return newSessions(ws, jobs).tool()
}

func newSessions(ws *workspace.Root, jobs *Jobs) *sessions {
	return &sessions{jobs: jobs, ws: ws, grace: grace, abandoned: abandoned, open: make(map[string]*session), count: make(counts)}
}

func (s *sessions) tool() toolkit.Tool[access.Call] {
	t := toolkit.Define("command", "Runs a command and manages its session. For programs.", toolkit.Traits{Effect: protocol.EffectExec, AcceptsKey: true, Caps: []string{protocol.CapExec}}, s.call)
	return toolkit.WithPreview(t, func(ctx context.Context, _ access.Call, in commandIn) (protocol.CallPreview, error) {
		return s.preview(ctx, in), nil
	})
}

// preview describes a command as Bash does, and a text for a running command.
func (s *sessions) preview(ctx context.Context, in commandIn) (p protocol.CallPreview) {
	if in.CommandID != "" {
		c, err := s.find(in)
		if err != nil {
			access.SetProblem(&p, err)
			return p
		}
		return previewInput(c.job, in.Command)
	}
	a, err := s.check(in)
	if err != nil {
		access.SetProblem(&p, err)
		return p
	}
	return previewBash(ctx, s.ws, s.jobs, in.bash(a), in.shell())
}

func (s *sessions) call(ctx context.Context, call access.Call, in commandIn) (commandOut, error) {
	began := time.Now()
	idle, err := in.idle()
	if err != nil {
		return commandOut{}, err
	}
	var c *session
	if in.CommandID == "" {
		c, err = s.start(ctx, call, in)
	} else {
		c, err = s.find(in)
	}
	if err != nil {
		return commandOut{}, err
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	if err := c.act(in); err != nil {
		return commandOut{}, err
	}
	c.await(ctx, idle, call.Progress)
	if err := ctx.Err(); err != nil && in.CommandID == "" {
		s.end(c) // nobody gets its ID
		return commandOut{}, err
	}
	out := commandOut{CommandID: c.job.id, State: "running"}
	if in.CommandID == "" {
		out.Note = c.job.note
	}
	if c.job.isRunning() {
		found := c.job.look.Look()
		out.PutBack, out.Note = found.PutBack, strings.TrimSpace(out.Note+" "+found.Note())
	}
	out.Note = strings.TrimSpace(out.Note + " " + c.job.person.note())
	over := !c.job.isRunning() // before the output is read, so that the end comes with all output
	out.Output, out.DroppedBytes = c.next(over)
	if over {
		if c.read == c.job.out.size() {
			out.State, out.ExitCode = "exited", c.exitCode()
			out.Note, out.PutBack = strings.TrimSpace(out.Note+" "+c.job.result.note()), append(out.PutBack, c.job.result.found.PutBack...)
		}
	}
	s.scheduleEnd(c)
	out.DurationMs = time.Since(began).Milliseconds()
	return out, nil
}

// start starts a command and its session.
func (s *sessions) start(ctx context.Context, call access.Call, in commandIn) (*session, error) {
	a, err := s.check(in)
	if err != nil {
		return nil, err
	}
	bash := in.bash(a)
	plan, err := planBash(s.ws, bash)
	if err == nil {
		err = s.jobs.confinement.checkNetwork(bash, in.shell(), call.Network)
	}
	if err != nil {
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, err.Error())
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.reserve(call.Caller); err != nil {
		return nil, err
	}
	o := newRequest(call, protocol.CommandTool)
	o.command, o.shell, o.account, o.dir, o.tty, o.ended = in.line(), programShell(), a, plan.dir, bash.Pty, s.jobEnded
	j, err := s.jobs.start(ctx, o, true)
	s.mu.Lock()
	if err != nil {
		s.count.leave(call.Caller)
		s.mu.Unlock()
		return nil, startFault(err)
	}
	c := &session{job: j}
	c.expiry = crash.AfterFunc(s.abandoned, func() { s.end(c) })
	s.open[j.id] = c
	s.mu.Unlock()
	s.jobs.ReportPrograms(j.id)
	s.scheduleEnd(c)
	return c, nil
}

// reserve counts a session that a program is about to open.
func (s *sessions) reserve(caller *protocol.ToolCaller) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.count.enter(caller, maxSessions) {
		f := protocol.NewFault(protocol.FaultResourceExhausted, fmt.Sprintf("%d commands have open sessions on this machine. End one, or wait.", maxSessions))
		return f.With(map[string]int64{"retry_after_ms": time.Second.Milliseconds()})
	}
	return nil
}

// jobEnded lets the session of a command that has just ended expire.
func (s *sessions) jobEnded(j *job) {
	s.mu.Lock()
	c := s.open[j.id]
	s.mu.Unlock()
	if c != nil {
		s.scheduleEnd(c)
	}
}

// scheduleEnd sets when a session ends: some time after its last call, or after the end of its
// command, which further calls do not delay.
func (s *sessions) scheduleEnd(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open[c.job.id] != c:
	case c.job.isRunning():
		c.expiry.Reset(s.abandoned)
	default:
		c.expiry.Reset(max(s.grace-time.Since(c.job.result.at), 0))
	}
}

// startFault says why a command could not be started.
func startFault(err error) error {
	code := protocol.FaultInternal
	switch {
	case errors.Is(err, errTooMany):
		f := protocol.NewFault(protocol.FaultResourceExhausted, err.Error())
		return f.With(map[string]int64{"retry_after_ms": time.Second.Milliseconds()})
	case errors.Is(err, errClosing):
		code = protocol.FaultTargetUnreachable
	case errors.Is(err, fs.ErrPermission):
		code = protocol.FaultPermissionDenied
	}
	return protocol.NewFault(code, err.Error())
}

// check refuses options that this machine cannot fulfil, and returns the user that runs the command;
// nil is the node's own.
func (s *sessions) check(in commandIn) (*account, error) {
	switch {
	case in.Shell != "" && in.Shell != "auto" && in.Shell != shellPowerShell:
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("unknown shell %q: use auto or powershell", in.Shell))
	case in.Shell == shellPowerShell && runtime.GOOS != "windows":
		return nil, protocol.NewFault(protocol.FaultUnsupported, "shell powershell works on Windows only")
	case in.Signal != "":
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "signal needs the command_id of a running command")
	case len(in.line()) > maxLine:
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "the command is too long for this machine's shell: write it to a file with fs_write and run that")
	}
	return s.jobs.confinement.accountOf(in.Username)
}

func (s *sessions) find(in commandIn) (*session, error) {
	if in.Shell != "" || in.Username != "" || in.Workdir != "" {
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "command_id continues a command; leave shell, username and workdir out")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.open[in.CommandID]
	if c == nil {
		return nil, protocol.NewFault(protocol.FaultNotFound, "no command has this command_id: it ended more than 30 seconds ago, or the machine was restarted")
	}
	return c, nil
}

// end removes a session, and ends its command.
func (s *sessions) end(c *session) {
	s.mu.Lock()
	if s.open[c.job.id] == c {
		delete(s.open, c.job.id)
		s.count.leave(c.job.caller)
	}
	s.mu.Unlock()
	c.job.requestStop(byCancel)
}
