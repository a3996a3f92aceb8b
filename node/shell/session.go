package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/textfile"
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

type commandIn struct {
	CommandID string `json:"command_id,omitempty" jsonschema:"session of an earlier call"`
	// Command is the command line; with CommandID it is text for the standard input of that command,
	// so that rules and approvals judge what is typed into a shell like a command.
	Command  string `json:"command,omitempty" jsonschema:"the command line, or with command_id the text to send to it"`
	Shell    string `json:"shell,omitempty" jsonschema:"auto (default): sh, or cmd.exe on Windows; powershell: for scripts on Windows"`
	Username string `json:"username,omitempty" jsonschema:"the user to run it as, where the node runs as root without confinement; default the node's own user"`
	Workdir  string `json:"workdir,omitempty" jsonschema:"folder to run it in, absolute or relative to the home folder; default the home folder"`
	Signal   string `json:"signal,omitempty" jsonschema:"SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGKILL"`
	// IdleTimeout is in seconds; 0 does not wait.
	IdleTimeout *float64 `json:"idle_timeout,omitempty" jsonschema:"seconds to wait without output before returning; default 5"`
}

type commandOut struct {
	CommandID  string `json:"command_id"`
	Output     string `json:"output,omitempty"`
	ExitCode   *int   `json:"exit_code,omitempty"`
	State      string `json:"state"`
	DurationMs int64  `json:"duration_ms"`
	// DroppedBytes is the number of bytes of output before Output that were not read in time.
	DroppedBytes int64 `json:"dropped_bytes,omitempty"`
	// Note has remarks on the command's start, in the first call's result, and on its end.
	Note string `json:"note,omitempty"`
	// PutBack are the protected files that the command changed unasked and that have been put back, or
	// moved to the trash.
	PutBack []protocol.ProtectedChange `json:"put_back,omitempty"`
}

// sessions are the commands that the tool command has started. They are safe for concurrent use.
type sessions struct {
	jobs             *Jobs
	ws               *workspace.Root
	grace, abandoned time.Duration

	mu    sync.Mutex // guards the fields below
	open  map[string]*session
	count counts // of sessions, by caller, with those that are about to open
}

// session is a command whose output is read call by call.
type session struct {
	*job
	turn   sync.Mutex // one call at a time
	read   int64      // bytes of output that were returned
	expiry *time.Timer
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
	return toolkit.WithPreview(t, func(_ context.Context, _ access.Call, in commandIn) (protocol.CallPreview, error) {
		return s.preview(in), nil
	})
}

// preview describes a command as Bash does, and a text for a running command.
func (s *sessions) preview(in commandIn) (p protocol.CallPreview) {
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
	return previewBash(s.ws, s.jobs, in.bash(a), in.shell())
}

// shell returns the shell whose language the command is in.
func (in commandIn) shell() string {
	if in.Shell == shellPowerShell {
		return "powershell.exe"
	}
	return programShell()
}

// line returns what programShell gets.
func (in commandIn) line() string {
	if in.Shell == shellPowerShell {
		return powershell(in.Command)
	}
	return in.Command
}

// shellPowerShell is the value of Shell for a script of PowerShell.
const shellPowerShell = "powershell"

// bash returns the same command of a user, nil for the node's own, as the arguments of Bash.
func (in commandIn) bash(a *account) bashIn {
	home, err := os.UserHomeDir()
	if a != nil {
		home, err = a.folder(), nil
	}
	dir := in.Workdir
	if err == nil && !filepath.IsAbs(workspace.Unspell(dir)) { // so that "" and "." are the same folder
		dir = workspace.Spell(filepath.Join(home, workspace.Unspell(dir)))
	}
	zero := float64(0)
	return bashIn{Command: in.Command, Workdir: dir, Pty: isInteractive(in.Command), Timeout: &zero}
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
	out := commandOut{CommandID: c.id, State: "running"}
	if in.CommandID == "" {
		out.Note = c.note
	}
	over := !c.isRunning() // before the output is read, so that the end comes with all output
	out.Output, out.DroppedBytes = c.next(over)
	if over {
		if c.read == c.out.size() {
			out.State, out.ExitCode = "exited", c.exitCode()
			out.Note, out.PutBack = strings.TrimSpace(out.Note+" "+c.result.note()), c.result.putBack
		}
	}
	s.scheduleEnd(c)
	out.DurationMs = time.Since(began).Milliseconds()
	return out, nil
}

