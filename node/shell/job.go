package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/baseline"
	"fairlead/node/pty"
	"fairlead/node/sandbox"
)

const (
	// killAfter is the time between SIGTERM and SIGKILL, as in GSV.
	killAfter = 250 * time.Millisecond
	// drainLimit is how long to wait for output from processes that could not be ended and still
	// have the output open.
	drainLimit = 500 * time.Millisecond
	// reapLimit is how long a killed process may take to disappear; only one that is stuck in the
	// kernel exceeds it.
	reapLimit = 5 * time.Second
)

// maxRuled is the number of paths denied by rules that a note names.
const maxRuled = 3

type stopReason int

const (
	notStopped stopReason = iota
	byTimeout
	byCancel
	byKill
)

// job is one command. Its goroutine owns the process; result may be read once done is closed.
type job struct {
	id, command, dir string
	call             protocol.CallID      // the call that started it; may be empty
	caller           *protocol.ToolCaller // the program that started it; nil for a chat or a window
	rules            *protocol.CommandRules
	tool             string // the tool that started it
	enforcement      string // how it was contained, in one line; empty without a box
	note             string // about the start
	pid              int
	started          time.Time
	child            *sandbox.Process
	look             *baseline.Run // of protected files, before and after; nil where nothing looks
	out              output
	// stdin is nil for synchronous commands; it is our end of the terminal, if there is one.
	stdin         *os.File
	tty           bool
	cols, rows    int // of the terminal; guarded by out.mu
	person        person
	typed         typed           // the input so far
	isForeign     bool            // it runs as another user
	terminal      *pty.PTY        // of a command with a terminal
	canBackground bool            // it runs or may continue in the background
	background    atomic.Bool     // it runs in the background
	release       func()          // frees its place among the commands in the foreground
	ended         func(*job)      // called after the end of a command of the tool command
	stop          chan stopReason // holds the first request to stop
	done          chan struct{}
	result        outcome
}

type outcome struct {
	code   *int
	signal string
	reason stopReason
	at     time.Time
	// isOutputOpen reports that a process could not be ended and still has the output open.
	isOutputOpen bool
	// processesEnded is the number of other processes that were ended with the command;
	// hasSurvivors reports that some could not be ended.
	processesEnded int
	hasSurvivors   bool
	refused        []string // the protected paths that the command could not change
	ruled          []refusedByRule
	// tree describes the work tree after a command of Git that was refused a file.
	tree string
	// denied are the programs that a rule kept the command from starting.
	denied []string
	found  baseline.Findings
	// tempNote says that its temporary files filled the disk; empty if they did not.
	tempNote string
	// waitErr is the reason why the command's end is unknown.
	waitErr error
}

// remarks describe the start of the command if that was unusual, and its end if it has ended.
func (j *job) remarks() string {
	if j.isRunning() {
		return j.note
	}
	return strings.TrimSpace(strings.TrimSpace(j.note+" "+j.result.note()) + " " + j.result.tree)
}

// note describes in one sentence the end of the command's processes, and whether its own end is
// known; empty when there is nothing to report.
func (e outcome) note() string {
	var all []string
	switch {
	case e.hasSurvivors:
		all = append(all, "Some processes of the command could not be ended.")
	case e.processesEnded == 1 && e.reason == notStopped:
		all = append(all, "1 process that the command left running was ended.")
	case e.processesEnded > 1 && e.reason == notStopped:
		all = append(all, fmt.Sprintf("%d processes that the command left running were ended.", e.processesEnded))
	case e.processesEnded == 1:
		all = append(all, "The command was ended together with 1 process that it had started.")
	case e.processesEnded > 1:
		all = append(all, fmt.Sprintf("The command was ended together with %d processes that it had started.", e.processesEnded))
	}
	if e.waitErr != nil {
		all = append(all, "The command's exit status is unknown: "+e.waitErr.Error())
	}
	if len(e.denied) > 0 {
		all = append(all, "A rule of the person denies "+strings.Join(e.denied, ", ")+", which the command tried to start.")
	}
	for _, r := range e.ruled[:min(len(e.ruled), maxRuled)] {
		all = append(all, r.String())
	}
	all = append(all, e.tempNote, baseline.ProtectedNote(e.refused), e.found.Note())
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	return strings.Join(all, " ")
}

func (e outcome) hasSucceeded() bool { return e.reason == notStopped && e.code != nil && *e.code == 0 }