func (in commandIn) idle() (time.Duration, error) {
	if in.IdleTimeout == nil {
		return defaultIdle, nil
	}
	v := *in.IdleTimeout
	if v < 0 || math.IsNaN(v) || v > maxIdle.Seconds() {
		return 0, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("idle_timeout must be 0 to %.0f seconds", maxIdle.Seconds()))
	}
	return time.Duration(v * float64(time.Second)), nil
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
		err = s.jobs.checkNetwork(bash, in.shell(), call.Network)
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
	j, err := s.jobs.start(ctx, startRequest{
		command: in.line(), shell: programShell(), account: a, dir: plan.dir, tty: bash.Pty, idempotencyKey: call.IdempotencyKey, call: call.ID, folders: call.Folders, lifts: call.Lifts, rules: call.Rules,
		direct: call.Direct,
		caller: call.Caller, tool: protocol.CommandTool, ended: s.jobEnded,
	}, true)
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
	case s.open[c.id] != c:
	case c.isRunning():
		c.expiry.Reset(s.abandoned)
	default:
		c.expiry.Reset(max(s.grace-time.Since(c.result.at), 0))
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
	return s.jobs.accountOf(in.Username)
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
	if s.open[c.id] == c {
		delete(s.open, c.id)
		s.count.leave(c.caller)
	}
	s.mu.Unlock()
	c.requestStop(byCancel)
}

// act sends the text and the signal of a call that continues a command.
func (c *session) act(in commandIn) error {
	if in.CommandID != "" && in.Command != "" {
		if err := c.send(in.Command); err != nil {
			return err
		}
	}
	if in.Signal == "" {
		return nil
	}
	if !slices.Contains(signalNames, in.Signal) {
		return protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("unknown signal %q: use %s", in.Signal, strings.Join(signalNames, ", ")))
	}
	if !c.isRunning() {
		return nil
	}
	return c.signal(in.Signal)
}

var signalNames = []string{"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL"}

func (c *session) send(text string) error {
	if !c.isRunning() || c.stdin == nil {
		return protocol.NewFault(protocol.FaultFailedPrecondition, "the command has ended, so it takes no input")
	}
	c.stdin.SetWriteDeadline(time.Now().Add(writeLimit))
	c.typed.add(text)
	if _, err := io.WriteString(c.stdin, text); err != nil {
		return protocol.NewFault(protocol.FaultFailedPrecondition, "the command does not read its input")
	}
	return nil
}

// signal sends a signal to a running command.
func (c *session) signal(name string) error {
	switch {
	case name == "SIGKILL":
		c.requestStop(byKill)
		return nil
	case name == "SIGTERM":
		c.child.Terminate()
		return nil
	case name == "SIGINT" && c.tty, name == "SIGINT" && runtime.GOOS == "windows":
		return c.send("\x03") // the terminal passes it on to the program in the foreground
	case name == "SIGQUIT" && c.tty && runtime.GOOS != "windows":
		return c.send("\x1c")
	}
	return sendSignal(c.pid, name)
}

// pollEvery is how often a waiting call looks for new output.
const pollEvery = 20 * time.Millisecond

// await returns when the command has ended, when it has printed nothing for a while, when there is
// enough output for a result, or when ctx ends.
func (c *session) await(ctx context.Context, idle time.Duration, progress func(tail string, bytes int64)) {
	if idle == 0 {
		return
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	began := time.Now()
	quietSince, size, reported := began, c.out.size(), began
	for {
		select {
		case <-c.done:
			return
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if total := c.out.size(); total != size {
				quietSince, size = now, total
				if progress != nil && now.Sub(reported) >= progressEvery {
					reported = now
					progress(c.out.tail(), total)
				}
			}
			if now.Sub(quietSince) >= idle || now.Sub(began) >= max(maxWait, idle) || size-c.read >= maxCallOutput {
				return
			}
		}
	}
}

// next returns the output since the last call, and the number of bytes before it that are lost.
// While the command runs, the beginning of a character waits for its rest.
func (c *session) next(over bool) (text string, dropped int64) {
	raw, total := c.out.since(c.read)
	dropped = total - int64(len(raw)) - c.read
	raw = raw[:min(len(raw), maxCallOutput)]
	if !over || int64(len(raw)) < total-c.read-dropped {
		raw = raw[:len(raw)-textfile.Incomplete(raw)]
	}
	c.read += dropped + int64(len(raw))
	return strings.ToValidUTF8(string(raw), "\uFFFD"), dropped
}

// exitCode returns the exit code of a command that has ended: -1 if a signal ended it, 1 on
// Windows.
func (c *session) exitCode() *int {
	if c.result.code != nil {
		return c.result.code
	}
	killed := -1
	if runtime.GOOS == "windows" {
		killed = 1
	}
	return &killed
}