// startJob starts a command and returns when it runs, after the login profile. A command that may
// continue in the background accepts input. When it has ended, the job's goroutine calls finish, which
// closes done.
func (t *Jobs) startJob(ctx context.Context, o startRequest, canBackground bool) (*job, error) {
	j := &job{
		id: protocol.NewID(), call: o.call, caller: o.caller, rules: o.rules, tool: o.tool, command: o.command, dir: o.dir, enforcement: t.confinement.enforcement(o), tty: o.tty, cols: defaultCols, rows: defaultRows, canBackground: canBackground, isForeign: o.account != nil,
		release: o.release, ended: o.ended, stop: make(chan stopReason, 1), done: make(chan struct{}),
	}
	s, err := openStreams(canBackground, o.tty)
	if err != nil {
		return nil, toolkit.Failf("Failed to execute: %w", err)
	}
	if o.tty && o.account != nil {
		s.childIn.Chown(int(o.account.UID), -1) // programs that open it by its name need this
	}
	j.look = t.beginLook(j.id, o)
	j.child, j.note, err = t.launcher.launch(ctx, o, s)
	j.started = time.Now()
	s.closeChildEnds()
	if err != nil {
		j.look.End()
		s.close()
		return nil, toolkit.Failf("Failed to execute: %w", startError(err))
	}
	j.stdin, j.terminal, j.pid = s.in, s.terminal, j.child.PID()
	j.look.Protect(j.child.Protected())
	t.records.saveRunning(j)
	crash.Go(func() { j.run(s, o.timeout, t.finish) })
	return j, nil
}

// requestStop asks the job to stop; only the first reason counts. It does not wait.
func (j *job) requestStop(w stopReason) {
	select {
	case j.stop <- w:
	default:
	}
}

// write sends text to the command's input, which must be open, and returns the number of bytes that
// the system took. It waits at most writeLimit for a command that does not read; where pipes have no
// deadlines, the end of the command ends the write.
func (j *job) write(text string) (int, error) {
	j.stdin.SetWriteDeadline(time.Now().Add(writeLimit))
	j.typed.add(text)
	return io.WriteString(j.stdin, text)
}

// isOfProgram reports whether a program continues the command with the tool command.
func (j *job) isOfProgram() bool { return j.tool == protocol.CommandTool }

// isVisibleTo reports whether the tool Process shows the command to a caller, nil for the agent and
// the person.
func (j *job) isVisibleTo(caller *protocol.ToolCaller) bool {
	return (j.background.Load() || j.isOfProgram()) && (caller == nil || j.caller == nil || j.caller.ID == caller.ID)
}

func (j *job) isRunning() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// endedAt returns when a command ended and how long it ran, in milliseconds.
func (j *job) endedAt() (at, ms int64) {
	ms = j.result.at.Sub(j.started).Milliseconds()
	return j.started.UnixMilli() + ms, ms
}

// after returns a channel that receives after a time, or never for 0.
func after(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}

func (j *job) run(s streams, timeout time.Duration, finish func(*job)) {
	defer finish(j)
	defer s.close()
	drained := make(chan struct{})
	crash.Go(func() {
		defer close(drained)
		io.Copy(&j.out, s.out) // ends at the end, with EIO of a terminal, or when waiting was given up
	})
	timedOut := after(timeout)
	select {
	case <-j.child.Exited():
	case <-timedOut:
		j.result.reason = byTimeout
	case j.result.reason = <-j.stop:
	}
	if w := j.result.reason; w != notStopped {
		if w != byKill {
			j.child.Terminate()
			waitAll(killAfter, j.child.Done(), drained)
		}
		j.child.Kill()
		if !waitAll(reapLimit, j.child.Exited()) {
			j.result.signal, j.result.at, j.result.hasSurvivors = "SIGKILL", time.Now(), true
			j.result.isOutputOpen = drain(s.out, 0, drained, &j.out)
			return
		}
	}
	j.result.hasSurvivors = !waitAll(reapLimit, j.child.Done())
	j.result.processesEnded = j.child.KilledCount()
	exit, err := j.child.Wait()
	switch {
	case err != nil:
		j.result.waitErr = err
	case exit.Signal != "":
		j.result.signal = exit.Signal
	default:
		j.result.code = &exit.Code
	}
	if s.terminal != nil {
		s.terminal.HangUp()
	}
	j.result.isOutputOpen = drain(s.out, drainLimit, drained, &j.out)
	j.result.denied = j.child.RefusedPrograms()
	if !j.result.hasSurvivors {
		j.result.tempNote = j.child.TempNote()
	}
	j.findRefused() // even without a failure: git switches to another branch without these files
	j.result.at = time.Now()
	if !j.result.isOutputOpen {
		j.out.shrink(retained) // a reader that did not finish would continue to write
	}
}

// waitAll waits at most d until all channels are closed.
func waitAll(d time.Duration, all ...<-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for _, c := range all {
		select {
		case <-c:
		case <-timer.C:
			return false
		}
	}
	return true
}

// drain waits at most d until the reader has ended, and reads the rest of the pipe. It reports
// whether a process can still write to it.
func drain(out *os.File, d time.Duration, reader <-chan struct{}, o *output) (open bool) {
	if err := out.SetReadDeadline(time.Now().Add(d)); err != nil {
		return !waitAll(d, reader) // such a reader stays until the last process closes the pipe
	}
	<-reader
	return readRest(out, o)
}
